"""The subtask tier's rules: segments that cover a run, and what they keep."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.evidence import Evidence
from amd.testing import ScriptedWriter, run
from amd.tier import RULES, FailedCall, Hit, Question, Style
from amd.tiers.subtask import MOST_SEGMENTS, Segment, SubtaskTier, fault_in
from amd.trajectory import Outcome, Source, Step, Task, ToolCall, ToolSpec, Trajectory, Turn

TIER = SubtaskTier()


def trajectory(*turns, tools=None):
    """A run of (user text, [(tool, ok), ...]) turns."""
    made = tuple(
        Turn(
            user, tuple(Step(calls=(ToolCall(name, {"n": n}, f"seen {n}", ok),)) for n, (name, ok) in enumerate(calls))
        )
        for user, calls in turns
    )
    return Trajectory(Task("b", "t", "f", turns[0][0]), made, tools, Outcome(True), Source("t", "r", "p", "0"))


def drafts(of, writer=RULES):
    """What the tier writes."""
    return TIER.distill(of, Evidence(), writer)


@given(st.lists(st.integers(0, 5), max_size=14))
def test_segments_cover_all_calls_once(sizes):
    """At most six, in order, without gap or overlap, and never one without a call."""
    made = trajectory(("start", []), *((f"turn {n}", [("f", True)] * size) for n, size in enumerate(sizes)))
    found = drafts(made)
    assert len(found) <= MOST_SEGMENTS
    covered = [step for draft in found for step in range(draft.steps[0], draft.steps[1] + 1)]
    assert covered == list(range(1, sum(sizes) + 1))
    assert all(draft.body["calls"] for draft in found)


def test_failed_calls_are_dropped():
    """A segment holds the good calls of its range and their observations; one without any is no record."""
    first, *others = drafts(trajectory(("a", [("f", True), ("g", False), ("f", True)]), ("b", [("g", False)])))
    assert [(call["name"], call["arguments"]) for call in first.body["calls"]] == [("f", {"n": 0}), ("f", {"n": 2})]
    assert (first.body["observations"], first.body["tools"]) == (["seen 0", "seen 2"], ["f"])
    assert others == []


def test_d17_parallel_calls_are_all_in_the_segment():
    """D17: one step with three calls gives a segment of three."""
    calls = tuple(ToolCall(name, {}, name, ok=True) for name in ("cd", "mv", "wc"))
    made = Trajectory(
        Task("b", "t", "f", "do"), (Turn("do", (Step("", calls),)),), None, Outcome(True), Source("t", "r", "p", "0")
    )
    assert [call["name"] for call in drafts(made)[0].body["calls"]] == ["cd", "mv", "wc"]


def test_the_words_come_from_the_user_and_the_tools():
    """The label has the tools in words; the description the request and what the tools do."""
    tools = (ToolSpec("get_user", "Look up a user by name."), ToolSpec("cancelOrder"))
    request = "Please cancel my last order today. Thanks!"
    (draft,) = drafts(trajectory((request, [("get_user", True), ("cancelOrder", True)]), tools=tools))
    assert draft.key == (
        "get user and cancel order: Please cancel my last order today. (look up a user then cancel order)"
    )


def test_a_nod_is_no_description():
    """A turn such as yes says nothing; without descriptions of the tools the label stands alone."""
    (draft,) = drafts(trajectory(("Yes, please.", [("get_user", True)])))
    assert (draft.key, draft.body["description"]) == ("get user", "")


@pytest.mark.parametrize(
    ("bounds", "calls", "fault"),
    [
        ([(1, 2, "a"), (3, 3, "b")], 3, None),
        ([], 3, "0 segments"),
        ([(1, 2, "a")], 3, "end at step 2 of 3"),
        ([(1, 2, "a"), (2, 3, "b")], 3, "steps 2-3 where 3 should begin"),
        ([(2, 3, "a")], 3, "steps 2-3 where 1"),
        ([(1, 9, "a")], 3, "end at step 9 of 3"),
        ([(3, 1, "a")], 3, "steps 3-1"),
        ([(1, 2, "a"), (3, 3, "a")], 3, "same label"),
        ([(1, 3, " ")], 3, "no label"),
        ([(n, n, str(n)) for n in range(1, 8)], 7, "7 segments"),
    ],
)
def test_d09_a_division_must_cover_the_run(bounds, calls, fault):
    """D09: gaps, overlaps, wrong bounds and equal labels are rejected, each with its fault."""
    segments = [Segment(first, last, label) for first, last, label in bounds]
    found = fault_in(segments, calls)
    assert found is None if fault is None else fault in found


def test_a_writer_divides_if_it_divides_well():
    """Its labels and bounds are kept; a faulty division gives the turns instead."""
    good = {"segments": [{"start_step": 1, "end_step": 9, "label": "all", "description": "Does it all."}]}
    assert [draft.key for draft in drafts(run(0), ScriptedWriter({"segments": good}))] == ["all: Does it all."]
    short = {"segments": [{"start_step": 1, "end_step": 8, "label": "most", "description": ""}]}
    assert len(drafts(run(0), ScriptedWriter({"segments": short}))) == 3


@pytest.mark.parametrize("start", [None, "one", "1-3", 1.5, True])
def test_d22a_a_bound_that_is_no_whole_number_is_not_taken(start):
    """D22a: a reply with a bad bound costs that reply, and the turns divide the run."""
    writer = ScriptedWriter({"segments": {"segments": [{"start_step": start, "end_step": 9, "label": "a"}]}})
    assert len(drafts(run(0), writer)) == 3
    assert writer.rejected["segments"] == 1


def test_it_is_asked_by_labels_or_by_the_text():
    """At most six labels; before the task and before a turn, never after an error."""
    labels = tuple("abcdefgh")
    assert [query.text for query in TIER.ask(Question("task", "x", labels=labels))] == list("abcdef")
    assert [query.text for query in TIER.ask(Question("turn", "x"))] == ["x"]
    assert not TIER.ask(Question("error", "x", failed=FailedCall("f", {}, "Error: x")))


def test_calls_are_shown_as_the_student_writes_them(record):
    """Each on its own line in the student's own format, eight at most; the example has the same lines."""
    calls = [{"name": "mv", "arguments": {"source": "<source>"}}] * 10
    body = {"label": "move", "description": "Move files.", "calls": calls, "observations": [], "tools": ["mv"]}
    (part,) = TIER.render(
        [Hit(record(TIER, body, key="move: Move files."), 1.0)], Question("task", ""), Style("python")
    )
    assert part.text.split("\n") == ["move: Move files.", *["mv(source='<source>')"] * 8, "(2 more calls)"]
    assert part.example == ("Move files.", "\n".join(part.text.split("\n")[1:]))


def test_a_representation_in_words_shows_no_call(record):
    """What was done and with which tools; the same record shows its calls where they are asked for."""
    calls = [{"name": "mv", "arguments": {"source": "<source>"}}]
    body = {"label": "move", "description": "Move files.", "calls": calls, "observations": [], "tools": ["mv", "ls"]}
    hits = [Hit(record(TIER, body, key="move: Move files."), 1.0, 3)]
    (part,) = SubtaskTier(words=True).render(hits, Question("task", ""), Style("python"))
    assert (part.text, part.example) == ("move: Move files. (Seen in 3 runs.) (With `mv` and `ls`.)", None)
    assert "mv(source=" in TIER.render(hits, Question("task", ""), Style("python"))[0].text
