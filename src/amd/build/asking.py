"""One assignment on its way to a model: asked once, mended once, and never half kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from amd.build.journal import Entry
from amd.build.request import LARGEST_ROOM, Request
from amd.chat import Message
from amd.clients.completion import Completion, cost_of
from amd.clients.replies import fit_reply, parse_reply
from amd.errors import ClientError, ReplyError
from amd.json_text import JSON, replace_surrogates
from amd.service import OF_THE_REQUEST
from amd.tier import Assignment
from amd.transcript import excerpt

__all__ = ["Asking", "Send", "checked", "why_refused"]

Send: TypeAlias = Callable[[Sequence[Message], int], Completion]
"""(messages, tokens that the reply may take) -> the answer; ``ClientError`` if there is none."""

_MORE_ROOM = 4  # times the room of a reply that was cut
_LONGEST_SHOWN = 2_000  # characters of a faulty reply that the model is shown again
_LONGEST_DETAIL = 300  # characters
_SERVER_ERROR = 500
_ANSWERED = 200


class Asking:
    """At most one more request for a reply that was cut, and one for a reply that is faulty."""

    def __init__(self, assignment: Assignment[Any], request: Request, send: Send) -> None:
        self._assignment = assignment
        self._request = request
        self._send = send
        self._costs: Counter[str] = Counter()

    def entry(self, before: Entry | None = None) -> Entry:
        """The finished assignment; what was paid ``before`` for a reply that could not be used is counted with it.

        Raises:
            ClientError: the service is gone, or refuses everything.
        """
        if before is not None:
            self._costs.update(before.costs)
        reply: JSON = None
        reason: str | None = None
        detail = ""
        try:
            reply = self._reply()
        except ReplyError as error:
            reason, detail = error.reason, error.message
        except ClientError as error:
            self._costs["seconds"] += cost_of(error).seconds  # type: ignore[assignment]  # a counter adds any number
            self._costs["retries"] += max(0, cost_of(error).attempts - 1)
            reason = why_refused(error)
            if reason is None:
                raise
            detail = str(error.fields.get("said") or error.message)
        purpose = self._assignment.prompt.purpose
        return Entry(self._request.key, purpose, reply, reason, dict(self._costs), excerpt(detail, _LONGEST_DETAIL))

    def _reply(self) -> JSON:
        messages = list(self._request.messages)
        text = self._whole(messages)
        try:
            return checked(parse_reply(text), self._assignment)
        except ReplyError as fault:
            self._costs["repairs"] += 1
            wrong = excerpt(fault.message, _LONGEST_DETAIL)
            messages += [
                {"role": "assistant", "content": text[:_LONGEST_SHOWN] or "(nothing)"},
                {"role": "user", "content": f"That cannot be used: {wrong}. Answer again, with the JSON alone."},
            ]
        return checked(parse_reply(self._whole(messages)), self._assignment)

    def _whole(self, messages: Sequence[Message]) -> str:
        """The model's text, asked for again with more room where it was cut."""
        room = self._assignment.prompt.room
        completion = self._sent(messages, room)
        if completion.finish_reason == "length":
            self._costs["lengthened"] += 1
            room = min(room * _MORE_ROOM, LARGEST_ROOM)
            completion = self._sent(messages, room)
            if completion.finish_reason == "length":
                raise ReplyError(f"the reply has more than {room} tokens", reason="length")
        return completion.text

    def _sent(self, messages: Sequence[Message], room: int) -> Completion:
        completion = self._send(messages, room)
        usage = completion.usage
        self._costs.update(
            requests=1,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            retries=usage.attempts - 1,
        )
        self._costs["seconds"] += usage.seconds  # type: ignore[assignment]  # as above
        return completion


def checked(value: JSON, assignment: Assignment[Any]) -> JSON:
    """The reply as it is kept: masked, of the right shape, and without fault; ``ReplyError`` if it is not."""
    clean, _ = replace_surrogates(assignment.clean(value))
    fault = assignment.fault(fit_reply(clean, assignment.prompt.reply))
    if fault is not None:
        raise ReplyError(fault, reason="fault")
    return clean


def why_refused(error: ClientError) -> str | None:
    """Why one request failed that another might not; ``None`` if the service is gone or refuses everything."""
    if error.status in OF_THE_REQUEST:
        return "refused"
    if error.status == _ANSWERED:
        return "no_completion"
    if "timeout" in error.fields:
        return "timeout"
    return "server_error" if (error.status or 0) >= _SERVER_ERROR else None
