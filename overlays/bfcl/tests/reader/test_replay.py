"""A run without its log, rebuilt on the real backends: the same observations, and nothing else is run."""

from __future__ import annotations

import json

import pytest
from result_lines import Said, call

from amd.errors import TrajectoryError
from amd_bfcl.families import Category
from amd_bfcl.record import record
from amd_bfcl.replay import rebuild
from amd_bfcl.tasks import entry


@pytest.fixture
def first(package):
    """A task with a file system, of four turns."""
    return entry("multi_turn_base_0", package)


def calls(*written):
    """A step with calls, by name and arguments."""
    return call(*((name, arguments, "") for name, arguments in written))


@pytest.mark.parametrize("style", ["fc", "claude", "prompting"])
def test_the_calls_are_run_again(first, style):
    """State lives from step to step and turn to turn, and both error shapes come from the backend itself."""
    turns = [
        [calls(("cd", {"folder": "document"}), ("ls", {"bogus": 1})), calls(("pwd", {})), Said("Done.")],
        [calls(("cd", {"folder": "no_such"})), Said("No.")],
    ]
    rebuilt = rebuild([[said.content(style) for said in steps] for steps in turns], None, first)
    observations = [[step.observations for step in turn.steps] for turn in rebuilt]
    assert json.loads(observations[0][0][0]) == {"current_working_directory": "document"}
    assert observations[0][0][1].startswith("Error during execution: ")
    assert "document" in observations[0][1][0]
    assert "error" in json.loads(observations[1][0][0])
    assert observations[0][2] == observations[1][1] == ()
    assert [turn.query[0]["content"] for turn in rebuilt] == list(first.users[:2])


@pytest.mark.parametrize("category", Category)
@pytest.mark.parametrize("style", ["fc", "prompting"])
def test_the_answer_key_comes_back_with_its_own_observations(package, category, style):
    """Ten tasks of each category, written as a model's results: call by call what the recorder saw."""
    for run in record(category, package, limit=10):
        turns = [[*(calls((c.name, c.arguments)) for c in turn.calls), Said("Done.")] for turn in run.turns]
        rebuilt = rebuild(
            [[said.content(style) for said in steps] for steps in turns], None, entry(run.task.task_id, package)
        )
        seen = [text for turn in rebuilt for step in turn.steps for text in step.observations]
        assert seen == [c.observation for c in run.calls]


def test_a_turn_in_which_the_user_is_silent_stays_silent(package):
    """In a hold-out turn the words would be the harness's; the entry knows that there are none."""
    held = entry("multi_turn_miss_func_0", package)
    rebuilt = rebuild([["Done."] for _ in held.users], None, held)
    assert [turn.query[0]["content"] for turn in rebuilt] == list(held.users)
    assert None in held.users


def test_reasoning_goes_to_its_own_step(first):
    """Kept beside the results in the same shape; any other shape holds nothing."""
    result = [[calls(("ls", {})).content("fc"), "Done."]]
    assert [step.reasoning for step in rebuild(result, [["I look.", ""]], first)[0].steps] == ["I look.", ""]
    for odd in ("text", [None], [["a"], ["b"]], [[5, 6, 7]]):
        assert rebuild(result, odd, first)[0].steps[1].reasoning == ""


def test_a_turn_that_went_on_too_long_is_forced(first):
    """Twenty-one steps with calls; twenty and words are a turn like any other."""
    look = calls(("ls", {})).content("fc")
    assert rebuild([[look] * 21], None, first)[0].forced
    assert not rebuild([[look] * 20 + ["Done."]], None, first)[0].forced


@pytest.mark.parametrize(
    "turn",
    [
        [],
        [[{"ls": "{}"}]],
        ["I look.", [{"ls": "{}"}], "Done."],
        ['<tool_call>{"name": "ls"}</tool_call>', "Done."],
        ["[ls()]", [{"ls": "{}"}], "Done."],
    ],
)
def test_a_handler_with_a_decoder_of_its_own_is_refused(first, turn):
    """The harness ends a turn with its first step in words, and only there: anything else was decoded otherwise."""
    with pytest.raises(TrajectoryError, match="turn 0 of result does not end"):
        rebuild([turn], None, first)


def test_more_turns_than_the_task_has_are_refused(first):
    """The run is of another task, or of another version of it."""
    with pytest.raises(TrajectoryError, match="5 turns"):
        rebuild([["Done."]] * 5, None, first)


def test_a_name_that_nothing_has_gets_the_real_error(first):
    """An unknown tool is an ordinary mistake of a model, and so is an argument that a tool has not."""
    steps = rebuild([[[{"no_such_tool": "{}"}], [{"pwd": '{"deep": 1}'}], "Done."]], None, first)[0].steps
    assert steps[0].observations == ("Error during execution: name 'no_such_tool' is not defined",)
    assert steps[1].observations[0].startswith("Error during execution: ")
    assert "unexpected keyword argument 'deep'" in steps[1].observations[0]
