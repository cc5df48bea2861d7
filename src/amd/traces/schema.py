"""The door of ``amd-trajectory/1``: pydantic models of a line, and both ways between a line and the shapes.

Types are strict: text is text, and nothing is converted on the way in, so that what was written is what is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from amd.json_text import JSON
from amd.trajectory import Kind, Outcome, Source, Step, Task, ToolCall, ToolSpec, Trajectory, Turn

__all__ = ["RunLine", "as_json", "count_unknown"]


class _Part(BaseModel):
    """A part of a line. Unknown members are let in, to be counted, and go no further."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


class _Task(_Part):
    benchmark: str = Field(min_length=1)
    task_id: str = Field(min_length=1)
    family: str = Field(min_length=1)
    instruction: str
    split: str | None = None

    def shape(self) -> Task:
        return Task(self.benchmark, self.task_id, self.family, self.instruction, self.split)


class _Call(_Part):
    name: str = Field(min_length=1)
    arguments: dict[str, Any]
    observation: str
    ok: bool
    call_id: str | None = None

    def shape(self) -> ToolCall:
        return ToolCall(self.name, self.arguments, self.observation, self.ok, self.call_id)


class _Step(_Part):
    text: str = ""
    calls: list[_Call] = []

    def shape(self) -> Step:
        return Step(self.text, tuple(call.shape() for call in self.calls))


class _Turn(_Part):
    user: str | None
    steps: list[_Step] = []

    def shape(self) -> Turn:
        return Turn(self.user, tuple(step.shape() for step in self.steps))


class _Tool(_Part):
    name: str = Field(min_length=1)
    description: str = ""
    parameters: dict[str, Any] = {}

    def shape(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.parameters)


class _Outcome(_Part):
    success: bool | None
    score: int | float | None = None
    evidence: str = ""

    def shape(self) -> Outcome:
        return Outcome(self.success, self.score, self.evidence)


class _Source(_Part):
    teacher: str
    run_id: str
    path: str
    sha256: str
    kind: Kind
    memory_assisted: bool | None
    terms: str | None = None

    def shape(self) -> Source:
        return Source(self.teacher, self.run_id, self.path, self.sha256, self.kind, self.memory_assisted, self.terms)


class RunLine(_Part):
    """One line: a trajectory and the name of the format."""

    format: str
    task: _Task
    turns: list[_Turn]
    tools: list[_Tool] | None
    outcome: _Outcome
    source: _Source

    def shape(self) -> Trajectory:
        """The trajectory that the line holds."""
        return Trajectory(
            self.task.shape(),
            tuple(turn.shape() for turn in self.turns),
            None if self.tools is None else tuple(tool.shape() for tool in self.tools),
            self.outcome.shape(),
            self.source.shape(),
        )


def count_unknown(part: BaseModel) -> int:
    """How many members of a line, at any depth of its own structure, the format does not know."""
    return len(part.model_extra or {}) + sum(count_unknown(below) for below in _parts(part))


def _parts(part: BaseModel) -> Iterator[BaseModel]:
    for name in type(part).model_fields:
        value = getattr(part, name)
        yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, BaseModel))


def as_json(run: Trajectory) -> dict[str, JSON]:
    """The members of a line, ``format`` aside."""
    task, outcome, source = run.task, run.outcome, run.source
    return {
        "task": {
            "benchmark": task.benchmark,
            "task_id": task.task_id,
            "family": task.family,
            "instruction": task.instruction,
            "split": task.split,
        },
        "turns": [{"user": turn.user, "steps": [_step(step) for step in turn.steps]} for turn in run.turns],
        "tools": None if run.tools is None else [_tool(tool) for tool in run.tools],
        "outcome": {"success": outcome.success, "score": outcome.score, "evidence": outcome.evidence},
        "source": {
            "teacher": source.teacher,
            "run_id": source.run_id,
            "path": source.path,
            "sha256": source.sha256,
            "kind": source.kind,
            "memory_assisted": source.memory_assisted,
            **({} if source.terms is None else {"terms": source.terms}),
        },
    }


def _step(step: Step) -> dict[str, JSON]:
    return {"text": step.text, "calls": [_call(call) for call in step.calls]}


def _call(call: ToolCall) -> dict[str, JSON]:
    return {
        "name": call.name,
        "arguments": dict(call.arguments),
        "observation": call.observation,
        "ok": call.ok,
        "call_id": call.call_id,
    }


def _tool(tool: ToolSpec) -> dict[str, JSON]:
    return {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
