"""Whether a hint would have repaired a recorded error."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amd.experiment.coverage import coverage, recorded
from amd.experiment.repairs import recorded_errors
from amd.testing import run
from amd.trajectory import Outcome, Step, ToolCall, Turn


def failing(tool, error="Error: no such thing", **arguments):
    """A call that came back with an error."""
    return ToolCall(tool, arguments, error, ok=False)


def good(tool, **arguments):
    """A call that went well."""
    return ToolCall(tool, arguments, "done", ok=True)


CASES = {
    "names": ([failing("water", plot=4), good("water", bed=4)], [good("water", bed=7)], [good("water", patch=7)]),
    "values": (
        [failing("water", bed=4, deep=True), good("water", bed=4, deep=False)],
        [good("water", bed=7, deep=False)],
        [good("water", bed=7, deep=True)],
    ),
    "between": (
        [failing("water", bed=4), good("open_valve"), good("water", bed=4)],
        [failing("water", bed=7), good("open_valve"), good("water", bed=7)],
        [good("water", bed=7)],
    ),
    "again": ([failing("water", bed=4), good("water", bed=4)], [], [good("water", bed=4)]),
}


def hints(made, remember, asking, known, protocol="self-excluded"):
    """The hints to the errors of one run, from a memory of another one."""
    calls = [known] if known else []
    other = made(2, [("Water the beds in the north", [*(calls and known), good("look")])])
    whole = made(1, [("Water the beds in the south", asking)])
    memory = remember([other] if protocol == "self-excluded" else [other, whole])
    return coverage(recorded([whole], [whole]), memory, method="function", protocol=protocol).hints


@pytest.mark.parametrize("kind", CASES)
def test_an_example_repairs_or_does_not(made, remember, kind):
    """For each kind an example that would have helped, and one that would not."""
    asking, helps, helps_not = CASES[kind]
    (useless,) = hints(made, remember, asking, helps_not)
    assert (useless.kind, useless.repairs) == (kind, False)
    assert useless.example
    if helps:
        (useful,) = hints(made, remember, asking, helps)
        assert (useful.kind, useful.shown, useful.example, useful.repairs) == (kind, True, True, True)
        assert useful.tokens > 0


def test_without_a_record_of_the_tool_nothing_is_shown(made, remember):
    """And nothing repairs."""
    (hint,) = hints(made, remember, CASES["names"][0], [good("dig", bed=1)])
    assert (hint.shown, hint.example, hint.repairs, hint.tokens) == (False, False, False, 0)


def test_in_sample_the_own_repair_is_there(made, remember):
    """The control of the measure: shown its own run, an error is repaired, self-excluded it is not."""
    asking, _, helps_not = CASES["names"]
    (own,) = hints(made, remember, asking, helps_not, protocol="in-sample")
    assert own.repairs
    (other,) = hints(made, remember, asking, helps_not)
    assert not other.repairs


def test_errors_are_taken_once_and_with_a_known_repair(made):
    """The second of a tool and class says nothing new; one that nothing mended has no right answer."""
    calls = [
        failing("water", plot=4),
        failing("water", plot=5),
        good("water", bed=4),
        failing("dig", bed=1),
        failing("water", error="Error: the valve is shut", bed=4),
        good("open_valve"),
        good("water", bed=4),
    ]
    found = recorded_errors(made(1, [("Water bed 4", calls)]))
    assert [(error.number, error.kind, sorted(error.between)) for error in found] == [
        (1, "names", []),
        (5, "between", ["open_valve"]),
    ]
    assert found[0].failed.turn_text == "Water bed 4"


def test_a_student_is_read_as_it_went_on(made):
    """The reasoning is the failed call's own step, the text its own turn; runs that failed count too."""
    thought = Step("I water it.", (failing("water", plot=4),))
    whole = replace(
        run(1),
        turns=(Turn("Hello", (Step("Hi"),)), Turn("Water bed 4", (thought, Step("", (good("water", bed=4),))))),
        outcome=Outcome(success=False),
    )
    (error,) = recorded_errors(whole)
    assert (error.failed.reasoning, error.failed.turn_text) == ("I water it.", "Water bed 4")
    assert len(recorded([], [whole]).errors) == 1
    assert recorded([], [run(2)]).errors == ()


def test_a_method_that_hears_of_no_error_has_no_hints(made, remember):
    """A share of nothing is no zero."""
    whole = made(1, [("Water the beds", CASES["names"][0])])
    row = coverage(recorded([whole], [whole]), remember([whole]), method="workflow", protocol="in-sample")
    assert (row.hints, row.figures().hints.repairs) == ((), None)
