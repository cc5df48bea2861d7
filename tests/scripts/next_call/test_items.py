"""Items are turns with words and calls, drawn evenly over families, and the first ones stay the first."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from amd.testing import run
from amd.trajectory import Step, Turn
from next_call.items import draw, generator


@given(turns=st.lists(st.integers(1, 5), min_size=1, max_size=6), count=st.integers(1, 40), seed=st.integers(0, 2**32))
def test_families_are_drawn_evenly_and_the_first_items_stay(turns, count, seed):
    """A family has one item more than another only where the other has no turn left; no item comes twice."""
    runs = [run(i, turns=number) for i, number in enumerate(turns)]
    drawn, everything = draw(runs, count, seed), draw(runs, 100, seed)
    assert drawn == everything[:count]
    assert len({item.name for item in everything}) == len(everything) == sum(turns)
    taken = Counter(item.task.family for item in drawn)
    most = max(taken.values())
    for i, number in enumerate(turns):
        assert taken[f"multi_turn_{i}"] >= min(number, most - 1)


def test_another_seed_draws_others():
    """And the same seed the same, whatever the order of the runs."""
    runs = [run(i) for i in range(9)]
    names = [[item.name for item in draw(found, 9, seed)] for found, seed in ((runs, 1), (runs[::-1], 1), (runs, 2))]
    assert names[0] == names[1] != names[2]
    assert generator(1, "a").random() == generator(1, "a").random() != generator(1, "b").random()


def test_a_turn_without_words_or_calls_is_no_item():
    """Nor is one of a run that did not succeed, or whose tools are unknown; the right call is the first of a turn."""
    whole = run(1, turns=2)
    silent = replace(whole, turns=(replace(whole.turns[0], user=None), Turn("Thanks.", (Step("Bye."),)), *whole.turns))
    assert sorted(item.turn for item in draw([silent], 9, 1)) == [3, 4]
    assert draw([replace(whole, tools=None), run(2, success=False), run(3, success=None)], 9, 1) == []
    assert [item.right in (whole.turns[0].calls[0], whole.turns[1].calls[0]) for item in draw([whole], 9, 1)] == [
        True,
        True,
    ]
