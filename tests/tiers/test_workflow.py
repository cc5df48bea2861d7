"""The workflow tier's rules: only sentences that the calls bear out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amd.evidence import Evidence, Link, Repair, find_evidence
from amd.testing import ScriptedWriter, run
from amd.tier import RULES, FailedCall, Hit, Question, Style
from amd.tiers.workflow import WorkflowTier
from amd.trajectory import Outcome, Source, Step, Task, ToolCall, ToolSpec, Trajectory, Turn

TIER = WorkflowTier()


def text_of(trajectory, evidence=None):
    """The text that the rules write."""
    (draft,) = TIER.distill(trajectory, evidence or find_evidence(trajectory), RULES)
    return draft.body["text"]


def with_turns(*turns, tools=None):
    """A run whose turns are lists of (tool, ok, observation)."""
    made = tuple(
        Turn("do it", tuple(Step(calls=(ToolCall(name, {"a": "v"}, seen, ok),)) for name, ok, seen in calls))
        for calls in turns
    )
    return Trajectory(Task("b", "t", "f", "do it"), made, tools, Outcome(True), Source("t", "r", "p", "0"))


def test_tools_are_named_in_the_order_of_first_use():
    """Turn by turn, repeats counted, each with the first clause of its description once."""
    spec = ToolSpec("ls", "List the folder. Needs nothing.")
    trajectory = with_turns(
        [("ls", True, "x"), ("ls", True, "x")], [("cd", True, "x"), ("ls", True, "x")], tools=(spec,)
    )
    assert text_of(trajectory) == "List the folder (`ls` 2 times); then `cd` and `ls`."


def test_a_failed_call_is_no_step():
    """It stands among the failures instead, with its class."""
    text = text_of(with_turns([("mv", False, "Error: no file a1"), ("ls", True, "x")]))
    assert text == "Call `ls`. Avoid: `mv` failed with “no file …”."


def test_a_repair_is_told():
    """What changed between the failing call and the one that went through, and a retry without a change."""
    trajectory = with_turns([("mv", False, "Error: no file"), ("mv", True, "x")])
    changed = Evidence(repairs=(Repair(1, "no file", 2, ("source",)),))
    assert text_of(trajectory, changed).endswith("Avoid: `mv` failed with “no file” until `source` changed.")
    again = Evidence(repairs=(Repair(1, "no file", 2),))
    assert text_of(trajectory, again).endswith("Avoid: `mv` failed with “no file” and went through when called again.")


def test_a_link_is_told_once():
    """Which arguments were taken from which tool's results; a tool's own results are no news."""
    trajectory = with_turns([("get", True, "x"), ("get", True, "x"), ("book", True, "x")])
    links = (Link(2, "page", 1), Link(3, "id", 1), Link(3, "date", 2))
    assert "Take `id` and `date` for `book` from `get`." in text_of(trajectory, Evidence(links=links))


def test_the_check_names_what_the_last_good_call_answers_with():
    """Without the arguments that come back; nothing where the answer is no object."""
    trajectory = with_turns([("book", True, '{"a": 1, "booking": 2, "not a name": 3}'), ("book", False, "Error: x")])
    assert "At the end, check that the result of `book` has `booking`." in text_of(trajectory)
    assert "check" not in text_of(with_turns([("book", True, "done")]))


def test_a_run_without_a_call_says_so():
    """It is worth remembering that talking was enough."""
    silent = replace(with_turns([], []), tools=(ToolSpec("ls"),))
    assert text_of(silent) == (
        "Solved in 2 exchanges with the user and without a tool call, although 1 tools were offered."
    )


def test_a_long_run_still_names_every_tool():
    """Beyond eight turns the tools are named without their order, so that the text fits the tier's budget."""
    trajectory = with_turns(*([(f"tool_{n}", True, "x")] for n in range(12)))
    text = text_of(trajectory)
    assert text.endswith("`tool_7`; later `tool_8`, `tool_9`, `tool_10` and `tool_11`.")


def test_a_writer_has_the_first_word():
    """The writer's insight is the text; where it has none, the rules write."""
    writer = ScriptedWriter({"insight": {"text": "`cd` first."}})
    (draft,) = TIER.distill(run(0), Evidence(), writer)
    assert (draft.body["text"], draft.key, draft.steps) == ("`cd` first.", run(0).task.instruction, (1, 9))
    (own,) = TIER.distill(run(0), Evidence(), ScriptedWriter({}))
    assert "`cd`" in own.body["text"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("First `mv` the file.", True),
        ("First call mv, then look.", True),
        ("Move the file.", False),
        ("Use mvp for it.", False),
        ("Use pwd for it.", False),
    ],
)
def test_an_insight_names_a_tool_of_its_run(text, kept):
    """Words that fit any run are of use to nobody: the rules write that record. A run without a call has no tool."""
    writer = ScriptedWriter({"insight": {"text": text}, "insight_without_calls": {"text": text}})
    (draft,) = TIER.distill(run(0), Evidence(), writer)
    assert draft.written is kept
    talk = replace(run(0), turns=(Turn("Is it there?", (Step("No."),)),))
    (answered,) = TIER.distill(talk, Evidence(), writer)
    assert answered.body["text"] == text


def test_it_is_asked_once_before_the_task():
    """Turns and errors are other tiers' moments."""
    assert [query.text for query in TIER.ask(Question("task", "book a flight"))] == ["book a flight"]
    assert not TIER.ask(Question("turn", "book a flight"))
    assert not TIER.ask(Question("error", "book", failed=FailedCall("book", {}, "Error: no")))


def test_agreement_is_shown(record):
    """A strategy that several visible runs share says in how many."""
    shown = record(TIER, {"text": "Look first.", "tools": []})
    assert [
        part.text for part in TIER.render([Hit(shown, 1.0), Hit(shown, 1.0, 3)], Question("task", ""), Style())
    ] == [
        "Look first.",
        "Look first. (Seen in 3 runs.)",
    ]


def test_a_task_without_words_is_counted_and_no_model_is_asked():
    """C04: nothing could find its record; the draft has no key, so that a build counts it."""
    silent = replace(run(1), task=replace(run(1).task, instruction=" \n"))
    writer = ScriptedWriter({"insight": {"text": "Words."}})
    (draft,) = TIER.distill(silent, find_evidence(silent), writer)
    assert draft.key == ""
    assert not sum(writer.calls.values())
