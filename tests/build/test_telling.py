"""A run as a model reads it: by number, in order, and within a bound."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.build.telling import tell
from amd.testing import run
from amd.trajectory import Step, ToolCall, Trajectory, Turn


def of(*turns: Turn) -> Trajectory:
    """A run of these turns."""
    from dataclasses import replace

    return replace(run(0), turns=turns)


def call(observation: str = "fine", name: str = "look", *, ok: bool = True) -> Step:
    """A step of one call."""
    return Step(calls=(ToolCall(name, {"place": "<place>"}, observation, ok=ok),))


def test_calls_are_numbered_over_the_whole_run_and_errors_are_called_so() -> None:
    """A reply names calls by number, so the numbers are those of the run."""
    told = tell(of(Turn("Look around, please", (call(), call("no light", ok=False))), Turn("Again", (call(),))), 9_000)
    assert re.findall(r"^(?:Call|Result|Error) \d", told.text, re.MULTILINE) == [
        *("Call 1", "Result 1", "Call 2", "Error 2", "Call 3", "Result 3")
    ]
    assert "User: Again" in told.text
    assert (told.cut, told.left_out) == (0, 0)


def test_the_first_words_are_told_once() -> None:
    """They are the task."""
    whole = run(0)
    assert tell(whole, 9_000).text.count(whole.task.instruction) == 1


def test_d12_huge_observations_keep_head_and_tail() -> None:
    """D12 (a): three results of two million characters, and what was cut is counted."""
    text = "begin" + "x" * 2_000_000 + "end"
    told = tell(of(Turn("Look around, please", (call(text), call(text), call(text)))), 18_000)
    assert len(told.text) < 18_000
    assert told.text.count("begin") == told.text.count("end") == 3
    assert told.cut > 5_900_000
    assert told.left_out == 0


def test_d12_many_calls_keep_both_ends_and_say_which_are_left_out() -> None:
    """D12 (b): 30 turns x 20 calls."""
    turns = [
        Turn(f"Turn {n} of a long task", tuple(call(f"result {n}-{m} " * 20) for m in range(20))) for n in range(30)
    ]
    told = tell(of(*turns), 18_000)
    assert len(told.text) <= 18_000
    first, last = map(int, re.search(r"\(calls (\d+) to (\d+) are not shown\)", told.text).groups())
    shown = {int(number) for number in re.findall(r"^Call (\d+)", told.text, re.MULTILINE)}
    assert shown == set(range(1, 601)) - set(range(first, last + 1))
    assert told.left_out == last - first + 1
    assert {1, 600} <= shown


@given(
    st.lists(st.tuples(st.text(max_size=80), st.lists(st.text(max_size=900), max_size=5)), max_size=12),
    st.integers(600, 9_000),
)
def test_it_never_exceeds_the_bound(turns: list[tuple[str, list[str]]], limit: int) -> None:
    """Whatever the run; and every call is shown or counted as left out."""
    whole = of(*(Turn(said, tuple(map(call, results))) for said, results in turns))
    told = tell(whole, limit)
    assert len(told.text) <= limit
    shown = len(re.findall(r"^Call \d+: look ", told.text, re.MULTILINE))
    assert shown + told.left_out >= len(whole.calls)


@pytest.mark.parametrize("limit", [700, 5_000])
def test_the_same_run_is_told_alike(limit: int) -> None:
    """Replies are kept by what was told."""
    assert tell(run(3), limit) == tell(run(3), limit)
