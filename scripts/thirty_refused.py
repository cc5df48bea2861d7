"""What a model wrote where its reply was refused, for the page of scripts/thirty_records.py.

A build keeps nothing of such a reply, and neither does its journal; a reader of the page is to see the words.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any

from amd.build.journal import Journal
from amd.build.model_writer import Chat, ModelWriter
from amd.build.request import Request, request_for
from amd.chat import Message
from amd.clients.completion import Completion
from amd.tier import Assignment, Prompt, Reply


class QuotingWriter(ModelWriter):
    """Writes as any model, and keeps the last text of each reply that was refused.

    ``texts`` has them by the key of what was asked, masked; ``refused`` by task and purpose.
    """

    def __init__(
        self, model: str, chat: Chat, prompts: Sequence[Prompt[Any]], journal: Journal, texts: MutableMapping[str, str]
    ) -> None:
        super().__init__(model, chat, prompts, journal=journal)
        self.texts = texts
        self.refused: dict[tuple[str, str], str] = {}
        self._said: dict[str, str] = {}

    def write(self, assignment: Assignment[Reply]) -> Reply | None:
        """As any model, with the same errors."""
        reply = super().write(assignment)
        key = request_for(assignment, self.id).key
        if reply is None and key in self._said:
            self.texts[key] = str(assignment.clean(self._said[key]))
        if reply is None and key in self.texts:
            self.refused[assignment.run.task.task_id, assignment.prompt.purpose] = self.texts[key]
        return reply

    def _send(self, request: Request, messages: Sequence[Message], room: int) -> Completion:
        completion = super()._send(request, messages, room)
        self._said[request.key] = completion.text
        return completion
