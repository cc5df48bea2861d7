"""Names for tuples of tiers."""

from __future__ import annotations

import pytest

from amd.errors import ConfigError
from amd.methods import method_named


@pytest.mark.parametrize(
    ("name", "tiers"),
    [
        ("amd", ["workflow", "subtask", "function"]),
        ("none", []),
        ("function", ["function"]),
        ("function+workflow", ["workflow", "function"]),
    ],
)
def test_d26_exactly_the_tiers_asked_for(name, tiers):
    """D26: any subset, in one order whatever the order of the name."""
    assert [tier.name for tier in method_named(name).tiers] == tiers


@pytest.mark.parametrize("name", ["", "workflows", "workflow+workflow", "workflow+x", "+"])
def test_unknown_names_are_refused(name):
    """The message names what there is."""
    with pytest.raises(ConfigError, match="workflow, subtask, function"):
        method_named(name)
