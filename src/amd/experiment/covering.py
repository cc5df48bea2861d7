"""What one task was shown beside what it needed: its own run's good calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from amd.experiment.calls import ShownCall, calls_in, tools_in
from amd.json_text import dumps
from amd.records import Exposure, Place, Record
from amd.session import Session
from amd.store import Shelf
from amd.tier import Hit, Question, Style, Tier
from amd.trajectory import ToolCall, Trajectory

__all__ = ["Repeat", "TaskCoverage", "cover"]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The calls of the top-1 record, repeated without any model: how many, and how many of them the task's run has.

    Calls are matched one to one: by ``tools``, by tool and argument names (``arguments``), or ``whole``, with values.
    Calls shown before a turn are matched with that turn's own calls, calls shown before the task with those of the
    whole run.
    """

    calls: int
    tools: int
    arguments: int
    whole: int


@dataclass(frozen=True, slots=True)
class TaskCoverage:
    """One task. ``tools`` and ``arguments`` are shares of its ``calls`` (the good ones of its own run), from 0 to 1.

    A call's *tool* is covered if the text that the student has read by then names it, its *arguments* if that text has
    a call of the tool with all of the call's argument names. ``tokens`` and ``records`` count what was shown,
    ``own_family`` how many of these records are of the task's own family.
    """

    task_id: str
    family: str
    calls: int
    tools: float
    arguments: float
    tokens: int
    records: int
    own_family: int
    repeat: Repeat


def cover(session: Session, run: Trajectory, shelves: Mapping[str, Shelf], tiers: Sequence[Tier]) -> TaskCoverage:
    """Walk a run as its student would be shown memory, and count what the text covers.

    Args:
        session: fresh, of the run's task, in the layout ``block``.
        run: with a good call at least.
        shelves: those that the session asks.
        tiers: those of its method, by which its records are read.
    """
    needed: list[list[ToolCall]] = []  # by turn
    tools = arguments = 0
    for text, calls in _read_by_turn(session, run):
        good = [call for call in calls if call.ok]
        named = tools_in(text, {call.name for call in good})
        shown = calls_in(text)
        needed.append(good)
        tools += sum(call.name in named for call in good)
        arguments += sum(_is_shown(call, shown) for call in good)
    total = sum(map(len, needed))
    repeated = _top_calls(session.exposures, run, shelves, {tier.name: tier for tier in tiers})
    return TaskCoverage(
        run.task.task_id,
        run.task.family,
        total,
        tools / total,
        arguments / total,
        sum(exposure.tokens for exposure in session.exposures),
        sum(len(exposure.record_ids) for exposure in session.exposures),
        sum(exposure.own_family for exposure in session.exposures),
        _repeat(repeated, needed),
    )


def _read_by_turn(session: Session, run: Trajectory) -> Iterator[tuple[str, Sequence[ToolCall]]]:
    """For each turn the memory that the student has before it when it acts, and the turn's calls."""
    text = session.before_task(run.task.instruction).text
    for number, turn in enumerate(run.turns):
        if turn.user and session.mode != "static":
            block = session.before_turn(turn.user, number).text
            # In the mode replace an empty answer takes the earlier one out.
            text = block if session.mode == "replace" else f"{text}\n{block}" if block else text
        yield text, turn.calls


def _is_shown(call: ToolCall, shown: Sequence[ShownCall]) -> bool:
    return any(each.tool == call.name and set(call.arguments) <= set(each.arguments) for each in shown)


def _top_calls(
    exposures: Sequence[Exposure], run: Trajectory, shelves: Mapping[str, Shelf], tiers: Mapping[str, Tier]
) -> Mapping[Place, Sequence[ShownCall]]:
    """For each place the calls of the first tier's top-1 record that has any."""
    found: dict[Place, Sequence[ShownCall]] = {}
    for exposure in exposures:
        place = exposure.place
        if place in found or not exposure.record_ids:
            continue
        record = _record(shelves[exposure.tier], exposure.record_ids[0])
        said = run.turns[place].user or "" if isinstance(place, int) else run.task.instruction
        question = Question("turn" if isinstance(place, int) else "task", said)
        parts = tiers[exposure.tier].render([Hit(record, exposure.scores[0])], question, Style("json"))
        calls = calls_in("\n".join(part.text for part in parts))
        if calls:
            found[place] = calls
    return found


def _record(shelf: Shelf, record_id: str) -> Record:
    (row,) = (shelf.columns.ids == record_id.encode()).nonzero()[0]
    return shelf.record(int(row))


def _repeat(repeated: Mapping[Place, Sequence[ShownCall]], needed: Sequence[Sequence[ToolCall]]) -> Repeat:
    def matched(shown: Callable[[ShownCall], Hashable], wanted: Callable[[ToolCall], Hashable]) -> int:
        return _matched(
            {place: [*map(shown, calls)] for place, calls in repeated.items()},
            [[*map(wanted, turn)] for turn in needed],
        )

    return Repeat(
        sum(map(len, repeated.values())),
        matched(lambda call: call.tool, lambda call: call.name),
        matched(
            lambda call: (call.tool, frozenset(call.arguments)), lambda call: (call.name, frozenset(call.arguments))
        ),
        matched(lambda call: (call.tool, dumps(call.arguments)), lambda call: (call.name, dumps(call.arguments))),
    )


def _matched(shown: Mapping[Place, Sequence[Hashable]], needed: Sequence[Sequence[Hashable]]) -> int:
    """How many pairs there are: each turn with what was shown before it, what is left with what the task was shown.

    >>> _matched({0: "ab", "task": "bc"}, ["a", "bbc"])
    3
    >>> _matched({1: "a"}, ["a", "b"])
    0
    """
    pairs, left = 0, Counter[Hashable]()
    for turn, calls in enumerate(needed):
        wanted = Counter(calls)
        found = wanted & Counter(shown.get(turn, ()))
        pairs += found.total()
        left += wanted - found
    before = Counter(call for place, calls in shown.items() if not isinstance(place, int) for call in calls)
    return pairs + (left & before).total()
