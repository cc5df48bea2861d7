"""Too long to be shown, and keys cut off."""

from __future__ import annotations

from amd.build.distill import LONGEST_KEY
from amd.lint.lengths import cut_key, too_long
from amd.methods import method_named

TIERS = {tier.name: tier for tier in method_named("amd").tiers}


def test_d24_a_record_over_its_tiers_budget(garden):
    """D24: a text of 7,000 characters is never shown, and the sizes are told; one of 700 is."""
    long = too_long(garden.workflow("word " * 1400), TIERS["workflow"])
    assert long is not None
    assert "of which its tier may fill 400: it is never shown" in long
    assert too_long(garden.workflow("word " * 140), TIERS["workflow"]) is None


def test_a_long_result_costs_the_result_alone(garden):
    """A function's call is shown without its result."""
    long = too_long(garden.function("word " * 300), TIERS["function"])
    assert long is not None
    assert long.endswith("only its beginning is ever shown")
    assert too_long(garden.function(), TIERS["function"]) is None


def test_a_key_as_long_as_the_longest(garden):
    """What a build cuts off has exactly that length."""
    assert cut_key(garden.workflow("Check.", key="k" * LONGEST_KEY)) is not None
    assert cut_key(garden.workflow("Check.", key="k" * (LONGEST_KEY - 1))) is None
