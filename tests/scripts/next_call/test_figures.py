"""The arithmetic: scores by hand, intervals by hand."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from next_call import answers, figures, prompts
from next_call.figures import Interval, Score, judge, paired


@pytest.mark.parametrize(
    ("call", "score"),
    [
        (("mv", {"source": "a", "force": True}), Score(1, 1, 1)),
        (("mv", {"force": True, "source": "<source>"}), Score(1, 1, 0)),
        (("mv", {"source": "a"}), Score(1, 2 / 3, 0)),
        (("mv", {"source": "a", "target": "b", "deep": 1}), Score(1, 0.4, 0)),
        (("mv", {}), Score(1, 0, 0)),
        (("mv", None), Score(1, 0, 0)),
        (("cp", {"source": "a", "force": True}), Score()),
        (None, Score()),
    ],
)
def test_a_call_is_judged(call, score):
    """Tool, then the names of its arguments, then everything."""
    assert judge(call, "mv", {"source": "a", "force": True}) == score


def test_no_arguments_are_right_where_there_are_none():
    """And wrong where they never ended."""
    assert judge(("ls", {}), "ls", {}) == Score(1, 1, 1)
    assert judge(("ls", None), "ls", {}) == Score(1, 0, 0)


def test_an_interval_draws_families_and_not_items():
    """Three items of family a gain, the one of b does not: a family is drawn whole, so the mean may be 0 or 1.

    Of four draws of two families one is aa (mean 1), one bb (mean 0), two are ab (mean 3/4): 0 and 1 are the 2.5 % and
    97.5 % quantiles. Were items drawn, 0 would come once in 256 draws, and the lower end would be 1/4.
    """
    assert paired([1, 1, 1, 0], [0, 0, 0, 0], ["a", "a", "a", "b"], 1) == Interval(0.75, 0, 1)
    assert paired([1, 1, 1, 0], [0, 0, 0, 0], ["a", "b", "c", "d"], 1) == Interval(0.75, 0.25, 1)


def test_an_interval_is_that_of_the_binomial_distribution():
    """Twenty families of one item, ten of which gain: the quantiles of Binomial(20, 1/2) are 6 and 14."""
    ours, families = [1, 0] * 10, [f"family {number}" for number in range(20)]
    assert paired(ours, [0] * 20, families, 1) == Interval(0.5, 0.3, 0.7)
    assert paired([0] * 20, ours, families, 2) == Interval(-0.5, -0.7, -0.3)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.sampled_from("abcdef")), min_size=1, max_size=30))
def test_an_interval_is_seeded_and_around_what_it_is_of(rows):
    """The same seed gives the same; the ends are in order and within the differences that there are."""
    ours, theirs, families = zip(*rows, strict=True)
    found = paired(ours, theirs, families, 3)
    differences = [one - other for one, other, _ in rows]
    assert found == paired(ours, theirs, families, 3)
    assert min(differences) - 1e-9 <= found.low <= found.high <= max(differences) + 1e-9


@pytest.mark.parametrize("module", [answers, figures, prompts])
def test_the_examples_are_true(module):
    """Docstrings of what scripts share are tests too."""
    failed, tried = doctest.testmod(module)
    assert (failed, tried > 0) == (0, True)
