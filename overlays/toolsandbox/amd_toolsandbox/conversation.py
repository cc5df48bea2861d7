"""From the messages that the agent could see to turns: each call with its own result, or why that cannot be told.

``amd.traces.read_conversation`` does what every reader must: it strips injected memory and says so, removes think tags
and bounds what arguments may hold. What is the harness's own stands here: which rows are one message of parallel calls,
whose result is whose, and that a call failed if and only if an exception was recorded for it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from amd.errors import TrajectoryError
from amd.traces import Conversation, Turn, read_conversation
from amd_toolsandbox.calls import parse_arguments, parse_code
from amd_toolsandbox.context import Context, Row
from amd_toolsandbox.observations import is_environment_fault, without_addresses

__all__ = ["to_conversation"]


def to_conversation(context: Context) -> Conversation:
    """The conversation of a scenario, as the agent could see it.

    Its notes count, besides those of ``read_conversation``, an ``environment_fault``: a call that failed for want of a
    key or a network, which is left out; an ``unparsable_call`` that failed, which keeps its name and its result; an
    ``unanswered_call`` at the very end, where the harness stopped before it ran.

    Raises:
        TrajectoryError: A message or a call cannot be read, or calls and results cannot be paired.
    """
    reading = _Reading(scrambled=context.scrambled_names)
    for number, row in enumerate(context.rows):
        if row.seen_by("AGENT"):
            reading.add(row, f"message {number}")
    reading.end()
    chat = read_conversation(reading.messages, think=())
    marks = iter(reading.marks)
    turns = tuple(_marked(turn, marks) for turn in chat.turns)
    return Conversation(turns, chat.memory_assisted, reading.notes + Counter(chat.notes))


@dataclass(frozen=True, slots=True)
class _Mark:
    """What a chat message cannot say of a call."""

    ok: bool
    call_id: str | None


def _marked(turn: Turn, marks: Iterator[_Mark]) -> Turn:
    """The turn, each of its calls with the next mark."""
    steps = []
    for step in turn.steps:
        calls = []
        for call in step.calls:
            mark = next(marks)
            calls.append(replace(call, ok=mark.ok, call_id=mark.call_id))
        steps.append(replace(step, calls=tuple(calls)))
    return replace(turn, steps=tuple(steps))


class _Reading:
    """The chat messages so far. Each ``add`` takes one message, ``end`` is said after the last one."""

    def __init__(self, *, scrambled: bool) -> None:
        self.messages: list[Any] = []
        self.marks: list[_Mark] = []
        self.notes: Counter[str] = Counter()
        self._scrambled = scrambled
        self._where = ""
        self._calls: list[Row] = []
        self._results: list[Row] = []

    def add(self, row: Row, where: str) -> None:
        """Take the next message; ``TrajectoryError`` if it stands in the wrong place."""
        match row.way:
            case ("AGENT", "EXECUTION_ENVIRONMENT"):
                if self._results or not self._calls:
                    self._close()
                    self._where = where
                self._calls.append(row)
            case ("EXECUTION_ENVIRONMENT", "AGENT"):
                if not self._calls:
                    raise TrajectoryError(f"{where} is a result, and there is no call before it")
                self._results.append(row)
            case ("USER" | "SYSTEM" | "AGENT" as sender, "AGENT" | "USER" as recipient) if sender != recipient:
                self._close()
                role = {"USER": "user", "SYSTEM": "system", "AGENT": "assistant"}[sender]
                self.messages.append({"role": role, "content": row.text})
            case sender, recipient:
                raise TrajectoryError(f"{where} goes from {sender} to {recipient}")

    def end(self) -> None:
        """Close what is open. The harness may stop after calls and before it runs them."""
        if self._calls and not self._results:
            self.notes["unanswered_call"] += len(self._calls)
            self._calls = []
        self._close()

    def _close(self) -> None:
        """Hand on the calls that are open, with their results in the order of the calls."""
        calls, observations = [], []
        for call, result in _paired(self._calls, self._results, self._where):
            if is_environment_fault(result.tool_call_exception):
                self.notes["environment_fault"] += 1
                continue
            calls.append({"function": self._function(call, result)})
            observations.append({"role": "tool", "content": without_addresses(result.text)})
            self.marks.append(_Mark(result.tool_call_exception is None, call.openai_tool_call_id))
        if calls:
            self.messages += [{"role": "assistant", "content": "", "tool_calls": calls}, *observations]
        self._calls, self._results = [], []

    def _function(self, call: Row, result: Row) -> Mapping[str, str]:
        """The tool's own name and the arguments, as text so that they are held to what JSON can hold."""
        try:
            name, written = parse_code(call.text)
        except ValueError as error:
            raise TrajectoryError(f"{self._where}: {error}") from error
        if not self._scrambled and call.openai_function_name not in (None, name):
            raise TrajectoryError(f"{self._where}: the call of {call.openai_function_name!r} runs {name!r}")
        arguments: Mapping[str, object] = {}
        try:
            arguments = parse_arguments(written)
        except ValueError as error:
            if result.tool_call_exception is None:
                raise TrajectoryError(f"{self._where}: the arguments of {name!r} cannot be read: {error}") from error
            self.notes["unparsable_call"] += 1
        if result.tool_call_exception is None and not _traced(result, name, arguments):
            raise TrajectoryError(f"{self._where}: the result of {name!r} is the trace of another call")
        return {"name": name, "arguments": json.dumps(arguments)}


def _paired(calls: Sequence[Row], results: Sequence[Row], where: str) -> list[tuple[Row, Row]]:
    """The calls of one message of the agent's, each with its own result.

    Some servers give one id to all calls. Then results belong to calls in order, unless one failed: the harness tries
    all orders of parallel calls, and after a failure results come in the order that failed, which nobody wrote down.
    """
    if len(calls) != len(results):
        raise TrajectoryError(f"{where}: {len(calls)} calls and {len(results)} results")
    waiting: dict[tuple[str | None, str | None], list[Row]] = {}
    for result in results:
        waiting.setdefault(_key(result), []).append(result)
    if Counter(map(_key, calls)) != {key: len(rows) for key, rows in waiting.items()}:
        raise TrajectoryError(f"{where}: its calls are {_keys(calls)}, the results those of {_keys(results)}")
    written: dict[tuple[str | None, str | None], set[str]] = {}
    for call in calls:
        written.setdefault(_key(call), set()).add(call.text)
    if any(result.tool_call_exception is not None for result in results) and any(
        len(texts) > 1 for texts in written.values()
    ):
        raise TrajectoryError(f"{where}: its calls share an id, and after a failure their results come in any order")
    return [(call, waiting[_key(call)].pop(0)) for call in calls]


def _key(row: Row) -> tuple[str | None, str | None]:
    return row.openai_tool_call_id, row.openai_function_name


def _keys(rows: Sequence[Row]) -> list[str]:
    return [f"{row.openai_function_name} {row.openai_tool_call_id}" for row in rows]


def _traced(result: Row, name: str, arguments: Mapping[str, object]) -> bool:
    """Whether the harness's trace of a call, where there is one, is of this tool and these arguments."""
    return not result.tool_trace or any(_is_trace(text, name, arguments) for text in result.tool_trace)


def _is_trace(text: str, name: str, arguments: Mapping[str, object]) -> bool:
    try:
        trace = json.loads(text)
    except (ValueError, RecursionError):
        return False
    traced = trace.get("arguments") if isinstance(trace, dict) and trace.get("tool_name") == name else None
    return isinstance(traced, dict) and all(key in traced and traced[key] == arguments[key] for key in arguments)
