"""A model as the writer of records: asked once for each assignment, its reply checked, kept and accounted for.

A reply that cannot be used is answered once with what is wrong with it, one that was cut is asked for again with more
room; then the tier's own rules write that record, and the reason is counted. Nothing of a partial reply is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

from amd.build.journal import Entry, Journal
from amd.build.request import PROMPT_TOKENS, Request, prompts_sha256, request_for
from amd.chat import Message
from amd.clients import Completion
from amd.clients.completion import cost_of
from amd.clients.replies import fit_reply, parse_reply
from amd.errors import BudgetSpent, ClientError, ReplyError
from amd.json_text import JSON, replace_surrogates
from amd.service import OF_THE_REQUEST
from amd.tier import Assignment, Prompt, Reply

__all__ = ["Chat", "ModelWriter", "Remark"]

_MORE_ROOM = 4  # times the room of a reply that was cut
_LONGEST_SHOWN = 4_000  # characters of a faulty reply that the model is shown again
_SERVER_ERROR = 500
_MOST_FAILURES = 5  # requests in a row, retried each, that a server failed: then it is not one run's fault

COSTS = ("requests", "prompt_tokens", "completion_tokens", "seconds", "retries", "repairs", "lengthened")


class Chat(Protocol):
    """What is asked: ``amd.clients.ChatModel``."""

    def complete(
        self, messages: Sequence[Message], *, max_tokens: int, schema: Mapping[str, JSON] | None = None
    ) -> Completion:
        """The model's answer."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """What a report should say of the endpoint."""
        ...


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that a person should know of one run: a prompt that was cut, a record that the rules wrote."""

    task_id: str
    purpose: str
    what: str


class ModelWriter:
    """Writes with a model behind an endpoint; called from several threads.

    Args:
        model: its name, which a memory keeps as who wrote.
        chat: the client.
        prompts: those of the method's tiers.
        journal: keeps finished replies; without one nothing is kept.
        prompt_tokens: the most that a prompt may have, estimated.
        budget: tokens, prompts and replies together, after which nothing more is sent.
        retry_fallbacks: ask again for what the rules wrote in an earlier, unpublished build.

    >>> from amd.testing import run
    >>> from amd.tiers.workflow import INSIGHT
    >>> class Parrot:
    ...     notices = ()
    ...     def complete(self, messages, *, max_tokens, schema=None):
    ...         return Completion(text='{"text": "Look first."}', finish_reason="stop", usage=Usage(40, 9))
    >>> from amd.clients import Usage
    >>> writer = ModelWriter("parrot", Parrot(), [INSIGHT])
    >>> writer.write(Assignment(INSIGHT, run(1))).text, writer.costs["insight.prompt_tokens"]
    ('Look first.', 40)
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
        self.remarks: list[Remark] = []
        self.recalled = 0
        self._chat = chat
        self._journal = journal
        self._prompt_tokens = prompt_tokens
        self._budget = budget
        self._retry_fallbacks = retry_fallbacks
        self._costs: Counter[str] = Counter()
        self._spent = 0
        self._failures = 0
        self._lock = Lock()

    @property
    def costs(self) -> Mapping[str, int | float]:
        """Requests, tokens, seconds, retries, repairs and fallbacks by purpose, those of a resumed build included."""
        with self._lock:
            fallbacks = {f"{name}.fallbacks": count for name, count in self._by_purpose().items()}
            return {name: round(value, 3) for name, value in sorted({**self._costs, **fallbacks}.items())}

    def _by_purpose(self) -> Counter[str]:
        counted: Counter[str] = Counter()
        for name, count in self.fallbacks.items():
            counted[name.partition(".")[0]] += count
        return counted

    def write(self, assignment: Assignment[Reply]) -> Reply | None:
        """The model's reply, or ``None`` if it gave none that can be used.

        Raises:
            BudgetSpent: the budget is spent.
            ClientError: the service cannot be reached, refuses all requests, or fails again and again.
            StoreError: a finished reply could not be kept.
        """
        request = request_for(assignment, self.id, prompt_tokens=self._prompt_tokens)
        entry = self._journal.get(request.key) if self._journal else None
        if entry is None or (entry.reason is not None and self._retry_fallbacks):
            entry = _Asking(self, assignment, request).entry()
            if self._journal and entry.costs.get("requests"):  # a refusal cost nothing, and may not come again
                self._journal.add(entry)
        else:
            with self._lock:
                self.recalled += 1
        self._account(assignment, request, entry)
        return None if entry.reason is not None else fit_reply(entry.reply, assignment.prompt.reply)

    @property
    def notices(self) -> Sequence[str]:
        """What a report should say of the endpoint."""
        return self._chat.notices

    @property
    def unused(self) -> int:
        """Finished replies of an earlier build that nothing of this one asked for; they go with the others."""
        return self._journal.unused if self._journal else 0

    def settle(self) -> None:
        """Take the finished replies out of the journal."""
        if self._journal:
            self._journal.settle()

    def _account(self, assignment: Assignment[Any], request: Request, entry: Entry) -> None:
        purpose, task_id, told = assignment.prompt.purpose, assignment.run.task.task_id, request.told
        with self._lock:
            self.calls[purpose] += 1
            self._costs.update({f"{purpose}.{name}": value for name, value in entry.costs.items()})
            if told.left_out:
                self.remarks.append(Remark(task_id, purpose, f"{told.left_out} calls were not shown to the model"))
            elif told.cut:
                self.remarks.append(Remark(task_id, purpose, f"{told.cut} characters were not shown to the model"))
            if entry.reason is not None:
                self.fallbacks[f"{purpose}.{entry.reason}"] += 1
                self.remarks.append(Remark(task_id, purpose, f"written by rules: {entry.reason}"))

    def send(self, messages: Sequence[Message], room: int, schema: Mapping[str, JSON]) -> Completion:
        """One request within the budget."""
        with self._lock:
            if self._budget is not None and self._spent >= self._budget:
                raise BudgetSpent(
                    f"{self._spent} tokens are spent of a budget of {self._budget}",
                    next_step="finished replies are kept: run the same command with a larger --budget-tokens",
                    spent=self._spent,
                    budget=self._budget,
                )
        try:
            completion = self._chat.complete(messages, max_tokens=room, schema=schema)
        except ClientError as error:
            self._count_failure(error)
            raise
        usage = completion.usage
        with self._lock:
            self._failures = 0
            self._spent += usage.prompt_tokens + usage.completion_tokens
        return completion

    def _count_failure(self, error: ClientError) -> None:
        """Let a server that fails one request fail it; ``ClientError`` for one that fails them all."""
        if error.status in OF_THE_REQUEST:
            return
        with self._lock:
            self._failures += 1
            if self._failures >= _MOST_FAILURES:
                raise ClientError(
                    f"{self._failures} requests in a row failed, the last one so: {error.message}",
                    next_step=error.next_step,
                    url=error.fields.get("url"),
                ) from error


class _Asking:
    """One assignment on its way: at most one more request for a cut reply, and one for a faulty one."""

    def __init__(self, writer: ModelWriter, assignment: Assignment[Any], request: Request) -> None:
        self._writer = writer
        self._assignment = assignment
        self._request = request
        self._costs: Counter[str] = Counter()

    def entry(self) -> Entry:
        """The finished assignment."""
        reply: JSON = None
        reason: str | None = None
        try:
            reply = self._reply()
        except ReplyError as error:
            reason = error.reason
        except ClientError as error:
            self._costs["seconds"] += cost_of(error).seconds  # type: ignore[assignment]  # a counter adds any number
            self._costs["retries"] += max(0, cost_of(error).attempts - 1)
            status = error.status or 0
            if status not in OF_THE_REQUEST and status < _SERVER_ERROR:
                raise
            reason = "refused" if status in OF_THE_REQUEST else "server_error"
        return Entry(self._request.key, self._assignment.prompt.purpose, reply, reason, dict(self._costs))

    def _reply(self) -> JSON:
        messages = list(self._request.messages)
        text = self._send(messages)
        try:
            return self._checked(text)
        except ReplyError as fault:
            self._costs["repairs"] += 1
            messages += [
                {"role": "assistant", "content": text[:_LONGEST_SHOWN] or "(nothing)"},
                {
                    "role": "user",
                    "content": f"That cannot be used: {fault.message}. Answer again, with the JSON alone.",
                },
            ]
        return self._checked(self._send(messages))

    def _send(self, messages: Sequence[Message]) -> str:
        """The model's text, asked for again with more room where it was cut."""
        room = self._assignment.prompt.room
        completion = self._sent(messages, room)
        if completion.finish_reason == "length":
            self._costs["lengthened"] += 1
            completion = self._sent(messages, room * _MORE_ROOM)
            if completion.finish_reason == "length":
                raise ReplyError(
                    f"the reply has more than {room * _MORE_ROOM} tokens",
                    reason="length",
                    next_step="the rules write it",
                )
        return completion.text

    def _sent(self, messages: Sequence[Message], room: int) -> Completion:
        completion = self._writer.send(messages, room, self._request.schema)
        usage = completion.usage
        self._costs.update(
            requests=1,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            retries=usage.attempts - 1,
        )
        self._costs["seconds"] += usage.seconds  # type: ignore[assignment]  # a counter adds any number
        return completion

    def _checked(self, text: str) -> JSON:
        """The reply as it is kept: parsed, masked, of the right shape, and without fault."""
        clean, _ = replace_surrogates(self._assignment.clean(parse_reply(text)))
        reply = fit_reply(clean, self._assignment.prompt.reply)
        fault = self._assignment.fault(reply)
        if fault is not None:
            raise ReplyError(fault, reason="fault")
        return clean
