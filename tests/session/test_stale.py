"""An interface changes: whatever tells how a tool was called before is not shown any more, whichever tier wrote it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from amd.build import Options, build_memory
from amd.exclusion import self_excluded
from amd.methods import method_named
from amd.records import Exposure
from amd.session import Session
from amd.store import Memory, open_memory
from amd.testing import ScriptedWriter, StubEmbedder, run
from amd.tier import RULES, FailedCall, Writer
from amd.trajectory import Step, Task, ToolCall, ToolSpec, Trajectory, Turn

SCHEMA = {
    "type": "object",
    "properties": {"bed": {"type": "integer", "description": "Its number."}, "minutes": {"type": "integer"}},
    "required": ["bed"],
}
WATER = ToolSpec("water", "Start to water a bed.", SCHEMA)
DIG = ToolSpec("dig", "Dig.", {"type": "object", "properties": {}})
ASKED = "Start to water the bed of the herbs"
TELLING = (
    *("subtask", "subtask-text", "function"),
    *("memp", "memp-script", "memp-trajectory", "memp-keywords", "sasm"),
)
"""The methods whose records tell how tools are called."""

NAMING = ("workflow", "reasoning_bank")
"""Those whose records are texts about a whole run, and name its tools."""

SAID = "Start with `water`."
REPLIES = {
    "segments": {"segments": [{"start_step": 1, "end_step": 2, "label": "water a bed", "description": SAID}]},
    "reasoning": {"reasons": [{"step": step, "why": SAID} for step in (1, 2)]},
    "script": {"steps": [SAID]},
    "keywords": {"keywords": ["start", "water", "bed", "herbs"]},
    "experiences": {
        "subtasks": [{"start_step": 1, "end_step": 2, "category": "execute", "description": SAID, "experience": [SAID]}]
    },
}


def watering(number: int, tools: Sequence[ToolSpec] | None = (WATER, DIG)) -> Trajectory:
    """A run that waters the wrong bed, then the right one."""
    calls = (
        ToolCall("water", {"bed": 4, "minutes": 50}, "Error: too long", ok=False),
        ToolCall("water", {"bed": 4, "minutes": 5}, "wet", ok=True),
    )
    turn = Turn(ASKED, tuple(Step(calls=(call,)) for call in calls))
    made = run(number)
    task = replace(made.task, instruction=ASKED)
    return replace(made, task=task, turns=(turn,), tools=None if tools is None else tuple(tools))


@pytest.fixture
def memory(tmp_path: Path) -> Callable[..., Memory]:
    """Build a memory for a method from one watering run, and open it."""

    def built(method: str, writer: Writer = RULES, runs: Sequence[Trajectory] = (watering(1),)) -> Memory:
        made = method_named(method)
        floors = {tier.name: -1.0 for tier in made.tiers if tier.floored}
        options = Options(method=made.memory, floors=floors, reasoning=method == "function" and writer is not RULES)
        build_memory(list(runs), tmp_path / "memory", embedder=StubEmbedder(), writer=writer, options=options)
        return open_memory(tmp_path / "memory", embedder=StubEmbedder())

    return built


def asked(memory: Memory, method: str, tools: Sequence[ToolSpec] | None) -> list[Exposure]:
    """What a task of another family is shown that offers these tools: before it, and after a failed call."""
    task = Task("made-up", "t", "f", f"{ASKED} please")
    session = Session(memory, viewer=self_excluded(task), method=method, tools=tools)
    session.before_task(task.instruction)
    session.after_error(FailedCall("water", {}, "Error: too long", turn_text=ASKED, place=1))
    return [exposure for exposure in session.exposures if exposure.considered]


def changed(**members: object) -> ToolSpec:
    """The tool with other members of its schema."""
    return replace(WATER, parameters={**SCHEMA, **members})


RENAMED = changed(properties={"plot": {"type": "integer"}, "minutes": {"type": "integer"}}, required=["plot"])
CHANGES = {
    "renamed argument": (RENAMED, "stale_schema"),
    "new required argument": (changed(required=["bed", "minutes"]), "stale_schema"),
    "another type": (changed(properties={**SCHEMA["properties"], "bed": {"type": "string"}}), "stale_schema"),
    "removed tool": (None, "tool_not_offered"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("writer", [RULES, ScriptedWriter(REPLIES)], ids=["rules", "model"])
@pytest.mark.parametrize("method", TELLING)
def test_a_stale_record_is_not_shown_and_counted(
    memory: Callable[..., Memory], method: str, writer: Writer, change: str
) -> None:
    """Each change, for every tier, by rules and by a model; the control is the same question, the tools unchanged."""
    tool, reason = CHANGES[change]
    with memory(method, writer) as made:
        assert any(exposure.record_ids for exposure in asked(made, method, [WATER, DIG]))
        exposures = asked(made, method, [tool, DIG] if tool else [DIG])
        if method == "function" and tool is None:
            assert exposures == []  # a tool that is not there is not asked about
            return
        assert exposures
        for exposure in exposures:
            assert (exposure.record_ids, exposure.dropped.get(reason)) == ((), exposure.considered)


@pytest.mark.parametrize("method", TELLING)
def test_what_did_not_change_is_shown(memory: Callable[..., Memory], method: str) -> None:
    """The same schema, in another order of members, with other tools beside it and in other words."""
    same = replace(WATER, description="Gives water.", parameters=dict(reversed(SCHEMA.items())))
    told = changed(properties={**SCHEMA["properties"], "bed": {"type": "integer", "description": "Its row."}})
    with memory(method) as made:
        for tools in ([WATER, DIG], [same], [told], [replace(DIG, parameters={}), WATER], None):
            found = asked(made, method, tools)
            assert any(exposure.record_ids for exposure in found)
            assert not any("stale_schema" in exposure.dropped for exposure in found)


@pytest.mark.parametrize("method", NAMING)
def test_a_text_that_tells_no_call_is_judged_by_names_alone(memory: Callable[..., Memory], method: str) -> None:
    """Another schema is no reason to hide it; a tool that is gone is."""
    with memory(method) as made:
        assert any(exposure.record_ids for exposure in asked(made, method, [RENAMED, DIG]))
        assert [(each.record_ids, each.dropped) for each in asked(made, method, [DIG])] == [
            ((), {"tool_not_offered": 1})
        ]


@pytest.mark.parametrize("method", TELLING)
def test_where_a_runs_tools_were_unknown_nothing_is_stale(memory: Callable[..., Memory], method: str) -> None:
    """There is no hash to judge by: shown under any schema, as long as the tool is there."""
    with memory(method, runs=[watering(1, None)]) as made:
        assert all(record.schemas == {} for shelf in made.shelves.values() for record in shelf.records())
        assert any(exposure.record_ids for exposure in asked(made, method, [RENAMED, DIG]))


@pytest.mark.parametrize("method", TELLING)
def test_a_fresh_record_takes_the_place_of_a_stale_one(memory: Callable[..., Memory], method: str) -> None:
    """Of two records that are as near, the one that was made under the schema of today is shown, whatever its rank."""
    fresh = watering(2, (RENAMED, DIG))
    with memory(method, runs=[watering(1), fresh]) as made:
        for tools, family in (([WATER], watering(1).task.family), ([RENAMED], fresh.task.family)):
            shown = [exposure.families for exposure in asked(made, method, tools) if exposure.record_ids]
            assert shown
            assert {family for families in shown for family in families} == {family}


def test_every_tool_of_a_record_counts(memory: Callable[..., Memory]) -> None:
    """One of two tools changed is enough; a record of the other tool alone stays."""
    digging = Turn("Then dig it over", (Step(calls=(ToolCall("dig", {}, "done", ok=True),)),))
    both = replace(watering(1).turns[0], steps=(*watering(1).turns[0].steps, *digging.steps))
    with memory("subtask", runs=[replace(watering(1), turns=(both, digging))]) as made:
        tools = {tuple(record.schemas) for record in made.shelves["subtask"].records()}
        assert tools == {("dig", "water"), ("dig",)}
        (exposure,) = asked(made, "subtask", [RENAMED, DIG])
        assert (len(exposure.record_ids), exposure.dropped) == (1, {"stale_schema": 1})
