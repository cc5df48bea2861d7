"""What the values of a run tell, before they are masked: names and positions only, never a value.

Masking hides that the booking used the payment method which the profile listed, and that the second try differed
from the first in one argument. Both are lessons, so they are read off the run first: an argument's *name*, and the
numbers of the calls concerned (from 1, over all calls of the run).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from amd.json_text import JSON, loads
from amd.trajectory import ToolCall, Trajectory, error_class

__all__ = ["Evidence", "Link", "Repair", "find_evidence"]

# A shorter value, or a plain word such as "economy", meets its equal by chance and says nothing about its origin.
_LEAST_LENGTH = 4
_PARTICULAR = re.compile(r"[\d. ]")


@dataclass(frozen=True, slots=True)
class Link:
    """Call ``call`` took ``argument`` from the result of call ``source``; the user had not said it."""

    call: int
    argument: str
    source: int


@dataclass(frozen=True, slots=True)
class Repair:
    """Call ``failed`` came back with an error. ``repaired`` is the next good call of the same tool, or ``None``.

    ``changed`` names the arguments that the repair added, dropped or gave another value.
    """

    failed: int
    error_class: str
    repaired: int | None = None
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The links and the failed calls of one run, in the order of the calls."""

    links: tuple[Link, ...] = ()
    repairs: tuple[Repair, ...] = ()


def find_evidence(run: Trajectory) -> Evidence:
    """The evidence of a run as it was read, not masked."""
    return Evidence(tuple(_links(run)), tuple(_repairs(run.calls)))


def _leaves(value: JSON, name: str = "") -> Iterator[tuple[str, str]]:
    """Each scalar below a value as text, with the nearest key above it."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from _leaves(member, key)
    elif isinstance(value, list):
        for member in value:
            yield from _leaves(member, name)
    elif value is not None and not isinstance(value, bool):
        yield name, str(value)


def _parsed(observation: str) -> JSON:
    try:
        return loads(observation)
    except ValueError:
        pass
    try:
        value = ast.literal_eval(observation)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return observation
    return value if isinstance(value, dict | list) else observation


def _links(run: Trajectory) -> Iterator[Link]:
    produced: dict[str, int] = {}
    said: list[str] = []
    number = 0
    for turn in run.turns:
        said.append(turn.user or "")
        for call in turn.calls:
            number += 1
            heard = "\n".join(said)
            seen: set[str] = set()
            for argument, text in _leaves(call.arguments):
                source = produced.get(text)
                if argument and argument not in seen and source and not _is_said(text, heard):
                    seen.add(argument)
                    yield Link(number, argument, source)
            if call.ok:
                for _, text in _leaves(_parsed(call.observation)):
                    if len(text) >= _LEAST_LENGTH and _PARTICULAR.search(text):
                        produced.setdefault(text, number)


def _is_said(text: str, heard: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", heard, re.IGNORECASE) is not None


def _repairs(calls: tuple[ToolCall, ...]) -> Iterator[Repair]:
    for number, call in enumerate(calls, start=1):
        if call.ok:
            continue
        later = enumerate(calls[number:], start=number + 1)
        repaired = next(((n, c) for n, c in later if c.ok and c.name == call.name), None)
        if repaired is None:
            yield Repair(number, error_class(call.observation))
        else:
            yield Repair(number, error_class(call.observation), repaired[0], _changed(call, repaired[1]))


def _changed(before: ToolCall, after: ToolCall) -> tuple[str, ...]:
    names = [*before.arguments, *(name for name in after.arguments if name not in before.arguments)]
    missing = object()
    return tuple(name for name in names if before.arguments.get(name, missing) != after.arguments.get(name, missing))
