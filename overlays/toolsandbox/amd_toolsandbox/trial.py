"""One scenario on the student's side: what a memory adds to each request of the agent.

Free of the harness, which builds its messages anew for every request: so does this, and since a session answers once
for each place, the bytes of earlier requests never change. The messages given are never changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from amd import FailedCall, Session, Task, ToolSpec, append_hint, prepend_memory, prepend_turn, replace_memory
from amd.arms import OpenArm, RunLog, writes_placeholder
from amd_toolsandbox.families import BENCHMARK, family
from amd_toolsandbox.observations import is_environment_fault, without_addresses

__all__ = ["Message", "Trial"]

Message: TypeAlias = Mapping[str, Any]
"""A message of an OpenAI chat as the harness makes it."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call with its result: ``exception`` is what the harness recorded, ``None`` if the call went well."""

    tool: str
    arguments: Mapping[str, Any]
    reasoning: str
    exception: str | None


class Trial:
    """Used by one thread, from the first request of a scenario to the last.

    Args:
        scenario: its name, which the agent itself is never told.
        opened: the arm, open.
        real_name: a tool's real name by the name that is offered; some scenarios scramble them.

    Raises:
        ConfigError: the scenario is none of the benchmark's.
    """

    def __init__(self, scenario: str, opened: OpenArm, real_name: Callable[[str], str] = str) -> None:
        self.scenario = scenario
        self._opened = opened
        self._real_name = real_name
        self._task: Task | None = None
        self._session: Session | None = None
        self._shown_names: dict[str, str] = {}
        self._calls: dict[int, _Call] = {}
        self._hinted: set[int] = set()
        self._blocks: list[str] = []

    def request(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], exceptions: Sequence[str | None]
    ) -> list[Message]:
        """The messages of one request with memory; the same objects where there is none.

        Args:
            messages: all that the agent can see so far.
            tools: what it is offered, as OpenAI functions.
            exceptions: for each tool message, what the harness recorded of a failed call, or ``None``.
        """
        if self._task is None:
            self._begin(messages, tools)
        shown = self._with_hints(messages, exceptions)
        return shown if self._session is None else self._with_memory(shown, self._session)

    def log(self) -> RunLog | None:
        """What this scenario was shown so far; ``None`` before its first request."""
        if self._task is None:
            return None
        return RunLog.of(
            self._opened,
            self._task,
            self._session,
            calls=len(self._calls),
            failed_calls=sum(call.exception is not None for call in self._calls.values()),
            hints=len(self._hinted),
            placeholders=sum(writes_placeholder(call.arguments) for call in self._calls.values()),
            system_changes=sum(a != b for a, b in zip(self._blocks, self._blocks[1:], strict=False)),
        )

    def _begin(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> None:
        own_family = family(self.scenario)
        assert own_family is not None  # the harness itself knows the scenario
        instruction = next((str(each["content"]) for each in messages if each["role"] == "user"), "")
        self._task = Task(BENCHMARK, self.scenario, own_family, instruction)
        functions = [tool["function"] for tool in tools]
        self._shown_names = {self._real_name(each["name"]): each["name"] for each in functions}
        specs = [
            ToolSpec(self._real_name(each["name"]), each.get("description") or "", each.get("parameters") or {})
            for each in functions
        ]
        self._session = self._opened.session(self._task, tools=specs, call_format="json")

    def _with_memory(self, messages: list[Message], session: Session) -> list[Message]:
        assert self._task is not None
        task = self._named(session.before_task(self._task.instruction))
        shown: list[Message] = []
        turn = -1
        block = None
        for message in messages:
            if message["role"] != "user":
                shown.append(message)
                continue
            turn += 1
            block = self._named(session.before_turn(str(message["content"]), turn))
            if session.mode == "replace" and turn == len(self._blocks):
                self._blocks.append(block.text)
            shown += [message] if session.mode == "replace" else prepend_turn([message], block)
        if session.mode == "replace" and block is not None:
            return replace_memory(shown, block)
        return prepend_memory(shown, task)

    def _with_hints(self, messages: Sequence[Message], exceptions: Sequence[str | None]) -> list[Message]:
        shown: list[Message] = []
        pending: list[Mapping[str, Any]] = []
        said = reasoning = ""
        results = 0
        for message in messages:
            if message["role"] == "user":
                said = str(message["content"])
            elif message["role"] == "assistant":
                pending = list(message.get("tool_calls") or ())
                reasoning = str(message.get("content") or "")
            elif message["role"] == "tool":
                call = self._called(_take(pending, message), reasoning, exceptions[results])
                self._calls.setdefault(results, call)
                message = self._hint(message, call, results, said)  # noqa: PLW2901 - the one that is shown
                results += 1
            shown.append(message)
        return shown if self._session is not None else list(messages)

    def _hint(self, message: Message, call: _Call, place: int, said: str) -> Message:
        if call.exception is None or self._session is None or is_environment_fault(call.exception):
            return message
        failed = FailedCall(
            call.tool,
            call.arguments,
            without_addresses(str(message["content"])),
            reasoning=call.reasoning,
            turn_text=said,
            place=str(place),
        )
        block = self._named(self._session.after_error(failed))
        if block:
            self._hinted.add(place)
        return {**message, "content": append_hint(str(message["content"]), block)} if block else message

    def _called(self, request: Mapping[str, Any] | None, reasoning: str, exception: str | None) -> _Call:
        function = request["function"] if request else {"name": "", "arguments": ""}
        try:
            arguments = json.loads(function["arguments"])
        except ValueError:
            arguments = {}
        tool = self._real_name(function["name"]) if function["name"] else ""
        return _Call(tool, arguments if isinstance(arguments, dict) else {}, reasoning, exception)

    def _named(self, block: Any) -> Any:  # noqa: ANN401 - a block of the library
        """The block with tools by the names that this scenario offers them under."""
        other = {real: shown for real, shown in self._shown_names.items() if real != shown}
        if not other or not block:
            return block
        pattern = re.compile(rf"\b({'|'.join(map(re.escape, sorted(other, key=len, reverse=True)))})\b")

        def renamed(text: str) -> str:
            return pattern.sub(lambda match: other[match[1]], text)

        examples = tuple((renamed(user), renamed(assistant)) for user, assistant in block.examples)
        return replace(block, text=renamed(block.text), examples=examples)


def _take(pending: list[Mapping[str, Any]], result: Message) -> Mapping[str, Any] | None:
    """The call that a result belongs to, taken out: by its id and tool, else the first that waits; ids may repeat."""
    own = (result.get("tool_call_id"), result.get("name"))
    at = next((at for at, call in enumerate(pending) if (call.get("id"), call["function"]["name"]) == own), 0)
    return pending.pop(at) if pending else None
