"""Two arms, task by task: what must hold whatever the outcomes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.evaluate.comparison import adjusted, compare
from amd.evaluate.grouping import group


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_a_comparison_the_other_way_round_is_its_mirror(made, pairs):
    """The difference changes its sign, helped and harmed change places, the rest stays."""
    one, other = ({f"t{at}": pair[side] for at, pair in enumerate(pairs)} for side in (0, 1))
    none, amd = group([made("none", one), made("amd", other, method="amd")], missing="failed")
    there, back = compare(amd, none, seed=0, resamples=100), compare(none, amd, seed=0, resamples=100)
    assert there.difference.value == pytest.approx(-back.difference.value)
    assert (there.helped, there.harmed) == (back.harmed, back.helped)
    assert (there.p, there.detectable, there.n) == (back.p, back.detectable, back.n)
    assert len(there.helped) + len(there.harmed) <= there.n
    if there.difference.low is not None:
        assert there.difference.low <= there.difference.value <= there.difference.high


def test_an_arm_beside_itself_differs_in_nothing(made):
    """No task helped or harmed, and a p of 1."""
    (arm,) = group([made("none", {"t0": True, "t3": False})], missing="failed")
    found = compare(arm, arm, seed=0, resamples=100)
    assert (found.difference.value, found.helped, found.harmed, found.p) == (0, (), (), 1.0)
    assert found.detectable is None
    assert found.unlike == ()


def test_several_trials_a_task_count_by_their_share(made):
    """Two of two beside one of two is helped; what is detectable then follows from the spread of the differences."""
    none = [made(f"none-{seed}", {"t0": seed == 1, "t3": False, "t6": True}) for seed in (1, 2)]
    amd = [made(f"amd-{seed}", {"t0": True, "t3": False, "t6": True}, method="amd") for seed in (1, 2)]
    first, second = group([*none, *amd], missing="failed")
    found = compare(second, first, seed=0, resamples=100)
    assert (found.difference.value, found.helped, found.harmed) == (pytest.approx(1 / 6), ("t0",), ())
    assert found.detectable > 0.5


def test_one_run_beside_three_counts_the_first_of_each(made):
    """Arms alike but for how often they were run: no task is helped by a share that one run cannot have."""
    outcomes = [{"t0": True, "t3": False}, {"t0": False, "t3": True}, {"t0": False, "t3": False}]
    none = [made(f"none-{seed}", each) for seed, each in enumerate(outcomes)]
    first, second = group([*none, made("amd-0", outcomes[0], method="amd")], missing="failed")
    found = compare(second, first, seed=0, resamples=100)
    assert (found.helped, found.harmed, found.p) == ((), (), 1.0)
    assert found.difference.value == pytest.approx(1 / 6)


def test_nothing_is_adjusted_by_nothing():
    """An empty report of comparisons."""
    assert adjusted([]) == ()
