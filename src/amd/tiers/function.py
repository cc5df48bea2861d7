"""The function tier: how one tool is called well, asked only after a call of it failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from amd.evidence import Evidence, Repair
from amd.json_text import JSON, dumps
from amd.records import Record
from amd.tier import Assignment, Draft, Hit, Part, Prompt, Query, Question, Style, Writer
from amd.trajectory import ToolCall, ToolSpec, Trajectory, error_class
from amd.transcript import excerpt, fault_in_names, join, render_call

__all__ = ["REASONING", "FunctionTier", "Reason", "Reasons", "fault_in_reasons"]

_OBSERVATION_LENGTH = 300
_LEAST_WORDS = 3
_LONGEST_REASON = 400  # characters
_MOST_BETWEEN = 3  # calls: a repair that took more is told by the workflow


@dataclass(frozen=True, slots=True)
class Reason:
    """Why one call was made: its number (from 1, over all calls of the run), and one sentence."""

    step: int
    why: str


@dataclass(frozen=True, slots=True)
class Reasons:
    """A writer's reply: why each call was made."""

    reasons: tuple[Reason, ...]


REASONING = Prompt(
    "reasoning",
    """You read a finished run in which an assistant solved a task with tools; its calls are numbered. For each call, \
in order, say in one short sentence why it was made at this point: what was needed, and what was known already. \
step is the number of the call. Names, ids, dates, amounts and other values of this run do not stand in a \
sentence.""",
    Reasons,
    room=2048,
)
"""Asked for a run with calls, all in one reply, if the tier was made with ``reasoning``."""


def fault_in_reasons(reply: Reasons, calls: int) -> str | None:
    """What is wrong with the reasons of ``calls`` calls, or ``None``: each call has one.

    >>> fault_in_reasons(Reasons((Reason(1, "It is dry."),)), 2)
    'the steps are 1, not 1 to 2'
    """
    steps = [reason.step for reason in reply.reasons]
    if steps != list(range(1, calls + 1)):
        return f"the steps are {join(map(str, steps)) or 'none'}, not 1 to {calls}"
    for reason in reply.reasons:
        if not reason.why.strip():
            return f"step {reason.step} has no reason"
        if len(reason.why) > _LONGEST_REASON:
            return f"the reason of step {reason.step} is too long: write one short sentence"
    return None


@dataclass(frozen=True, slots=True)
class FunctionTier:
    """Good calls and pitfalls, gated by the exact tool name; similarity only ranks.

    With ``reasoning`` a writer is asked why each call was made, and that becomes the call's key.
    """

    reasoning: bool = False
    name: str = "function"
    heading: str = "About this error:"
    accepts: frozenset[bool] = field(default=frozenset({True}))
    needs_calls: bool = True
    fused: bool = False
    floored: bool = False

    @property
    def prompts(self) -> tuple[Prompt[Reasons], ...]:
        """One, if it was made with ``reasoning``."""
        return (REASONING,) if self.reasoning else ()

    def distill(self, run: Trajectory, evidence: Evidence, writer: Writer) -> Sequence[Draft]:
        """One draft for each good call, and one for each error that a later call of the same tool repaired."""
        calls = run.calls
        reasons = self._reasons(run, writer)
        keys = reasons or _keys(run)
        drafts = [
            Draft(key, _call_body(call), (number, number), call.name, (call.name,), written=bool(reasons))
            for number, (call, key) in enumerate(zip(calls, keys, strict=True), start=1)
            if call.ok and key
        ]
        drafts += [
            _pitfall(repair, calls[repair.failed - 1 : repair.repaired], keys[repair.failed - 1], written=bool(reasons))
            for repair in evidence.repairs
            if repair.repaired and keys[repair.failed - 1]
        ]
        return drafts

    def _reasons(self, run: Trajectory, writer: Writer) -> list[str]:
        """Why each call was made, in a writer's words; nothing if it was not asked, or had no answer."""
        if not self.reasoning or not run.calls:
            return []
        reply = writer.write(Assignment(REASONING, run, lambda reply: fault_in_reasons(reply, len(run.calls))))
        return [reason.why.strip() for reason in reply.reasons] if reply else []

    def ask(self, question: Question) -> Sequence[Query]:
        """The best good call of that tool, and the pitfall of that class of error."""
        failed = question.failed
        if question.at != "error" or failed is None:
            return ()
        text = failed.reasoning or failed.turn_text or question.text
        kind = error_class(failed.error, failed.arguments)
        return (
            Query(text, where={"tool": failed.tool, "kind": "call"}),
            Query(text, where={"tool": failed.tool, "kind": "pitfall", "error_class": kind}),
        )

    def render(self, hits: Sequence[Hit], question: Question, style: Style) -> Sequence[Part]:
        """First a good call, for an example repairs; then the pitfall, the call's result, and the tool's schema."""
        failed = question.failed
        if failed is None or not hits:
            return ()
        calls = [hit.record for hit in hits if hit.record.body["kind"] == "call"]
        pitfalls = [hit.record for hit in hits if hit.record.body["kind"] == "pitfall"]
        parts = [_call_part(record, style) for record in calls]
        parts += [_pitfall_part(record, style, shown=parts) for record in pitfalls]
        parts += [_result_part(record) for record in calls if record.body["observation"]]  # a log may not tell it
        spec = (style.tools or {}).get(failed.tool)
        if spec is not None and spec.parameters:
            parts.append(Part(_schema(spec)))
        return parts

    def gist(self, record: Record) -> str:
        """The call itself."""
        return f"{record.tool} {dumps(record.body['arguments']).decode()} {record.body.get('error_class', '')}"

    def fault(self, body: Mapping[str, JSON]) -> str | None:
        """A body is a call with its result, or a pitfall with its class of error; both have arguments and tools."""
        if not isinstance(body.get("arguments"), Mapping):
            return "a function record's body needs arguments"
        needed = {"call": ("observation",), "pitfall": ("error", "error_class")}.get(str(body.get("kind")))
        if needed is None:
            return "a function record's body needs the kind call or pitfall"
        missing = [name for name in needed if not isinstance(body.get(name), str)]
        if missing:
            return f"a {body['kind']} needs its {missing[0]}"
        if body["kind"] == "pitfall" and not isinstance(body.get("changed"), list):
            return "a pitfall needs the list of what changed"
        if not isinstance(body.get("between", []), list):
            return "what was called between an error and its repair is a list"
        return fault_in_names(body)


def _schema(spec: ToolSpec) -> str:
    """The arguments of a tool, one a line; as JSON where the schema names no properties."""
    properties, required = spec.parameters.get("properties"), spec.parameters.get("required")
    if not isinstance(properties, Mapping) or not properties:
        return f"The schema of {spec.name}: {dumps(spec.parameters, sort_keys=False).decode()}"
    needed = required if isinstance(required, list) else []
    lines = [f"The arguments of {spec.name}:"]
    for name, schema in properties.items():
        about = schema if isinstance(schema, Mapping) else {}
        kind = ", ".join(
            [str(about.get("type", "any")), *(["required"] if name in needed else []), *_choices(about.get("enum"))]
        )
        lines.append(f"- {name} ({kind}): {about.get('description', '')}".rstrip(": "))
    return "\n".join(lines)


def _choices(enum: JSON) -> list[str]:
    return [f"one of {dumps(enum).decode()}"] if isinstance(enum, list) else []


def _keys(run: Trajectory) -> list[str]:
    """For each call its reasoning, else the turn's text, else the last user text before it, else the instruction.

    The reasoning is the text of the call's own step, or of the step without a call just before it. A nod of the user
    ("Yes, please.") is no text to find anything by.
    """
    keys = []
    last = run.task.instruction
    for turn in run.turns:
        said = (turn.user or "").strip()
        last = said if len(said.split()) >= _LEAST_WORDS else last
        thought = ""
        for step in turn.steps:
            thought = step.text.strip() or thought
            if step.calls:
                keys += [thought or last] * len(step.calls)
                thought = ""
    return keys


def _call_body(call: ToolCall) -> dict[str, JSON]:
    return {
        "kind": "call",
        "arguments": call.arguments,
        "observation": excerpt(call.observation, _OBSERVATION_LENGTH),
        "tools": [call.name],
    }


def _pitfall(repair: Repair, calls: Sequence[ToolCall], key: str, *, written: bool) -> Draft:
    """The failed call, the one that repaired it, and, if that changed nothing itself, what was done in between."""
    failed, *others, repaired = calls
    between = [] if repair.changed else [call for call in others if call.ok][-_MOST_BETWEEN:]
    tools = tuple(dict.fromkeys([repaired.name, *(call.name for call in between)]))
    body: dict[str, JSON] = {
        "kind": "pitfall",
        "error": excerpt(failed.observation, _OBSERVATION_LENGTH),
        "error_class": repair.error_class,
        "changed": list(repair.changed),
        "between": [{"tool": call.name, "arguments": call.arguments} for call in between],
        "arguments": repaired.arguments,
        "tools": list(tools),
    }
    return Draft(key, body, (repair.failed, repair.failed + len(calls) - 1), failed.name, tools, written=written)


def _call_part(record: Record, style: Style) -> Part:
    return Part(f"A call of {record.tool} that worked before:\n{_call(record, style)}", record.id)


def _pitfall_part(record: Record, style: Style, shown: Sequence[Part]) -> Part:
    """What repaired the error; the call only if it is not shown already, for masking makes many calls look alike."""
    changed = record.body["changed"]
    names = join(str(name) for name in changed) if isinstance(changed, list) and changed else ""
    between = _between(record)
    first = join(dict.fromkeys(tool for tool, _ in between))
    how = f"by changing {names}" if names else f"by calling {first} first" if first else "by calling again later"
    error, call = f"The error “{record.body['error_class']}” was repaired before {how}", _call(record, style)
    lines = [render_call(tool, arguments, style.call_format) for tool, arguments in between]
    if lines or not any(call in part.text for part in shown):
        lines.append(call)
    return Part("\n".join([f"{error}:", *lines]) if lines else f"{error}.", record.id)


def _between(record: Record) -> list[tuple[str, Mapping[str, JSON]]]:
    """The calls between an error and its repair; a memory of before knows none."""
    steps = record.body.get("between")
    return [
        (str(step.get("tool")), arguments)
        for step in (steps if isinstance(steps, list) else [])
        if isinstance(step, Mapping) and isinstance(arguments := step.get("arguments"), Mapping)
    ]


def _result_part(record: Record) -> Part:
    return Part(f"The result of that call was: {record.body['observation']}", record.id)


def _call(record: Record, style: Style) -> str:
    arguments = record.body["arguments"]
    assert isinstance(arguments, Mapping)
    return render_call(str(record.tool), arguments, style.call_format)
