"""Drift: an interface changes in each way, the record says so, and a session does what the report says."""

from __future__ import annotations

from dataclasses import replace

import pytest

import amd
from amd.experiment.drift import drift
from amd.tier import FailedCall
from amd.trajectory import ToolCall, ToolSpec

SCHEMA = {
    "type": "object",
    "properties": {
        "bed": {"type": "integer"},
        "mode": {"type": "string", "enum": ["slow", "fast"]},
        "deep": {"type": "boolean"},
    },
    "required": ["bed"],
}
WATER = ToolSpec("water", "Water a bed.", SCHEMA)
LOOK = ToolSpec("look", "Look at the garden.", {"type": "object", "properties": {}})
OTHER = ToolSpec("dig", "Dig.", {"type": "object", "properties": {}})
ASKED = "Water the bed of the herbs slowly"


def changed(**members):
    """The tool with other members of its schema."""
    return replace(WATER, parameters={**SCHEMA, **members})


def properties(**members):
    """The tool with other arguments; ``None`` takes one out."""
    kept = {name: about for name, about in {**SCHEMA["properties"], **members}.items() if about is not None}
    return changed(properties=kept)


@pytest.fixture
def memory(made, remember):
    """One run that waters and looks; the values of an enum, a truth value and a small number survive masking."""
    calls = [
        ToolCall("look", {}, "dry", ok=True),
        ToolCall("water", {"bed": 4, "mode": "slow", "deep": True}, "wet", ok=True),
    ]
    return remember([made(1, [(ASKED, calls)], tools=(WATER, LOOK))])


CHANGES = {
    "removed": ([LOOK], "the tool water is not there"),
    "unknown": ([properties(bed=None, plot={"type": "integer"}), LOOK], "water has no argument bed"),
    "required": ([changed(required=["bed", "litres"]), LOOK], "water needs litres"),
    "enum": ([properties(mode={"type": "string", "enum": ["gentle"]}), LOOK], 'none of its choices: "slow"'),
    "type": ([properties(deep={"type": "number"}), LOOK], "deep of water is number, not true"),
}


def shown(memory, tools):
    """Which tiers show the record of the run to another task with these tools."""
    task = amd.Task("made-up", "t", "f", f"{ASKED} please")
    session = amd.Session(memory, viewer=amd.self_excluded(task), tools=[*tools, OTHER])
    session.before_task(task.instruction)
    session.after_error(FailedCall("water", {}, "Error: wrong argument", place=1))
    return {exposure.tier for exposure in session.exposures if exposure.record_ids}


def test_nothing_changed_is_no_drift(memory):
    """And a session shows all three tiers: the control of all that follows."""
    assert drift(memory, [LOOK, WATER]).contradictions == ()
    assert shown(memory, [LOOK, WATER]) == {"workflow", "subtask", "function"}


@pytest.mark.parametrize("kind", CHANGES)
def test_each_change_is_found_and_the_stale_function_record_is_not_shown(memory, kind):
    """What a session shows is exactly what the report says is still shown."""
    tools, what = CHANGES[kind]
    report = drift(memory, tools)
    calling = [each for each in report.contradictions if each.kind == kind and each.tier in ("subtask", "function")]
    assert {each.tier for each in calling} == {"subtask", "function"}
    assert all(what in each.what and each.tool == "water" for each in calling)
    assert "function" not in shown(memory, tools)
    of_water = [each for each in report.contradictions if each.tier == "function"]
    assert not any(each.shown for each in of_water)


@pytest.mark.parametrize("kind", CHANGES)
def test_what_becomes_of_workflows_and_subtasks(memory, kind):
    """They keep the names of their tools alone: passed over if one is gone, still shown if its arguments changed."""
    tools, _ = CHANGES[kind]
    report = drift(memory, tools)
    still = {each.tier for each in report.contradictions if each.shown}
    if kind == "removed":
        assert shown(memory, tools) == set()
        assert (still, report.still_shown) == (set(), 0)
        assert {each.tier for each in report.contradictions} == {"workflow", "subtask", "function"}
    else:
        assert shown(memory, tools) == {"workflow", "subtask"}
        assert (still, report.still_shown) == ({"subtask"}, 1)  # a workflow shows no call that could be contradicted


def test_a_rename_is_told_from_both_ends(memory):
    """The argument that is gone and the one that is needed now, for each record that shows the call."""
    tools = [properties(bed=None, plot={"type": "integer"}), LOOK]
    tools[0] = replace(tools[0], parameters={**tools[0].parameters, "required": ["plot"]})
    report = drift(memory, tools)
    assert report.found == {"unknown": 2, "required": 2}
    assert {(each.kind, each.argument) for each in report.contradictions} == {("unknown", "bed"), ("required", "plot")}


def test_a_change_that_no_record_shows_is_still_a_change(memory):
    """The hash of the schema is another one: the function record is not shown, and the report says why."""
    tools = [properties(note={"type": "string"}), LOOK]
    report = drift(memory, tools)
    assert [(each.kind, each.tier, each.shown) for each in report.contradictions] == [("schema", "function", False)]
    assert shown(memory, tools) == {"workflow", "subtask"}


def test_other_words_are_no_change(memory):
    """A description is not what a call is checked by."""
    assert drift(memory, [replace(WATER, description="Gives water."), LOOK]).contradictions == ()


def test_what_broke_its_own_schema_is_no_drift(made, remember):
    """A tool that took what its schema forbids is judged once its schema changes, not before."""
    calls = [ToolCall("water", {"bed": 4, "hose": True}, "wet", ok=True)]
    memory = remember([made(1, [(ASKED, calls)], tools=(WATER, LOOK))])
    assert drift(memory, [WATER]).contradictions == ()
    assert drift(memory, [changed(required=[])]).found == {"unknown": 2}


def test_where_tools_were_unknown_calls_are_judged_by_themselves(made, remember):
    """Without a hash nothing is stale, and the call still tells."""
    calls = [ToolCall("water", {"bed": 4}, "wet", ok=True)]
    memory = remember([made(1, [(ASKED, calls)])])
    assert drift(memory, [WATER]).contradictions == ()
    report = drift(memory, [changed(required=["bed", "litres"])])
    assert report.found == {"required": 2}
    assert report.still_shown == 2


@pytest.mark.parametrize(
    "parameters", [{}, {"type": "object"}, {**SCHEMA, "properties": {}, "required": [], "additionalProperties": True}]
)
def test_an_open_schema_contradicts_nothing(made, remember, parameters):
    """No properties, or any beside those that are named."""
    calls = [ToolCall("water", {"bed": 4}, "wet", ok=True)]
    memory = remember([made(1, [(ASKED, calls)])])
    assert drift(memory, [replace(WATER, parameters=parameters)]).contradictions == ()


def test_types_as_json_has_them(made, remember):
    """A whole number is a number, a truth value is none, and a type that nobody knows is not judged."""
    calls = [ToolCall("water", {"bed": 4, "deep": True}, "wet", ok=True)]
    memory = remember([made(1, [(ASKED, calls)])])

    def found(bed, deep):
        return drift(memory, [changed(properties={"bed": {"type": bed}, "deep": {"type": deep}})]).found

    assert found("number", "boolean") == {}
    assert found(["string", "integer"], "boolean") == {}
    assert found("float", "boolean") == {}
    assert found("string", "boolean") == {"type": 2}
    assert found("integer", "integer") == {"type": 2}
