"""What a chat model answered, as a value: the words, the calls, why it stopped, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amd.chat import LONGEST_WORDS, estimated_tokens
from amd.errors import ClientError
from amd.json_text import JSON, dumps, loads, replace_surrogates

__all__ = ["Completion", "RawCall", "Usage", "cost_of", "read_completion"]

_MOST_TOKENS = 100_000_000  # of one request: more is no count


@dataclass(frozen=True, slots=True)
class Usage:
    """What one or more requests cost.

    ``attempts`` counts the requests that were sent, retries included; ``seconds`` is the time from the first of them to
    the answer, waits included. ``estimated`` says that a server left tokens out, and UTF-8 bytes divided by three stand
    for them.

    >>> Usage(100, 20, 0.5) + Usage(10, 2, 0.25, attempts=2)
    Usage(prompt_tokens=110, completion_tokens=22, seconds=0.75, attempts=3, estimated=False)
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    attempts: int = 1
    estimated: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.seconds + other.seconds,
            self.attempts + other.attempts,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class RawCall:
    """A tool call as the model wrote it: nobody has checked that ``arguments`` is JSON, or that the tool exists.

    >>> RawCall("ls", '{"folder": "reports"}').call_id
    ''
    """

    name: str
    arguments: str
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer. ``text`` holds no reasoning that the server keeps apart; ``finish_reason`` is the server's word.

    ``length`` there means that the answer was cut off: nothing of it should be kept. Lone surrogates were replaced.

    >>> Completion("Yes.", "stop", Usage(12, 2)).tool_calls
    ()
    """

    text: str
    finish_reason: str
    usage: Usage
    tool_calls: tuple[RawCall, ...] = ()


def cost_of(error: ClientError) -> Usage:
    """What a request cost that a service refused or failed on: time and attempts, for nobody tells its tokens."""
    attempts, seconds = error.fields.get("attempts", 0), error.fields.get("seconds", 0.0)
    assert isinstance(attempts, int)
    assert isinstance(seconds, float)
    return Usage(seconds=seconds, attempts=attempts)


def read_completion(body: str, prompt: JSON, *, seconds: float, attempts: int) -> Completion:
    """The first choice in the body of an answer to a chat request.

    Args:
        body: JSON text.
        prompt: what was sent of messages and tools, for an estimate if the server does not count.
        seconds: for the usage.
        attempts: for the usage.

    Raises:
        ValueError: it is no chat completion; the message has the server's own words, if it sent some.
    """
    value, _ = replace_surrogates(loads(body, lenient=True))
    top = value if isinstance(value, Mapping) else {}
    choices = top.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        error = top.get("error")  # some servers say so with the status 200
        said = error.get("message") if isinstance(error, Mapping) else error
        raise ValueError(str(said or "there is no message in it")[:LONGEST_WORDS])  # noqa: TRY004 - the text that was given is at fault
    text, calls = _text(message.get("content")), _calls(message.get("tool_calls"))
    thought = _text(message.get("reasoning_content") or message.get("reasoning"))
    said = f"{thought}{text}{''.join(call.name + call.arguments for call in calls)}"
    usage = _usage(top.get("usage"), prompt, said, seconds=seconds, attempts=attempts)
    return Completion(text, str(choice.get("finish_reason") or ""), usage, calls)


def _text(content: JSON) -> str:
    """Content as text: a string, or the parts of a list that are text."""
    if isinstance(content, list):
        parts = (part for part in content if isinstance(part, Mapping) and part.get("type") == "text")
        return "".join(str(part.get("text") or "") for part in parts)
    return content if isinstance(content, str) else ""


def _calls(calls: JSON) -> tuple[RawCall, ...]:
    found = []
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(call, Mapping) or not isinstance(function, Mapping) or not function.get("name"):
            raise ValueError("a tool call in it has no name")
        arguments = function.get("arguments")
        # Some servers send an object where the protocol has its text.
        written = arguments if isinstance(arguments, str) else dumps(arguments or {}, sort_keys=False).decode()
        found.append(RawCall(str(function["name"]), written, str(call.get("id") or "")))
    return tuple(found)


def _usage(usage: JSON, prompt: JSON, said: str, *, seconds: float, attempts: int) -> Usage:
    """The server's own figures; an estimate for each that is missing, or that no request can have."""
    figures = usage if isinstance(usage, Mapping) else {}
    asked = _tokens(figures.get("prompt_tokens"), at_least=1)
    answered = _tokens(figures.get("completion_tokens"), at_least=min(1, len(said)))
    return Usage(
        estimated_tokens(dumps(prompt).decode()) if asked is None else asked,
        estimated_tokens(said) if answered is None else answered,
        seconds,
        attempts,
        estimated=asked is None or answered is None,
    )


def _tokens(figure: JSON, *, at_least: int) -> int | None:
    """A count of tokens, if it is one: budgets and bills are made of it."""
    whole = isinstance(figure, int) and not isinstance(figure, bool)
    return figure if whole and at_least <= figure <= _MOST_TOKENS else None  # type: ignore[operator,return-value]
