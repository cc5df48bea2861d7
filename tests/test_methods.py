"""Names for tuples of tiers."""

from __future__ import annotations

import pytest

from amd.errors import ConfigError
from amd.methods import method_named
from amd.tier import Question


@pytest.mark.parametrize(
    ("name", "tiers"),
    [
        ("amd", ["workflow", "subtask", "function"]),
        ("none", []),
        ("function", ["function"]),
        ("function+workflow", ["workflow", "function"]),
        ("reasoning_bank", ["reasoning_bank"]),
        ("memp-trajectory", ["memp"]),
        ("sasm+memp-keywords", ["memp-keywords", "sasm"]),
        ("memp-script+function", ["function", "memp"]),
        ("random", ["workflow", "subtask", "function"]),
        ("workflow+subtask-text", ["workflow", "subtask"]),
    ],
)
def test_d26_exactly_the_tiers_asked_for(name, tiers):
    """D26: any subset, in one order whatever the order of the name."""
    assert [tier.name for tier in method_named(name).tiers] == tiers


@pytest.mark.parametrize(
    "name",
    [
        "",
        "workflows",
        "workflow+workflow",
        "workflow+x",
        "+",
        "workflow+",
        "amd+memp",
        "none+memp",
        "memp+memp-script",
        "memp-k3+memp",
        "memp-k0",
        "memp-k10",
        "-k3",
        "none-k3",
        "random-k3",
        "random-x",
        "random-\u0663",  # digits of other scripts are no seed and no k
        "memp-k\u0663",
    ],
)
def test_unknown_names_are_refused(name):
    """The message names what there is."""
    with pytest.raises(ConfigError, match="workflow, subtask, function"):
        method_named(name)


@pytest.mark.parametrize(
    ("name", "memory"),
    [
        ("amd", "amd"),
        ("amd-k3", "amd"),
        ("function+workflow", "function+workflow"),
        ("reasoning_bank-k3", "reasoning_bank"),
        ("memp-script", "memp"),
        ("memp-trajectory-k2+function", "memp+function"),
        ("memp-keywords-k5", "memp-keywords"),
        ("workflow+subtask-text", "workflow+subtask"),
        ("none", ""),
        ("random", "amd"),
        ("random-amd-k5", "amd"),
        ("random-memp-script", "memp"),
        ("random-workflow+subtask-text", "workflow+subtask"),
    ],
)
def test_a_method_knows_by_which_its_memory_is_built(name, memory):
    """What only asks, draws or shows differently reads the same memory."""
    assert method_named(name).memory == memory


def test_top_k_is_asked_of_each_query():
    """Of the tiers that have it behind their name, and of no other."""
    tiers = method_named("workflow+subtask-k3").tiers
    assert [[query.k for query in tier.ask(Question("task", "move it"))] for tier in tiers] == [[1], [3]]
    assert [query.k for query in method_named("reasoning_bank-k3").tiers[0].ask(Question("task", "x"))] == [3]


def test_failures_reach_the_tiers_that_learn_from_them():
    """By default none does; where none could, asking for it is an error."""
    names = "workflow+reasoning_bank-k3+memp"
    plain, wanted = method_named(names), method_named(names, include_failures=True)
    assert [False in tier.accepts for tier in plain.tiers] == [False, False, False]
    assert [False in tier.accepts for tier in wanted.tiers] == [False, True, True]
    for name in ("amd", "sasm", "none"):
        with pytest.raises(ConfigError, match="learns from failed runs"):
            method_named(name, include_failures=True)
