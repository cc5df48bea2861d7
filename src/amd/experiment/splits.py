"""Drawing a split: families into train and test, seeded, and kept as the file that ``amd.exclusion`` reads.

Families with a task of the same instruction stay on one side: such a task is another one's copy under another name.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import orjson

from amd.arms.run_directory import replace_text
from amd.errors import ConfigError
from amd.exclusion import SPLIT_FORMAT, Split, instruction_sha256, read_split
from amd.json_text import digest
from amd.trajectory import Task

__all__ = ["draw_split", "write_split"]


def draw_split(tasks: Iterable[Task], *, test: float, seed: int) -> Split:
    """Draw the test families of one benchmark.

    The order of the draw is that of a hash over the seed and a group's families: it depends on neither the order of
    the tasks nor a library's generator, and a family that is added later moves no other group in it.

    Args:
        tasks: of one benchmark; several of one family are fine.
        test: the share of families to hold out, between 0 and 1. Groups are whole, so it is met as nearly as they
            allow; at least one group stands on each side.
        seed: which draw.

    Raises:
        ConfigError: the share is not between 0 and 1; there is no task, more than one benchmark, or only one group.

    >>> split = draw_split([Task("demo", f"t{n}", f"f{n}", f"Water bed {n}") for n in range(10)], test=0.3, seed=0)
    >>> len(split.train), len(split.test)
    (7, 3)
    """
    if not 0 < test < 1:
        raise ConfigError(
            f"the share of test families is {test}", next_step="give one between 0 and 1, as 0.3", test=test
        )
    known = list(tasks)
    benchmarks = sorted({task.benchmark for task in known})
    if len(benchmarks) != 1:
        raise ConfigError(
            f"the tasks are of {len(benchmarks)} benchmarks: {', '.join(benchmarks) or 'there is no task'}",
            next_step="draw a split from the runs of one benchmark",
            benchmarks=benchmarks,
        )
    groups = sorted(_groups(known), key=lambda group: digest({"seed": seed, "families": [*group]}))
    if len(groups) < 2:
        raise ConfigError(
            f"all {len(groups[0])} families share an instruction or are one, the first is {groups[0][0]!r}",
            next_step="give runs of more tasks",
            families=groups[0],
        )
    held = _taken(groups, test * sum(map(len, groups)))
    return Split(
        benchmarks[0],
        frozenset(family for group in groups[held:] for family in group),
        frozenset(family for group in groups[:held] for family in group),
    )


def write_split(path: Path, split: Split, *, seed: int, test: float) -> bool:
    """Keep a split as a file, with its hash; whether it was written. One that is there already is left as it is.

    Raises:
        ConfigError: the file holds another split, or none.

    >>> from tempfile import TemporaryDirectory
    >>> split = Split("demo", frozenset({"f1"}), frozenset({"f2"}))
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "split.json")
    ...     write_split(path, split, seed=0, test=0.5), write_split(path, split, seed=0, test=0.5)
    (True, False)
    """
    if path.exists():
        there = read_split(path)
        if there.sha256 == split.sha256:
            return False
        raise ConfigError(
            f"{path} holds the split {there.sha256}, drawn now was {split.sha256}",
            next_step="name another file: what was measured with the old one would mean nothing",
            there=there.sha256,
            drawn=split.sha256,
        )
    value = {
        "format": SPLIT_FORMAT,
        "benchmark": split.benchmark,
        "sha256": split.sha256,
        "seed": seed,
        "test_share": test,
        "train": sorted(split.train),
        "test": sorted(split.test),
    }
    replace_text(path, orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n")
    return True


def _groups(tasks: Iterable[Task]) -> list[tuple[str, ...]]:
    """The families joined by equal instructions, over any number of steps; each group sorted."""
    leader: dict[str, str] = {}
    first: dict[str, str] = {}

    def lead(family: str) -> str:
        while leader.setdefault(family, family) != family:
            family = leader[family]
        return family

    for task in tasks:
        own = lead(task.family)
        other = lead(first.setdefault(instruction_sha256(task.instruction), task.family))
        leader[max(own, other)] = min(own, other)
    groups: dict[str, list[str]] = {}
    for family in sorted(leader):
        groups.setdefault(lead(family), []).append(family)
    return [tuple(group) for group in groups.values()]


def _taken(groups: list[tuple[str, ...]], wanted: float) -> int:
    """How many of the first groups come nearest to so many families: one at least, never all."""
    sums = [sum(map(len, groups[:number])) for number in range(len(groups))]
    return min(range(1, len(groups)), key=lambda number: abs(sums[number] - wanted))
