"""Anything may stand in somebody else's file: one or two changes anywhere in a line, and still one item for it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from result_lines import (
    items,
    line,
    runs,
    write_results,
)

from amd.build import admit
from amd.build.gate import REASONS

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 25)
    | st.text(max_size=8)
    | st.sampled_from(["user", "tool", "ls()", "assistant"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["role", "content", "step_0", "x"]), inner)
    ),
    max_leaves=6,
)


def places(value, at=()):
    """Every place inside a value."""
    yield at
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*at, key))


def changed(value, at, new):
    """The value with another one at a place."""
    if not at:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = changed(value[at[0]], at[1:], new)
    return copy


TWO_TURNS = "multi_turn_base_3"
"""A task of as many turns as the line has: the benchmark is not asked about a run that ended early."""


def without_log(style):
    """A line that must be replayed."""
    return {name: value for name, value in line(TWO_TURNS, style=style).items() if name != "inference_log"}


def fuzzed(tmp_path, good, chosen):
    """A file with one or two changes somewhere in its first line: two runs are read, whatever was changed."""
    value = good
    for _ in range(chosen.draw(st.integers(1, 2))):
        value = changed(value, chosen.draw(st.sampled_from(list(places(value))[1:] or [()])), chosen.draw(VALUES))
    gate = admit(items(write_results(tmp_path, [value, line("multi_turn_base_1")])))
    assert gate.read == 2
    assert set(gate.refused) <= set(REASONS)


FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)


@pytest.mark.parametrize("style", ["fc", "claude", "prompting"])
@FUZZ
@given(chosen=st.data())
def test_any_change_of_a_line_gives_one_run_or_one_refusal(tmp_path, alone, style, chosen):
    """Nothing raised, nothing lost."""
    fuzzed(tmp_path, line("multi_turn_base_0", style=style), chosen)


@pytest.mark.parametrize("style", ["fc", "prompting"])
@FUZZ
@given(chosen=st.data())
def test_any_change_of_a_line_without_a_log_gives_one_run_or_one_refusal(tmp_path, package, style, chosen):
    """Replayed or refused, and nothing is run that is no tool."""
    fuzzed(tmp_path, without_log(style), chosen)


@pytest.mark.parametrize("style", ["fc", "prompting"])
def test_an_unchanged_line_without_a_log_is_a_run(tmp_path, package, style):
    """Positive control of the test above."""
    assert len(runs(write_results(tmp_path, [without_log(style)]))) == 1
