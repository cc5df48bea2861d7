"""The log: turns, steps, each result with its own call, and what cannot be told is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from result_lines import DECODED, EMPTY, FORCED, LOOK, MOVE, Said, call, line, turn

from amd.errors import TrajectoryError
from amd_bfcl.inference_log import read_log


def test_turns_and_steps_in_their_order():
    """States between the turns are passed over; step_10 comes after step_9."""
    steps = [call((f"t{number}_x", {}, str(number))) for number in range(12)] + [Said("Done.")]
    logged = read_log(line("multi_turn_base_0", [("Count.", steps)])["inference_log"])
    assert [step.observations for step in logged[0].steps] == [*((str(number),) for number in range(12)), ()]
    assert logged[0].query == ({"role": "user", "content": "Count."},)
    assert not logged[0].forced


@pytest.mark.parametrize("log", [None, [], [[{"role": "state_info"}]]])
def test_a_log_without_turns_is_missing(log):
    """Absent, empty, or stripped to the states: it can be rebuilt."""
    assert read_log(log) == []


@given(extra=st.integers(-2, 2), calls=st.integers(1, 3))
def test_results_are_counted_against_decoded_calls(extra, calls):
    """D16, D17: a count that does not match is refused, never guessed; equal counts are paired in order."""
    entries = call(*((f"c{number}_x", {}, f"res{number}") for number in range(calls))).entries("fc")
    tools = entries[2:] + [{"role": "tool", "content": "late"}] * extra if extra > 0 else entries[2 : 2 + calls + extra]
    log = [{"begin_of_turn_query": [], "step_0": entries[:2] + tools}]
    if len(tools) == calls:
        step = read_log(log)[0].steps[0]
        assert list(zip(step.calls, step.observations, strict=True)) == [
            (f"c{number}_x()", f"res{number}") for number in range(calls)
        ]
    else:
        with pytest.raises(TrajectoryError, match=f"{calls} decoded calls and {len(tools)} results"):
            read_log(log)


def test_an_input_log_and_an_empty_answer():
    """``--include-input-log`` puts an entry first; an empty answer is logged twice and ends the turn."""
    empty = [
        {"role": "inference_input", "content": {"message": "[]", "tools": []}},
        {"role": "assistant", "content": []},
        {"role": "handler_log", "content": DECODED, "model_response_decoded": []},
        {"role": "handler_log", "content": EMPTY, "model_response_decoded": []},
    ]
    step = read_log([{"begin_of_turn_query": [], "step_0": empty}])[0].steps[0]
    assert (step.content, step.calls) == ([], ())


def test_a_forced_end_is_known_by_its_words_or_by_its_steps():
    """Twenty steps with calls and a last one in words are allowed; one more with a call is not."""
    looks = [call(LOOK)] * 20
    said = {
        "begin_of_turn_query": [],
        "step_0": [*call(LOOK).entries("fc"), {"role": "handler_log", "content": FORCED}],
    }
    assert read_log([said])[0].forced
    assert read_log([turn("x", [*looks, call(LOOK)])])[0].forced
    assert not read_log([turn("x", [*looks, Said("Done.")])])[0].forced
    assert not read_log([turn("x", looks)])[0].forced


@pytest.mark.parametrize(
    ("log", "why"),
    [
        ("a text", "no list but a str"),
        ([{"step_0": []}], "has no query"),
        ([{"begin_of_turn_query": [], "step_1": []}], "lacks one of its steps"),
        ([{"begin_of_turn_query": [], "step_0": []}], "0 answers"),
        ([{"begin_of_turn_query": [], "step_0": call(MOVE).entries("fc")[:1] * 2}], "2 answers"),
        ([{"begin_of_turn_query": "hello"}], "turn 0"),
        ([{"begin_of_turn_query": [], "step_0": [{"content": "x"}]}], "role"),
        ([{"begin_of_turn_query": [], "step_0": [{"role": "handler_log", "model_response_decoded": "ls()"}]}], "list"),
    ],
)
def test_what_is_no_log_is_refused(log, why):
    """With the place, and without the run's own words."""
    with pytest.raises(TrajectoryError, match=why):
        read_log(log)
