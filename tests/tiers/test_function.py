"""The function tier's rules: good calls, pitfalls, and the hint."""

from __future__ import annotations

import pytest

from amd.evidence import find_evidence
from amd.testing import ScriptedWriter, run
from amd.tier import RULES, FailedCall, Hit, Question, Style
from amd.tiers.function import REASONING, FunctionTier
from amd.trajectory import Outcome, Source, Step, Task, ToolCall, ToolSpec, Trajectory, Turn, is_error

TIER = FunctionTier()


def drafts(trajectory):
    """What the tier writes."""
    return TIER.distill(trajectory, find_evidence(trajectory), RULES)


def trajectory(*turns):
    """A run of (user text, [(agent's text, tool, arguments, observation), ...]) turns."""
    made = tuple(
        Turn(
            user,
            tuple(Step(said, (ToolCall(name, args, seen, not is_error(seen)),)) for said, name, args, seen in calls),
        )
        for user, calls in turns
    )
    return Trajectory(Task("b", "t", "f", "instruction"), made, None, Outcome(True), Source("t", "r", "p", "0"))


def test_d16a_each_record_has_its_own_result():
    """D16a: nine calls, nine records, each with the observation of its own turn and step."""
    found = drafts(run(0))
    places = [f"t{turn}s{step}" for turn in range(3) for step in range(3)]
    assert [draft.body["observation"].split()[0] for draft in found] == [
        f'{{"current_working_directory":"{place}' for place in places
    ]
    assert {(draft.tool, draft.calls_of) for draft in found} == {("cd", ("cd",)), ("mv", ("mv",)), ("wc", ("wc",))}


def test_d16b_a_failing_call_is_no_good_call():
    """D16b: of four calls the failing one gives no record, for nothing repaired it."""

    def observe(turn, step):
        return '{"error": "no such file"}' if (turn, step) == (1, 1) else "ok"

    found = drafts(run(0, turns=2, calls=2, observe=observe))
    assert [(draft.tool, draft.steps[0]) for draft in found] == [("cd", 1), ("mv", 2), ("cd", 3)]


def test_a_repaired_error_is_a_pitfall():
    """It keeps the error, its class, and the call that went through; never the arguments that failed."""
    made = trajectory(
        (
            "move it",
            [("", "mv", {"src": "bad-value-1"}, "Error: no file bad-value-1"), ("", "mv", {"src": "good"}, "ok")],
        )
    )
    good, pitfall = drafts(made)
    assert (good.body["kind"], pitfall.body["kind"]) == ("call", "pitfall")
    assert pitfall.body["error_class"] == "no file …"
    assert (pitfall.body["changed"], pitfall.body["arguments"], pitfall.steps) == (["src"], {"src": "good"}, (1, 2))


def test_a_repair_by_another_call_says_which():
    """The same call again helps only after what was done in between; a call that failed there is no part of it."""
    send = {"to": "Ann"}
    made = trajectory(
        (
            "write to Ann",
            [
                ("", "send", send, "Error: the radio is off"),
                ("", "battery", {}, "Error: nobody knows"),
                ("", "radio", {"on": True}, "ok"),
                ("", "send", send, "sent"),
            ],
        )
    )
    (pitfall,) = [draft for draft in drafts(made) if draft.body["kind"] == "pitfall"]
    assert pitfall.body["between"] == [{"tool": "radio", "arguments": {"on": True}}]
    assert pitfall.body["tools"] == ["send", "radio"]
    assert (pitfall.tool, pitfall.calls_of, pitfall.steps) == ("send", ("send", "radio"), (1, 4))
    assert pitfall.body["changed"] == []
    assert TIER.fault(pitfall.body) is None
    assert TIER.fault({**pitfall.body, "between": "radio"})


def test_a_repair_that_changed_its_own_arguments_needs_no_other_call():
    """Then what stands between is by the way (the control of the above)."""
    made = trajectory(
        (
            "write to Ann",
            [
                ("", "send", {"to": "An"}, "Error: nobody has this name"),
                ("", "look", {}, "ok"),
                ("", "send", {"to": "Ann"}, "sent"),
            ],
        )
    )
    (pitfall,) = [draft for draft in drafts(made) if draft.body["kind"] == "pitfall"]
    assert (pitfall.body["changed"], pitfall.body["between"]) == (["to"], [])


def test_the_key_is_the_reasoning_else_the_last_words():
    """The call's reasoning, else the turn's text, else the last user text before it, else the instruction."""
    made = trajectory(
        (None, [("", "a", {}, "1")]),
        ("move it there", [("I look first.", "b", {}, "1"), ("", "c", {}, "1")]),
        ("Yes, please.", [("", "d", {}, "1")]),
    )
    assert [draft.key for draft in drafts(made)] == ["instruction", "I look first.", "move it there", "move it there"]


def test_it_is_asked_only_after_an_error():
    """By the exact tool and the class of error; similarity to the reasoning, else to the turn's text, ranks."""
    failed = FailedCall("mv", {"src": "x"}, "Error: no file x9", turn_text="move it")
    call, pitfall = TIER.ask(Question("error", "instruction", failed=failed))
    assert (call.text, call.where) == ("move it", {"tool": "mv", "kind": "call"})
    assert pitfall.where == {"tool": "mv", "kind": "pitfall", "error_class": "no file …"}
    assert not TIER.ask(Question("task", "instruction"))


def test_the_example_comes_first_and_the_schema_last(record):
    """A good call repairs, so a budget keeps it first; the schema comes while the budget lasts."""
    call = {"kind": "call", "arguments": {"src": "<src>"}, "observation": "moved", "tools": ["mv"]}
    pitfall = {
        "kind": "pitfall",
        "arguments": {"src": "<src>"},
        "error": "",
        "error_class": "no file …",
        "changed": ["src"],
        "tools": ["mv"],
    }
    hits = [Hit(record(TIER, body, tool="mv"), 1.0) for body in (pitfall, call)]
    question = Question("error", "", failed=FailedCall("mv", {}, "Error: no"))
    schema = {
        "type": "object",
        "properties": {
            "src": {"type": "string", "description": "The file."},
            "how": {"enum": ["copy", "move"]},
            "n": {},
        },
        "required": ["src"],
    }
    style = Style(tools={"mv": ToolSpec("mv", "", schema)})
    parts = [part.text for part in TIER.render(hits, question, style)]
    line = '{"name": "mv", "arguments": {"src": "<src>"}}'
    assert parts == [
        f"A call of mv that worked before:\n{line}",
        "The error “no file …” was repaired before by changing src.",
        "The result of that call was: moved",
        'The arguments of mv:\n- src (string, required): The file.\n- how (any, one of ["copy","move"])\n- n (any)',
    ]
    unknown = [Hit(record(TIER, {**call, "observation": ""}, tool="mv"), 1.0)]
    texts = [part.text for part in TIER.render(unknown, question, style)]
    assert texts == [parts[0], parts[-1]]  # a log may not tell what a call gave


def test_a_repair_shows_its_call_where_it_is_another(record):
    """Only a call that stands there already is left out."""
    call = {"kind": "call", "arguments": {"src": "<src>"}, "observation": "moved", "tools": ["mv"]}
    pitfall = {
        **call,
        "kind": "pitfall",
        "arguments": {"src": "<src>", "force": True},
        "error_class": "x",
        "changed": [],
    }
    hits = [Hit(record(TIER, body, tool="mv"), 1.0) for body in (call, pitfall)]
    parts = TIER.render(hits, Question("error", "", failed=FailedCall("mv", {}, "Error: no")), Style("python"))
    assert parts[1].text == "The error “x” was repaired before by calling again later:\nmv(src='<src>', force=True)"


def test_a_schema_without_properties_is_shown_as_it_is(record):
    """Nothing is left out silently."""
    call = {"kind": "call", "arguments": {}, "observation": "moved", "tools": ["mv"]}
    style = Style(tools={"mv": ToolSpec("mv", "", {"type": "object"})})
    question = Question("error", "", failed=FailedCall("mv", {}, "Error: no"))
    parts = TIER.render([Hit(record(TIER, call, tool="mv"), 1.0)], question, style)
    assert parts[-1].text == 'The schema of mv: {"type":"object"}'


def test_without_a_hit_there_is_no_hint():
    """A schema alone hardly repairs anything."""
    question = Question("error", "", failed=FailedCall("mv", {}, "Error: no"))
    assert not TIER.render([], question, Style(tools={"mv": ToolSpec("mv", "", {"type": "object"})}))


def test_the_calls_between_are_shown_in_their_order(record):
    """Which tool comes first, its call, then the call that failed before; a record without them says less (control)."""
    body = {
        "kind": "pitfall",
        "error": "Error: the radio is off",
        "error_class": "the radio is off",
        "changed": [],
        "between": [{"tool": "radio", "arguments": {"on": True}}],
        "arguments": {"to": "<to>"},
        "tools": ["send", "radio"],
    }
    failed = FailedCall("send", {"to": "Ann"}, "Error: the radio is off", place=1)
    question = Question("error", "write", failed=failed)

    def shown(body):
        (part,) = TIER.render([Hit(record(TIER, body, tool="send"), 0.9)], question, Style("json"))
        return part.text

    assert shown(body).split("\n") == [
        "The error “the radio is off” was repaired before by calling radio first:",
        '{"name": "radio", "arguments": {"on": true}}',
        '{"name": "send", "arguments": {"to": "<to>"}}',
    ]
    assert "calling again later" in shown({**body, "between": []})


REASONS = {"reasons": [{"step": n, "why": f"It was the time for step {n}."} for n in range(1, 10)]}


def test_with_reasoning_a_call_is_found_by_why_it_was_made():
    """One reply for all calls of the run; its words are the keys, and say who wrote."""
    writer = ScriptedWriter({"reasoning": REASONS})
    found = FunctionTier(reasoning=True).distill(run(0), find_evidence(run(0)), writer)
    assert [draft.key for draft in found] == [f"It was the time for step {n}." for n in range(1, 10)]
    assert all(draft.written for draft in found)
    assert writer.calls == {"reasoning": 1}


def test_without_reasoning_nobody_is_asked():
    """It is off unless somebody turns it on."""
    writer = ScriptedWriter({"reasoning": REASONS})
    assert TIER.distill(run(0), find_evidence(run(0)), writer) == drafts(run(0))
    assert not writer.calls
    assert (TIER.prompts, FunctionTier(reasoning=True).prompts) == ((), (REASONING,))


@pytest.mark.parametrize("steps", [[], [1, 2], [*range(1, 9), 10], [2, 1, *range(3, 10)], [1, *range(1, 9)]])
def test_reasons_that_are_not_one_for_each_call_are_not_used(steps):
    """The rules' keys stand in."""
    writer = ScriptedWriter({"reasoning": {"reasons": [{"step": step, "why": "So."} for step in steps]}})
    found = FunctionTier(reasoning=True).distill(run(0), find_evidence(run(0)), writer)
    assert found == drafts(run(0))
    assert writer.rejected == {"reasoning": 1}
