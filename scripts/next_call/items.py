"""The items of the measurement: one turn of a recorded run, of which a student writes the first call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from amd.json_text import digest
from amd.trajectory import Task, ToolCall, ToolSpec, Trajectory

__all__ = ["Item", "draw", "generator"]


@dataclass(frozen=True, slots=True)
class Item:
    """One turn (from 1) of a run: what the user says in it, and the calls that the run makes."""

    task: Task
    turn: int
    text: str
    calls: tuple[ToolCall, ...]
    tools: tuple[ToolSpec, ...]

    @property
    def name(self) -> str:
        """The task and the turn."""
        return f"{self.task.task_id}:{self.turn}"

    @property
    def right(self) -> ToolCall:
        """The call that is right: the first of the turn."""
        return self.calls[0]


def generator(*words: object) -> np.random.Generator:
    """Random numbers that follow from the words alone."""
    return np.random.default_rng(int(digest(" ".join(map(str, words)).encode())[:16], 16))


def draw(runs: Sequence[Trajectory], count: int, seed: int) -> list[Item]:
    """At most ``count`` items, as many of each family as of any other, give or take one.

    Families take turns in a seeded order, each with a turn of one of its runs that was not drawn before. So the first
    items are the same whatever the count. A turn without words or without a call gives no item, nor does a run that did
    not succeed, whose calls need not be right, or whose offered tools are unknown.
    """
    families: dict[str, list[Item]] = {}
    for run in (run for run in runs if run.outcome.success):
        for number, turn in enumerate(run.turns, 1):
            if turn.user and turn.calls and run.tools:
                item = Item(run.task, number, turn.user, turn.calls, run.tools)
                families.setdefault(run.task.family, []).append(item)
    names = sorted(families)
    rounds: dict[int, list[Item]] = {}
    for family in generator(seed, "families").permutation(names):
        found = families[family]
        for at, place in enumerate(generator(seed, family).permutation(len(found))):
            rounds.setdefault(at, []).append(found[place])
    return [item for at in sorted(rounds) for item in rounds[at]][:count]
