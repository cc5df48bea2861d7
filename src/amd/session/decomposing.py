"""A student's model divides a task into labels, by which subtask memory is asked before the task."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from amd.clients.chat import ChatModel
from amd.clients.replies import fit_reply, parse_reply, reply_schema
from amd.errors import ReplyError
from amd.tiers.subtask import LABELS, Labels
from amd.transcript import excerpt

__all__ = ["Decomposer"]

_LONGEST = 6_000  # characters of an instruction
_MOST_TOOLS = 200


class Decomposer:
    """Given to a session as ``decompose``; shared by the sessions of all threads.

    A reply that cannot be used gives no label: the session then asks with the instruction itself. ``asked`` and
    ``failed`` count.

    >>> from amd.testing import LoopbackServer
    >>> with LoopbackServer(chat=['{"labels": ["find the bed", "water it"]}']) as server:
    ...     with ChatModel("stub", base_url=server.url) as model:
    ...         Decomposer(model)("Water the roses.", ["find_bed", "water"])
    ('find the bed', 'water it')
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._schema = reply_schema(Labels)
        self._lock = Lock()
        self.asked = 0
        self.failed = 0

    def close(self) -> None:
        """Close the model's client."""
        self._model.close()

    def __call__(self, instruction: str, tools: Sequence[str]) -> tuple[str, ...]:
        """The labels of a task.

        Raises:
            ClientError: the model's service failed.
        """
        offered = ", ".join(list(tools)[:_MOST_TOOLS]) or "unknown"
        messages = [
            {"role": "system", "content": LABELS.words},
            {"role": "user", "content": f"Tools: {offered}\nThe task: {excerpt(instruction, _LONGEST)}"},
        ]
        completion = self._model.complete(messages, max_tokens=LABELS.room, schema=self._schema)
        with self._lock:
            self.asked += 1
        try:
            return fit_reply(parse_reply(completion.text), Labels).labels
        except ReplyError:
            with self._lock:
                self.failed += 1
            return ()
