"""Offline evaluation: what a memory would have shown to recorded tasks, against what their own runs did. No student.

It tells whether retrieval brings what a task needs, for how many tokens, and whether that beats chance. It does not
tell whether a student makes use of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from amd.arms.words import ArmProtocol
from amd.baselines.asked import Drawn
from amd.errors import ConfigError
from amd.exclusion import Split, Viewer, cross_split, in_sample, self_excluded
from amd.experiment.covering import TaskCoverage, cover
from amd.experiment.repairs import ErrorHint, RecordedError, hints_for, recorded_errors
from amd.experiment.rows import CoverageRow
from amd.methods import method_named
from amd.session import Limits, Session
from amd.session.budget import DEFAULT_LIMITS
from amd.session.terms import Mode, serves
from amd.store import Memory
from amd.tier import Tier
from amd.trajectory import Task, Trajectory

__all__ = ["Recorded", "coverage", "recorded", "viewer_of"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recorded runs that an evaluation is made of.

    ``runs`` have a good call each: they say what their tasks need. ``errors`` are runs with errors whose repair they
    know, whatever their outcome. ``without_call``, ``not_held_out`` and ``beyond_limit`` count successes left out.
    """

    runs: tuple[Trajectory, ...]
    errors: tuple[tuple[Trajectory, tuple[RecordedError, ...]], ...]
    without_call: int = 0
    not_held_out: int = 0
    beyond_limit: int = 0


def recorded(
    admitted: Sequence[Trajectory], read: Sequence[Trajectory], *, split: Split | None = None, limit: int | None = None
) -> Recorded:
    """What can be asked of recorded runs.

    Args:
        admitted: successes, one a task (``amd.build.admit``): a failed run does not say what its task needs.
        read: all runs; their errors count.
        split: take its test families alone, for every protocol, so that the rows are of the same tasks.
        limit: take only the first so many of the successes, and only the errors of their tasks.
    """
    held_out = [run for run in admitted if split is None or run.task.family in split.test]
    with_call = [run for run in held_out if any(call.ok for call in run.calls)]
    runs = tuple(with_call[:limit])
    tasks = {run.task.task_id for run in runs}
    errors = (
        (run, recorded_errors(run))
        for run in read
        if (split is None or run.task.family in split.test) and (limit is None or run.task.task_id in tasks)
    )
    return Recorded(
        runs,
        tuple((run, found) for run, found in errors if found),
        without_call=len(held_out) - len(with_call),
        not_held_out=len(admitted) - len(held_out),
        beyond_limit=len(with_call) - len(runs),
    )


def coverage(
    of: Recorded,
    memory: Memory,
    *,
    method: str,
    protocol: ArmProtocol,
    split: Split | None = None,
    mode: Mode = "static",
    limits: Limits = DEFAULT_LIMITS,
    draws: int = 1,
    seed: int = 0,
    progress: Callable[[], None] | None = None,
) -> CoverageRow:
    """One method under one protocol, through the same session that a student would have.

    Args:
        of: the recorded runs.
        memory: open; for ``cross-split`` one that was built with the split.
        method: a name that ``amd.methods`` knows.
        protocol: who may see what.
        split: what ``cross-split`` holds out.
        mode: when subtask memory is asked.
        limits: tokens for each tier.
        draws: how often each task is shown as many records drawn at random, under the same viewer and limits.
        seed: of these draws.
        progress: called after each run.

    Raises:
        ConfigError: no run is left; the method, the memory and the protocol contradict each other.
        LeakageError: ``cross-split`` with a memory that holds more than train families.
    """
    if not of.runs:
        raise ConfigError(
            f"no task is left to evaluate: {of.without_call} runs without a good call, "
            f"{of.not_held_out} of families that are not held out",
            next_step="give successful runs of the split's test families" if of.not_held_out else "give other runs",
        )
    asking = _Asking(memory, method_named(method).tiers, protocol, split, mode, limits)
    real: tuple[list[TaskCoverage], list[ErrorHint]] = ([], [])
    chance: tuple[list[TaskCoverage], list[ErrorHint]] = ([], [])
    for draw in (None, *range(draws)):
        tasks, hints = real if draw is None else chance
        for run in of.runs:
            tasks.append(cover(asking.session(run, _seed(seed, draw)), run, memory.shelves, asking.tiers))
            if progress:
                progress()
        hints += asking.hints(of, _seed(seed, draw))
    return CoverageRow(method, protocol, draws, tuple(real[0]), tuple(chance[0]), tuple(real[1]), tuple(chance[1]))


def _seed(seed: int, draw: int | None) -> int | None:
    return None if draw is None else 1000 * seed + draw


class _Asking:
    """Sessions of one row: the method's own tiers, or the same ones with random records."""

    def __init__(
        self,
        memory: Memory,
        tiers: tuple[Tier, ...],
        protocol: ArmProtocol,
        split: Split | None,
        mode: Mode,
        limits: Limits,
    ) -> None:
        self.tiers = tiers
        self._memory = memory
        self._protocol = protocol
        self._split = split
        self._mode = mode
        self._limits = limits

    def session(self, run: Trajectory, seed: int | None) -> Session:
        """The session of one run; with a seed, one that shows random records."""
        viewer = viewer_of(run.task, self._protocol, self._split)
        tiers = self.tiers if seed is None else tuple(Drawn(tier, seed) for tier in self.tiers)
        return Session(self._memory, viewer=viewer, method=tiers, tools=run.tools, mode=self._mode, limits=self._limits)

    def hints(self, of: Recorded, seed: int | None) -> Iterator[ErrorHint]:
        """What is said to each recorded error; nothing where no tier of the method is asked about errors."""
        if any(serves(tier, "error") for tier in self.tiers):
            for run, errors in of.errors:
                yield from hints_for(self.session(run, seed), errors)


def viewer_of(task: Task, protocol: ArmProtocol, split: Split | None) -> Viewer:
    """The viewer that a protocol's name means for a task.

    Raises:
        ConfigError: ``cross-split`` without a split, or with one of another benchmark.
    """
    if protocol == "self-excluded":
        return self_excluded(task)
    if protocol == "in-sample":
        return in_sample(task)
    if split is None:
        raise ConfigError(
            "protocol 'cross-split' holds out what a split says, and none is given", next_step="give --split FILE"
        )
    return cross_split(task, split)
