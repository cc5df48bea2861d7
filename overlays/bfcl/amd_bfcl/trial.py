"""One task's run on the student's side: what a memory adds to a turn's messages and to the results of failed calls.

Free of the harness. A handler gives it messages, calls and results, and gets new ones back; what is given is never
changed, so the harness's own log keeps what the benchmark said. Without a session everything comes back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from amd import FailedCall, Session, append_hint, prepend_memory, prepend_turn, replace_memory
from amd.arms import CallFormat, Message, OpenArm, RunLog, writes_placeholder
from amd.traces import is_error
from amd_bfcl.calls import called_name, parse_call
from amd_bfcl.tasks import Entry

__all__ = ["Message", "Trial"]

_QUOTED = re.compile(r"""(['"])((?:\\.|(?!\1)[^\\])*)\1""", re.DOTALL)


class Trial:
    """Used by one thread, from the first message to the last result.

    Args:
        entry: the task as the benchmark has it.
        opened: the arm, open.
        call_format: how the student writes calls: ``json`` for function calling, ``python`` for prompting.
    """

    def __init__(self, entry: Entry, opened: OpenArm, call_format: CallFormat) -> None:
        self._entry = entry
        self._opened = opened
        self._tools = entry.tools
        self._session: Session | None = opened.session(entry.task, tools=entry.tools, call_format=call_format)
        self._turn = 0
        self._step = 0
        self._said = entry.task.instruction
        self._system = ""
        self._counts = dict.fromkeys(("calls", "failed_calls", "hints", "placeholders", "system_changes"), 0)

    def first_turn(self, messages: list[Message]) -> list[Message]:
        """The messages of the first turn, the memory for the task and for the turn among them."""
        if self._session is None:
            return messages
        task = self._session.before_task(self._entry.task.instruction)
        turn = self._session.before_turn(self._said, 0)
        if self._session.mode == "replace":
            self._system = turn.text
            return replace_memory(messages, turn)
        # The turn's part first: with examples as earlier messages, the first user message would be one of theirs.
        return prepend_memory(prepend_turn(messages, turn), task)

    def next_turn(self, history: list[Any], messages: list[Message]) -> tuple[list[Any], list[Message]]:
        """The history and the next turn's messages. The history changes in the mode ``replace`` alone.

        In a turn in which tools arrive, the words are the harness's own: what the user still wants is what was said
        last.
        """
        self._turn, self._step = self._turn + 1, 0
        self._said = self._entry.users[self._turn] or self._said
        arriving = self._entry.later.get(self._turn, ())
        self._tools += arriving
        if self._session is None:
            return history, messages
        if arriving:
            self._session.offer_tools(self._tools)
        block = self._session.before_turn(self._said, self._turn)
        if self._session.mode != "replace":
            return history, prepend_turn(messages, block)
        self._counts["system_changes"] += block.text != self._system
        self._system = block.text
        return replace_memory(history, block), messages

    def hinted(self, calls: Sequence[str], results: Sequence[str], reasoning: str = "") -> list[str]:
        """The results of one step, each failed one with its hint.

        Args:
            calls: as the harness runs them, ``cd(folder='x')``.
            results: what they answered, one each.
            reasoning: what the student said before it called.
        """
        shown = [
            self._hinted(call, result, f"{self._turn}.{self._step}.{index}", reasoning)
            for index, (call, result) in enumerate(zip(calls, results, strict=True))
        ]
        self._step += 1
        return shown

    def _hinted(self, call: str, result: str, place: str, reasoning: str) -> str:
        tool, arguments = _read(call)
        self._counts["calls"] += 1
        self._counts["placeholders"] += writes_placeholder(arguments)
        if not is_error(result):
            return result
        self._counts["failed_calls"] += 1
        if self._session is None:
            return result
        failed = FailedCall(tool, arguments, result, reasoning=reasoning, turn_text=self._said, place=place)
        block = self._session.after_error(failed)
        self._counts["hints"] += bool(block)
        return append_hint(result, block)

    @property
    def answered(self) -> bool:
        """Whether the student has answered at all."""
        return self._turn > 0 or self._step > 0

    def log(self) -> RunLog:
        """What this run was shown so far, and how often its calls failed."""
        return RunLog.of(self._opened, self._entry.task, self._session, **self._counts)


def _read(call: str) -> tuple[str, dict[str, Any]]:
    """Name and arguments of a call.

    Of one that cannot be read, the name that it begins with and its quoted texts: a hint must not repeat those either.
    """
    try:
        return parse_call(call, {})
    except ValueError:
        return called_name(call), {"": [quoted[2] for quoted in _QUOTED.finditer(call)]}
