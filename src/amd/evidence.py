"""What the values of a run tell, before they are masked: names and positions only, never a value.

Masking hides that the booking used the payment method which the profile listed, and that the second try differed
from the first in one argument. Both are lessons, so they are read off the run first: an argument's *name*, and the
numbers of the calls concerned (from 1, over all calls of the run).

The calls of one step were asked for together, before any of them had answered: none is another's source or repair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from amd.json_text import JSON
from amd.observation import parse
from amd.trajectory import ToolCall, Trajectory, error_class

__all__ = ["Evidence", "Link", "Repair", "find_evidence"]

# A shorter value, or a plain word such as "economy", meets its equal by chance and says nothing about its origin.
_LEAST_LENGTH = 4
_PARTICULAR = re.compile(r"[\d. ]")
# No tool's values are nested deeper.
_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Link:
    """Call ``call`` took ``argument`` from the result of call ``source``; the user had not said it."""

    call: int
    argument: str
    source: int


@dataclass(frozen=True, slots=True)
class Repair:
    """Call ``failed`` came back with an error. ``repaired`` is the good call that mended it, or ``None``.

    That is the next good call of the same tool in a later step: of the same turn, or about the same thing, which at
    least half of the arguments that both calls have say. A later turn's call about another thing mends nothing.
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
    return Evidence(tuple(_links(run)), tuple(_repairs(run)))


def _leaves(value: JSON, name: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Each scalar below a value as text, with the nearest key above it."""
    if isinstance(value, Mapping | list) and depth > _DEPTH:
        return
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from _leaves(member, key, depth + 1)
    elif isinstance(value, list):
        for member in value:
            yield from _leaves(member, name, depth + 1)
    elif value is not None and not isinstance(value, bool):
        yield name, str(value)


def _links(run: Trajectory) -> Iterator[Link]:
    produced: dict[str, int] = {}
    heard = ""
    number = 0
    for turn in run.turns:
        heard += f"\n{turn.user or ''}"
        for step in turn.steps:
            for asking, call in enumerate(step.calls, number + 1):
                yield from (Link(asking, argument, source) for argument, source in _sources(call, produced, heard))
            for call in step.calls:
                number += 1
                for text in _results(call) if call.ok else ():
                    produced.setdefault(text, number)


def _sources(call: ToolCall, produced: Mapping[str, int], heard: str) -> Iterator[tuple[str, int]]:
    """The arguments of a call that an earlier call gave and the user did not, each once."""
    seen: set[str] = set()
    for argument, text in _leaves(call.arguments):
        source = produced.get(text)
        if argument and argument not in seen and source and not _is_said(text, heard):
            seen.add(argument)
            yield argument, source


def _results(call: ToolCall) -> Iterator[str]:
    """The values of an answer that are particular enough to be known again."""
    observed = parse(call.observation)
    for _, text in _leaves(call.observation if observed is None else observed.value):
        if len(text) >= _LEAST_LENGTH and _PARTICULAR.search(text):
            yield text


def _is_said(text: str, heard: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", heard, re.IGNORECASE) is not None


@dataclass(frozen=True, slots=True)
class _Placed:
    """A call with its number, its turn and its step, each counted over the whole run."""

    number: int
    turn: int
    step: int
    call: ToolCall


def _placed(run: Trajectory) -> Iterator[_Placed]:
    number = step = 0
    for turn, made in enumerate(run.turns):
        for part in made.steps:
            step += 1
            for call in part.calls:
                number += 1
                yield _Placed(number, turn, step, call)


def _repairs(run: Trajectory) -> Iterator[Repair]:
    calls = tuple(_placed(run))
    for failed in calls:
        if failed.call.ok:
            continue
        kind = error_class(failed.call.observation, failed.call.arguments)
        repaired = next((later for later in calls[failed.number :] if _repaired(failed, later)), None)
        if repaired is None:
            yield Repair(failed.number, kind)
        else:
            yield Repair(failed.number, kind, repaired.number, _changed(failed.call, repaired.call))


def _repaired(failed: _Placed, later: _Placed) -> bool:
    if not later.call.ok or later.call.name != failed.call.name or later.step == failed.step:
        return False
    return later.turn == failed.turn or _about_the_same(failed.call.arguments, later.call.arguments)


def _about_the_same(one: Mapping[str, JSON], other: Mapping[str, JSON]) -> bool:
    common = [name for name in one if name in other]
    equal = sum(one[name] == other[name] for name in common)
    return 2 * equal >= len(common) > 0 or one == other


def _changed(before: ToolCall, after: ToolCall) -> tuple[str, ...]:
    names = [*before.arguments, *(name for name in after.arguments if name not in before.arguments)]
    missing = object()
    return tuple(name for name in names if before.arguments.get(name, missing) != after.arguments.get(name, missing))
