"""From logged turns to the library's own shape, by way of chat messages.

``amd.traces.read_conversation`` does what every reader must: it strips injected memory and says so, removes think tags,
bounds what arguments may hold, judges observations and pairs. What is BFCL's own stands here: who speaks in a turn's
query, what a call's text says, and which part of a prompting model's answer is words.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amd.errors import TrajectoryError
from amd.traces import Conversation, is_error, read_conversation
from amd_bfcl.calls import called_name, parse_call
from amd_bfcl.decode import decode_prompting
from amd_bfcl.inference_log import LoggedStep, LoggedTurn
from amd_bfcl.package import INSTALL

__all__ = ["to_conversation"]

_CLOSE_THINK = "</think>"


def to_conversation(turns: Sequence[LoggedTurn], parameters: Mapping[str, Sequence[str]]) -> Conversation:
    """The conversation of a run, a turn for each logged one; ``parameters`` (tool -> names) may be empty.

    Its notes count, besides those of ``read_conversation``, an ``unparsable_call`` that failed, which keeps its name
    and its result, and an ``undecoded_step``, whose calls the harness could not decode and never ran.

    Raises:
        TrajectoryError: A turn cannot be read.
    """
    notes: Counter[str] = Counter()
    messages: list[Any] = []
    for number, turn in enumerate(turns):
        messages += _query(turn.query)
        for place, step in enumerate(turn.steps):
            notes["undecoded_step"] += not step.calls and _has_calls(step.content)
            messages += _step(step, f"turn {number}, step {place}", parameters, notes)
    chat = read_conversation(messages, think=())
    return Conversation(chat.turns, chat.memory_assisted, notes + Counter(chat.notes))


def _query(query: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The messages that open a turn: what the system says, then all that the user says as one message.

    Agent's messages here are examples that were shown as earlier exchanges, and so are the user's before them.
    """
    yield from ({**message, "content": _parts(message)} for message in query if _role(message) == "system")
    examples = [at for at, message in enumerate(query) if _role(message) == "assistant"]
    own = query[examples[-1] + 1 :] if examples else query
    said = [_parts(message) for message in own if _role(message) == "user" and message.get("content") is not None]
    yield {"role": "user", "content": [part for parts in said for part in parts or ()] if said else None}


def _role(message: Mapping[str, Any]) -> str:
    """Who speaks, in the words of one vendor."""
    role = message.get("role")
    roles = {"developer": "system", "model": "assistant", "system": "system", "user": "user", "assistant": "assistant"}
    if not isinstance(role, str) or role not in roles:
        raise TrajectoryError(f"a message that opens a turn has the role {role!r}")
    return roles[role]


def _parts(message: Mapping[str, Any]) -> list[Any] | None:
    """A content as parts with a type, which some vendors leave out."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if content is None or isinstance(content, list):
        parts = content or []
        return [{"type": "text", **part} if isinstance(part, Mapping) and "text" in part else part for part in parts]
    raise TrajectoryError(f"a message that opens a turn has a {type(content).__name__} as content")


def _step(
    step: LoggedStep, where: str, parameters: Mapping[str, Sequence[str]], notes: Counter[str]
) -> Iterator[Mapping[str, Any]]:
    """The agent's message and the results of its calls."""
    calls = []
    for text, observation in zip(step.calls, step.observations, strict=True):
        try:
            name, arguments = parse_call(text, parameters)
        except ValueError as error:
            name, arguments = called_name(text), {}
            if not is_error(observation if isinstance(observation, str) else json.dumps(observation)):
                raise TrajectoryError(
                    f"{where}: a call of {name!r} cannot be read: {error}",
                    next_step=f"if arguments are positional, install: {INSTALL}",
                ) from error
            notes["unparsable_call"] += 1
        # As text, so that arguments are held to what JSON can hold, like those of any other format.
        calls.append({"function": {"name": name, "arguments": json.dumps(arguments)}})
    words = [text for text in (step.reasoning, _words(step, where)) if text]
    yield {
        "role": "assistant",
        "content": [{"type": "text", "text": text} for text in words],
        **({"tool_calls": calls} if calls else {}),
    }
    yield from ({"role": "tool", "content": observation} for observation in step.observations)


def _has_calls(content: object) -> bool:
    return isinstance(content, Mapping) or (isinstance(content, list) and any(isinstance(i, Mapping) for i in content))


def _words(step: LoggedStep, where: str) -> str:
    """What the agent said in a step, its calls left out: they stand beside it, and text is never a call."""
    content = step.content
    if content is None or isinstance(content, Mapping):
        return ""
    if isinstance(content, str):
        return _without_calls(content, step.calls) if step.calls else content
    if isinstance(content, list) and all(isinstance(item, str | Mapping) for item in content):
        return "\n".join(item for item in content if isinstance(item, str))
    raise TrajectoryError(f"{where} has an answer that is neither text nor a list of texts or calls")


def _without_calls(text: str, calls: Sequence[str]) -> str:
    """The words of a prompting model's answer: its thoughts, and what it says before its calls begin."""
    thoughts, _, answer = text.rpartition(_CLOSE_THINK)
    if _is_call_list(answer):
        return thoughts
    names = "|".join(re.escape(called_name(call)) for call in calls)
    said = re.split(rf"[\[{{<`]|(?:{names})\s*\(", answer, maxsplit=1)[0]
    return "\n".join(filter(None, (thoughts.strip(), said.strip())))


def _is_call_list(text: str) -> bool:
    try:
        return bool(decode_prompting(text))
    except TrajectoryError:  # a sum as an argument: the whole is a list of calls still
        return True
