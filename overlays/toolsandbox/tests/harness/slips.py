"""Slips of a student and of a server, for the player: what it does wrong at first, and how its answers are spelt."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from amd.traces import strip_memory
from amd_toolsandbox.oracle.player import USER

Message: TypeAlias = Mapping[str, Any]
Call: TypeAlias = tuple[str, str]
"""A tool as it is shown, and its arguments as they are written."""

THOUGHT = "The roses need no water today."


@dataclass(frozen=True)
class Slip:
    """What is wrong in one scenario.

    Args:
        first: calls that the agent makes at its first request, and forgets afterwards.
        forever: whether it makes them at each request.
        spelt: what becomes of every other answer, the user's too; it is told how many messages were before it.
    """

    first: Sequence[Call] = ()
    forever: bool = False
    spelt: Callable[[dict, int], dict] = lambda message, _: message


class Slipping:
    """A chat function around a player: scenarios are known by the user's first words, which must be different ones.

    Args:
        player: who answers in the end.
        slips: first words -> what is wrong.

    ``happened`` has the first words of those that were seen on the wire.
    """

    def __init__(self, player: Callable[[Message], dict], slips: Mapping[str, Slip]) -> None:
        self._player, self._slips = player, slips
        self.happened: set[str] = set()

    def __call__(self, request: Message) -> dict:
        """The next message."""
        messages = list(request["messages"])
        texts = [strip_memory(each.get("content") or "")[0].strip() for each in messages]
        # The user was shown examples before, which may be first words too.
        at = max((at for at, text in enumerate(texts) if text in self._slips), default=0)
        slip = self._slips.get(texts[at], Slip())
        if slip.first and request["model"] != USER:
            before = messages[at + 1 :]
            made = sum(each["role"] == "assistant" for each in before)
            if not made or slip.forever:
                self.happened.add(texts[at])
                return _calls(slip.first, made)
            results = next((n for n, each in enumerate(before[1:]) if each["role"] != "tool"), len(before) - 1)
            messages[at + 1 :] = before[1 + results :]
        message = self._player({**request, "messages": messages})
        spelt = slip.spelt(message, len(messages))
        if spelt != message:
            self.happened.add(texts[at])
        return spelt


def _calls(calls: Sequence[Call], made: int) -> dict:
    return {
        "content": None,
        "tool_calls": [
            {"id": f"slip_{made}_{at}", "type": "function", "function": {"name": tool, "arguments": arguments}}
            for at, (tool, arguments) in enumerate(calls)
        ],
    }


def empty_calls(message: dict, _: int) -> dict:
    """A list of no calls beside words, as some servers send it."""
    return {"tool_calls": [], **message}


def thinking(message: dict, _: int) -> dict:
    """What the model thought stands before its words."""
    words = message["content"]
    return {**message, "content": f"<think>\n{THOUGHT}\n</think>\n\n{words}"} if words else message


def ids(name: str) -> Callable[[dict, int], dict]:
    """Every call has such an id; ``{}`` in it is another number each time."""

    def spelt(message: dict, before: int) -> dict:
        calls = [
            {**call, "id": name.format(f"{before:016x}{at:016x}")}
            for at, call in enumerate(message.get("tool_calls") or ())
        ]
        return {**message, "tool_calls": calls} if calls else message

    return spelt


def empty_arguments(message: dict, _: int) -> dict:
    """Where a call has no arguments, not even an empty object is written."""
    calls = [
        {**call, "function": {**call["function"], "arguments": ""}}
        if json.loads(call["function"]["arguments"]) == {}
        else call
        for call in message.get("tool_calls") or ()
    ]
    return {**message, "tool_calls": calls} if calls else message
