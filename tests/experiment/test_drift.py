"""Drift: an interface changes in each way, the record says so, and a session does what the report says."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import amd
from amd.experiment.drift import drift
from amd.methods import fault_in
from amd.store import reindex
from amd.testing import StubEmbedder
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
def test_each_change_is_found_and_what_is_stale_is_not_shown(memory, kind):
    """What a session shows is exactly what the report says is still shown: of what is contradicted nothing."""
    tools, what = CHANGES[kind]
    report = drift(memory, tools)
    calling = [each for each in report.contradictions if each.kind == kind and each.tier in ("subtask", "function")]
    assert {each.tier for each in calling} == {"subtask", "function"}
    assert all(what in each.what and each.tool == "water" for each in calling)
    now = {tool.name: tool.schema_sha256 for tool in tools}
    assert {each.schema_sha256 for each in report.contradictions} == {now.get("water", "")}
    told = {each.tier for each in report.contradictions}
    assert told == {"workflow", "subtask", "function"} - (set() if kind == "removed" else {"workflow"})
    assert shown(memory, tools) == {"workflow", "subtask", "function"} - told
    assert (report.still_shown, any(each.shown for each in report.contradictions)) == (0, False)


def test_a_rename_is_told_from_both_ends(memory):
    """The argument that is gone and the one that is needed now, for each record that shows the call."""
    tools = [properties(bed=None, plot={"type": "integer"}), LOOK]
    tools[0] = replace(tools[0], parameters={**tools[0].parameters, "required": ["plot"]})
    report = drift(memory, tools)
    assert report.found == {"unknown": 2, "required": 2}
    assert {(each.kind, each.argument) for each in report.contradictions} == {("unknown", "bed"), ("required", "plot")}


def test_a_change_that_no_record_shows_is_still_a_change(memory):
    """The hash of the schema is another one: what tells the call is not shown, and the report says why."""
    tools = [properties(note={"type": "string"}), LOOK]
    report = drift(memory, tools)
    found = [(each.kind, each.tool, each.tier, each.shown) for each in report.contradictions]
    assert found == [("schema", "water", tier, False) for tier in ("function", "subtask")]
    assert shown(memory, tools) == {"workflow"}


def test_each_record_says_itself_what_schema_it_was_made_under(made, remember):
    """Of two runs under two schemas only the older one's records are contradicted, and only they are not shown."""
    calls = [ToolCall("water", {"bed": 4}, "wet", ok=True)]
    newer = changed(required=["bed", "mode"])
    memory = remember([made(1, [(ASKED, calls)], tools=(WATER, LOOK)), made(2, [(ASKED, calls)], tools=(newer, LOOK))])
    for tools, number in (([newer], 1), ([WATER], 2)):
        report = drift(memory, tools)
        assert {each.task_id for each in report.contradictions} == {made(number, [(ASKED, calls)]).task.task_id}
        assert {each.tier for each in report.contradictions} == {"subtask", "function"}
        assert report.still_shown == 0
        assert shown(memory, tools) == {"workflow", "subtask", "function"}


@pytest.mark.parametrize(
    ("schemas", "found"),
    [
        pytest.param("now", set(), id="the hash of today"),
        pytest.param("none", set(), id="no hash"),
        pytest.param("old", {"schema"}, id="the hash as it was"),
    ],
)
def test_a_record_mended_by_hand_is_shown_again_if_it_says_so(memory, schemas, found):
    """Its calls as the tool of today wants them, and of its schemas the one that the report names, or none."""
    wanting = {**SCHEMA["properties"], "litres": {"type": "integer"}}
    tools = [changed(properties=wanting, required=["bed", "litres"]), LOOK]
    (told,) = [each for each in drift(memory, tools).contradictions if each.tier == "subtask"]
    path = memory.path / "generations" / f"{memory.manifest.generation:06}" / "subtask" / "records.json"
    lines = path.read_text(encoding="utf-8").split("\n")
    record = json.loads(lines[told.line - 1])
    record["body"]["calls"][1]["arguments"]["litres"] = 9
    if schemas == "now":
        record["schemas"]["water"] = told.schema_sha256
    elif schemas == "none":
        del record["schemas"]["water"]
    lines[told.line - 1] = json.dumps(record)
    path.unlink()  # as an editor saves
    path.write_text("\n".join(lines), encoding="utf-8")
    reindex(memory.path, embedder=StubEmbedder(), fault_in=fault_in)
    with amd.open_memory(memory.path, embedder=StubEmbedder()) as again:
        kinds = {each.kind for each in drift(again, tools).contradictions if each.tier == "subtask"}
        assert kinds == found
        assert ("subtask" in shown(again, tools)) == (not found)


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


def test_where_there_may_be_other_tools_none_is_removed(memory):
    """What is told and has changed is found as ever, and is not shown; without ``partial`` both are (the control)."""
    assert drift(memory, [LOOK]).found.keys() == {"removed"}
    assert drift(memory, [LOOK], partial=True).found == {}
    tools = [properties(bed=None, plot={"type": "integer"})]
    report = drift(memory, tools, partial=True)
    assert "removed" in drift(memory, tools).found
    assert (report.found.keys() & {"removed", "unknown"}, report.still_shown) == ({"unknown"}, 0)
