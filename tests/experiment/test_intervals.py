"""The bootstrap over families."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.experiment.intervals import Interval, family_interval

SHARES = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 8)), min_size=2, max_size=30)


@given(SHARES)
def test_an_interval_of_shares_holds_shares(pairs):
    """All of it lies in [0, 1], twice the same."""
    values, families = [value for value, _ in pairs], [str(family) for _, family in pairs]
    found = family_interval(values, [1] * len(values), families)
    assert found == family_interval(values, [1] * len(values), families)
    assert found.value == pytest.approx(sum(values) / len(values))
    if len(set(families)) > 1:
        assert -1e-12 <= found.low <= found.high <= 1 + 1e-12


def test_tasks_of_one_family_are_one_draw():
    """Ten copies of a task tell no more than one; control: ten families do."""
    values = [1.0] * 10 + [0.0] * 10
    clustered = family_interval(values, [1] * 20, ["a"] * 10 + ["b"] * 10)
    single = family_interval(values, [1] * 20, [str(at) for at in range(20)])
    assert (clustered.low, clustered.high) == (0.0, 1.0)
    assert single.high - single.low < 0.5


def test_it_covers_as_often_as_it_says():
    """Of 200 samples of 60 families with a mean of 0.3, about 95 % have it in their interval."""
    import numpy as np

    random = np.random.default_rng(7)
    inside = 0
    for _ in range(200):
        found = family_interval((random.random(60) < 0.3).tolist(), [1] * 60, [str(at) for at in range(60)])
        inside += found.low <= 0.3 <= found.high
    assert 180 <= inside <= 198


@pytest.mark.parametrize(
    ("parts", "wholes", "families", "found"),
    [
        ([], [], [], Interval(None)),
        ([1, 1], [0, 0], ["a", "b"], Interval(None)),
        ([1, 0], [1, 1], ["a", "a"], Interval(0.5)),
    ],
)
def test_nothing_is_made_up(parts, wholes, families, found):
    """No value without a whole, no interval with one family."""
    assert family_interval(parts, wholes, families) == found
