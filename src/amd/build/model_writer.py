"""A model as the writer of records: asked once for each assignment, its reply checked, kept and accounted for.

A reply that cannot be used is answered once with what is wrong with it, one that was cut is asked for again with more
room; then the tier's own rules write that record, and the reason is counted. Nothing of a partial reply is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

from amd.build.asking import Asking, checked, why_refused
from amd.build.journal import Entry, Journal
from amd.build.request import PROMPT_TOKENS, Request, prompts_sha256, request_for
from amd.build.working import Told
from amd.chat import Message
from amd.clients.abilities import Abilities
from amd.clients.completion import Completion
from amd.clients.replies import fit_reply
from amd.errors import BudgetSpent, ClientError, ReplyError
from amd.json_text import JSON
from amd.service import OF_THE_REQUEST
from amd.tier import Assignment, Prompt, Reply

__all__ = ["Chat", "ModelWriter", "Remark"]

_MOST_FAILURES = 5  # requests in a row that came to nothing: then it is not one run's fault
_MOST_REFUSALS = 20  # in a row before the first answer: prompts may be too long, or refused for their words, one by one


class Chat(Protocol):
    """What is asked: ``amd.clients.ChatModel``."""

    def probe(self) -> Abilities:
        """What the endpoint takes, found out once."""
        ...

    def complete(
        self, messages: Sequence[Message], *, max_tokens: int, schema: Mapping[str, JSON] | None = None
    ) -> Completion:
        """The model's answer."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """What a report should say of the endpoint."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class Remark:
    """Something that a person should know of one run: a record that the rules wrote, a prompt that was cut."""

    what: str
    task_id: str
    purpose: str


class ModelWriter:
    """Writes with a model behind an endpoint; called from several threads.

    Args:
        model: its name, which a memory keeps as who wrote.
        chat: the client.
        prompts: those of the method's tiers.
        journal: keeps finished replies; without one nothing is kept.
        prompt_tokens: the most that a prompt may have, estimated.
        budget: tokens, prompts and replies together, that this writer may spend. No assignment is begun that might
            exceed it; one that was begun is finished.
        retry_fallbacks: ask again for what the rules wrote in an earlier, unpublished build.

    >>> from amd.testing import LoopbackServer, run
    >>> from amd.clients import ChatModel
    >>> from amd.tiers.workflow import INSIGHT
    >>> with LoopbackServer(chat=['{"text": "Look first."}']) as server, ChatModel("stub", base_url=server.url) as chat:
    ...     writer = ModelWriter("stub", chat, [INSIGHT])
    ...     writer.write(Assignment(INSIGHT, run(1))).text, writer.costs["insight.requests"]
    ('Look first.', 1)
    """

    def __init__(
        self,
        model: str,
        chat: Chat,
        prompts: Sequence[Prompt[Any]],
        *,
        journal: Journal | None = None,
        prompt_tokens: int = PROMPT_TOKENS,
        budget: int | None = None,
        retry_fallbacks: bool = False,
    ) -> None:
        self.id = model
        self.prompts = prompts_sha256(prompts, prompt_tokens=prompt_tokens)
        self.calls: Counter[str] = Counter()
        self.fallbacks: Counter[str] = Counter()
        self.recalled = 0
        self.journal = journal
        self._chat = chat
        self._prompt_tokens = prompt_tokens
        self._budget = budget
        self._retry_fallbacks = retry_fallbacks
        self._remarks: list[Remark] = []
        self._costs: Counter[str] = Counter()
        self._entries: dict[str, Future[Entry]] = {}
        self._spent = 0
        self._reserved = 0
        self._failures = self._refusals = 0
        self._answered = False
        self._probed = False
        self._lock = Lock()

    @property
    def costs(self) -> Mapping[str, int | float]:
        """Requests, tokens, seconds, retries, repairs and fallbacks by purpose, those of a resumed build included."""
        with self._lock:
            found = Counter(self._costs)
            for name, count in self.fallbacks.items():
                found[f"{name.partition('.')[0]}.fallbacks"] += count
        return {name: round(value, 3) for name, value in sorted(found.items())}

    @property
    def remarks(self) -> Sequence[Remark]:
        """What a person should know of single runs, what the rules wrote last."""
        with self._lock:
            return sorted(self._remarks)

    @property
    def notices(self) -> Sequence[str]:
        """What a report should say of the endpoint."""
        return self._chat.notices

    def settle(self) -> None:
        """Take the finished replies out of the journal."""
        if self.journal:
            self.journal.settle()

    def write(self, assignment: Assignment[Reply]) -> Reply | None:
        """The model's reply, or ``None`` if it gave none that can be used.

        Two assignments that are told alike are one question, asked once.

        Raises:
            BudgetSpent: this assignment might exceed the budget.
            ClientError: the service cannot be reached, refuses everything, or fails again and again.
            StoreError: a finished reply could not be kept.
        """
        request = request_for(assignment, self.id, prompt_tokens=self._prompt_tokens)
        with self._lock:
            future = self._entries.get(request.key)
            mine = future is None
            if future is None:
                future = self._entries[request.key] = Future()
        if mine:
            self._answer(assignment, request, future)
        entry = future.result()
        self._account(assignment, request, entry, first=mine)
        return None if entry.reason is not None else fit_reply(entry.reply, assignment.prompt.reply)

    def _answer(self, assignment: Assignment[Any], request: Request, future: Future[Entry]) -> None:
        """Recall or ask; whoever waits for the same answer gets it, or the same error."""
        with Told(future):
            future.set_result(self._entry(assignment, request))
        if future.exception() is not None:
            with self._lock:
                del self._entries[request.key]

    def _entry(self, assignment: Assignment[Any], request: Request) -> Entry:
        kept = self.journal.get(request.key) if self.journal else None
        if kept is not None and self._is_good(kept, assignment):
            with self._lock:
                self.recalled += 1
            return kept
        estimate = self._reserve(request, assignment.prompt.room)
        try:
            self._probe()
            entry = Asking(assignment, request, lambda *asked: self._send(request, *asked)).entry(kept)
        finally:
            with self._lock:
                self._reserved -= estimate
        if self.journal and entry.costs.get("requests"):  # a refusal cost nothing, and may not come again
            self.journal.add(entry)
        return entry

    def _is_good(self, kept: Entry, assignment: Assignment[Any]) -> bool:
        """Whether a kept reply can still be used, or a kept failure still counts."""
        if kept.reason is not None:
            return not self._retry_fallbacks
        try:
            checked(kept.reply, assignment)
        except ReplyError:
            return False
        return True

    def _reserve(self, request: Request, room: int) -> int:
        """Set aside what one request may take; ``BudgetSpent`` if that might exceed the budget."""
        estimate = request.tokens + room
        with self._lock:
            if self._budget is not None and self._spent + self._reserved + estimate > self._budget:
                raise BudgetSpent(
                    f"{self._spent} tokens are spent, {self._reserved + estimate} more may be needed, and the budget "
                    f"of this command is {self._budget}",
                    next_step="finished replies are kept: run the same command again, with a budget for the rest",
                    spent=self._spent,
                    budget=self._budget,
                )
            self._reserved += estimate
        return estimate

    def _probe(self) -> None:
        """Find out what the endpoint takes; an error here is no single run's fault."""
        usage = self._chat.probe().usage
        with self._lock:
            if not self._probed:
                self._probed = True
                self._spent += usage.prompt_tokens + usage.completion_tokens
                self._costs.update({"probe.requests": 1, "probe.prompt_tokens": usage.prompt_tokens})
                self._costs["probe.completion_tokens"] += usage.completion_tokens

    def _send(self, request: Request, messages: Sequence[Message], room: int) -> Completion:
        try:
            completion = self._chat.complete(messages, max_tokens=room, schema=request.schema)
        except ClientError as error:
            self._count_failure(error)
            raise
        usage = completion.usage
        with self._lock:
            self._failures, self._answered = 0, True
            self._spent += usage.prompt_tokens + usage.completion_tokens
        return completion

    def _count_failure(self, error: ClientError) -> None:
        """Let one request fail; ``ClientError`` without a way on where they all do."""
        refused = error.status in OF_THE_REQUEST
        with self._lock:
            self._refusals += refused
            self._failures += not refused
            many = self._failures if not refused else 0 if self._answered else self._refusals
        if many >= (_MOST_REFUSALS if refused else _MOST_FAILURES) and why_refused(error) is not None:
            raise ClientError(
                f"{many} requests in a row came to nothing, the last one so: {error.message}",
                next_step=error.next_step,
                url=error.fields.get("url"),
            ) from error

    def _account(self, assignment: Assignment[Any], request: Request, entry: Entry, *, first: bool) -> None:
        purpose, task_id, told = assignment.prompt.purpose, assignment.run.task.task_id, request.told
        with self._lock:
            self.calls[purpose] += 1
            if first:
                self._costs.update({f"{purpose}.{name}": value for name, value in entry.costs.items()})
            if told.left_out or told.cut:
                lost = f"{told.cut} bytes and {told.left_out} whole calls were not shown to the model"
                self._remarks.append(Remark(lost, task_id, purpose))
            if entry.reason is not None:
                self.fallbacks[f"{purpose}.{entry.reason}"] += 1
                self._remarks.append(Remark(f"written by rules: {entry.reason}: {entry.detail}", task_id, purpose))
