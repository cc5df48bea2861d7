"""What a record's words are, and what all records of one run say together.

A record holds four kinds of text. Its *prose* is what a writer found words for. Its *observations* are what tools
answered. Its *calls* are masked. And it quotes the user: as its key, or, if ``rules`` wrote a segment, as its
description. Users' words are kept on purpose, so no check calls them prose.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import merge
from itertools import groupby

from amd.json_text import JSON
from amd.records import Record
from amd.store import Memory, Shelf
from amd.tier import RULES

__all__ = ["Placed", "RunRecords", "observations_of", "prose_of", "run_by_run"]

_FIRST_LINE = 2  # the opening bracket stands in the first
_ANSWER_KEY = re.compile(r"""["']([^\W\d]\w{0,63})["']\s{0,2}:""")
_RULES_PROSE = ("text", "label", "items", "script", "experience")  # of all tiers, whoever wrote them
_DEPTH = 64  # below this no tool's arguments have names


@dataclass(frozen=True, slots=True)
class Placed:
    """A record and its line in its tier's file."""

    record: Record
    line: int


def prose_of(record: Record) -> dict[str, str]:
    """The words of the record's writer, by the member of the body that holds them; of a list, one item a line."""
    written = (*_RULES_PROSE, "description") if record.distiller != RULES.id else _RULES_PROSE
    found = {name: "\n".join(_texts(record.body.get(name))) for name in written}
    return {name: text for name, text in found.items() if text}


def _texts(value: JSON) -> Iterator[str]:
    """A text, or the texts of a list, or those of the members of its objects."""
    if isinstance(value, str):
        yield value
    for item in _items(value):
        yield from map(str, item.values()) if isinstance(item, Mapping) else _texts(item)


def observations_of(record: Record) -> dict[str, list[str]]:
    """What tools answered, by the member of the body that holds it."""
    found = {name: [text] for name in ("observation", "error") if isinstance(text := record.body.get(name), str)}
    several = record.body.get("observations")
    if isinstance(several, list):
        found["observations"] = [text for text in several if isinstance(text, str)]
    return found


class RunRecords:
    """The records of one run, of all tiers, and what they know of it together."""

    def __init__(self, placed: Sequence[Placed]) -> None:
        self.placed = placed

    @cached_property
    def tools(self) -> frozenset[str]:
        """The tools that the run called, as far as its records tell."""
        return frozenset(name for name, _ in self._calls) | frozenset(
            name
            for placed in self.placed
            for name in (placed.record.tool, *_items(placed.record.body.get("tools")))
            if isinstance(name, str)
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of tools, arguments and members of answers: words of the tools' own language."""
        found = {key for _, arguments in self._calls for key, _ in _leaves(arguments)}
        found.update(_ANSWER_KEY.findall(self.observed))
        for placed in self.placed:
            found.update(str(name) for name in _items(placed.record.body.get("changed")))
        return self.tools | found

    @cached_property
    def numbers(self) -> frozenset[int]:
        """The whole numbers that masking kept in the calls."""
        leaves = (leaf for _, arguments in self._calls for _, leaf in _leaves(arguments))
        return frozenset(leaf for leaf in leaves if isinstance(leaf, int) and not isinstance(leaf, bool))

    @cached_property
    def said(self) -> str:
        """What the user said and why calls were made, one text below the other.

        The key of a segment or of a part is left out: it repeats the prose that is to be judged.
        """
        return "\n".join(dict.fromkeys(text for each in self.placed for text in _said(each.record)))

    @cached_property
    def observed(self) -> str:
        """What its tools answered, one answer below the other."""
        texts = (
            text for placed in self.placed for several in observations_of(placed.record).values() for text in several
        )
        return "\n".join(dict.fromkeys(texts))

    @cached_property
    def _calls(self) -> list[tuple[str, Mapping[str, JSON]]]:
        """Each call that a record shows: its tool and its masked arguments."""
        return [call for placed in self.placed for call in _calls(placed.record)]


def _said(record: Record) -> Iterator[str]:
    """The user's words in a record: its key, unless that is prose, and the task that it tells beside it."""
    if "label" not in record.body and "category" not in record.body:
        yield record.key
    task = record.body.get("task")
    if isinstance(task, str):
        yield task


def _calls(record: Record) -> Iterator[tuple[str, Mapping[str, JSON]]]:
    own: dict[str, JSON] = {"tool": record.tool, "arguments": record.body.get("arguments")}
    for call in (own, *_items(record.body.get("calls")), *_items(record.body.get("between"))):
        if isinstance(call, Mapping) and isinstance(arguments := call.get("arguments"), Mapping):
            yield str(call.get("tool") or call.get("name") or ""), arguments


def run_by_run(memory: Memory) -> Iterator[RunRecords]:
    """The records of each run over all shelves, one run at a time.

    A shelf is sorted by family and task, so that two runs are never held at once, however large the memory is.
    """
    streams = (_placed(shelf) for shelf in memory.shelves.values())
    for _, of_task in groupby(merge(*streams, key=_task), _task):
        by_run = defaultdict(list)
        for placed in of_task:
            by_run[placed.record.source.trajectory_sha256].append(placed)
        yield from map(RunRecords, by_run.values())


def _placed(shelf: Shelf) -> Iterator[Placed]:
    return (Placed(record, line) for line, record in enumerate(shelf.records(), _FIRST_LINE))


def _task(placed: Placed) -> tuple[str, str]:
    return placed.record.task.family, placed.record.task.task_id


def _items(value: JSON) -> Sequence[JSON]:
    return value if isinstance(value, list) else ()


def _leaves(value: JSON, name: str = "", depth: int = 0) -> Iterator[tuple[str, JSON]]:
    """Each name below a value, with the scalar that it has or ``None``."""
    if depth > _DEPTH:
        return
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield key, None
            yield from _leaves(member, key, depth + 1)
    elif isinstance(value, list):
        for member in value:
            yield from _leaves(member, name, depth + 1)
    else:
        yield name, value
