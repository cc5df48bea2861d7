"""Runs to arms: runs that differ in nothing but their outcomes are the seeds of one arm."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from amd.arms.arm import Arm
from amd.arms.figures import ArmReport
from amd.arms.figures import report as figures_of
from amd.arms.kept_split import known_split
from amd.arms.results import RunResults, TaskResult
from amd.errors import ConfigError
from amd.exclusion import Split
from amd.json_text import digest
from amd.traces.families import families_of

__all__ = ["ArmResults", "Missing", "bare_name", "group", "split_of", "titled"]

Missing = Literal["failed", "drop"]
"""What a wanted task without a result counts as: a failure, or nothing at all."""

# What people put behind an arm's name to tell its seeds: amd-s1, amd_seed-2, amd.3, amd-run4.
_SEED = re.compile(r"(?:(?:^|[-_. ]+)(?:seed|run|trial|s))?[-_. ]*[0-9]+\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ArmResults:
    """An arm: its runs, and of each task the outcomes of all of them.

    ``trials`` leaves out tasks of which nothing is known, which is only so where missing results are dropped.
    ``figures`` are counted anew from the logs of all runs; ``None`` if there is no log. ``split`` is the digest of the
    arm's split file, or what keeps it from being known. ``unequal`` counts the results that one run lacks of a task
    that another one wants; they are among the ``missing`` of ``faults``.
    """

    name: str
    runs: tuple[RunResults, ...]
    trials: Mapping[str, tuple[bool, ...]]
    families: Mapping[str, str]
    faults: Mapping[str, int]
    figures: ArmReport | None
    split: str | None
    unequal: int

    @property
    def title(self) -> str:
        """Its name with the mark of what spoils it, or of what it may see."""
        return titled(self.name, self.arm.label, self.leaks)

    @property
    def arm(self) -> Arm:
        """Its settings."""
        return self.runs[0].arm

    @property
    def leaks(self) -> int:
        """What was shown that the arm hides."""
        return self.figures.leaks if self.figures else 0

    @property
    def finished(self) -> list[TaskResult]:
        """The results of all runs that are known."""
        return [task for run in self.runs for task in run.tasks if task.success is not None]

    def rates(self) -> dict[str, float]:
        """The share of its trials in which each task was solved."""
        return {task_id: sum(trials) / len(trials) for task_id, trials in self.trials.items()}


def titled(name: str, label: str, leaks: int) -> str:
    """An arm's name as a reader must see it, never without the mark of what spoils it or of what it may see.

    >>> titled("amd", "self-excluded", 0), titled("amd", "self-excluded", 2), titled("amd", "IN-SAMPLE", 0)
    ('amd', 'amd [LEAKED]', 'amd [IN-SAMPLE]')
    """
    mark = " [LEAKED]" if leaks else " [IN-SAMPLE]" if label == "IN-SAMPLE" else ""
    return f"{name}{mark}"


def bare_name(name: str) -> str:
    """An arm's name without what tells its seeds, or two arms that are called alike.

    >>> bare_name("amd (2)"), bare_name("amd-seed-1"), bare_name("2")
    ('amd', 'amd', '2')
    """
    return _SEED.sub("", re.sub(r" \([0-9]+\)\Z", "", name)) or name


def group(runs: Sequence[RunResults], *, missing: Missing) -> list[ArmResults]:
    """The arms of these runs, in the order in which they first come.

    Raises:
        ConfigError: an arm has no task left to count, or two runs know a task by different families.
        TrajectoryError: a log has another family than its task.
    """
    together: dict[str, list[RunResults]] = {}
    for run in runs:
        together.setdefault(digest({**run.identity(), "split": _split_name(run)}), []).append(run)
    names = _names(list(together.values()))
    return [_arm(name, members, missing) for name, members in zip(names, together.values(), strict=True)]


def _arm(name: str, runs: Sequence[RunResults], missing: Missing) -> ArmResults:
    trials: dict[str, list[bool]] = {}
    families: dict[str, str] = {}
    faults: Counter[str] = Counter()
    for task in (task for run in runs for task in run.tasks):
        if families.setdefault(task.task_id, task.family) != task.family:
            raise ConfigError(
                f"task {task.task_id!r} is of family {families[task.task_id]!r} in one run of {name}, and of "
                f"{task.family!r} in another",
                next_step="report runs of one version of the benchmark",
                task_id=task.task_id,
            )
        if task.fault:
            faults[task.fault] += 1
        if task.success is not None or missing == "failed":
            trials.setdefault(task.task_id, []).append(task.success is True)
    unequal = len(runs) * len(families) - sum(len(run.tasks) for run in runs)
    if unequal:
        faults["missing"] += unequal
    if missing == "failed":
        for each in trials.values():
            each.extend([False] * (len(runs) - len(each)))
    if not trials:
        raise ConfigError(
            f"the arm {name} ({', '.join(str(run.path) for run in runs)}) has no task to count",
            next_step="run its tasks, or leave it out",
            faults=dict(faults),
        )
    return ArmResults(
        name,
        tuple(runs),
        {task_id: tuple(each) for task_id, each in sorted(trials.items())},
        families,
        dict(sorted(faults.items())),
        _figures(runs),
        _split_name(runs[0]),
        unequal,
    )


def _figures(runs: Sequence[RunResults]) -> ArmReport | None:
    logs = [task.log for run in runs for task in run.tasks if task.log is not None]
    if not logs:
        return None
    return figures_of(logs, family=families_of(runs[0].benchmark) or (lambda _: None), split=split_of(runs[0]))


def split_of(run: RunResults) -> Split | None:
    """The split that a run began with; that of its arm's file where the run kept none; ``None`` if there is none."""
    return known_split(run.split, run.arm)


def _split_name(run: RunResults) -> str | None:
    if run.arm.split is None:
        return None
    split = split_of(run)
    return split.sha256 if split else f"unknown: {run.arm.split} is not there any more, or no split"


def _names(arms: Sequence[Sequence[RunResults]]) -> list[str]:
    """One name an arm: what the names of its directories share, and a number where two would be called alike."""
    found: list[str] = []
    for runs in arms:
        name = _shared([run.path for run in runs], runs[0].seed)
        alike = sum(re.fullmatch(rf"{re.escape(name)}(?: \([0-9]+\))?", other) is not None for other in found)
        found.append(f"{name} ({alike + 1})" if alike else name)
    return found


def _shared(paths: Sequence[Path], seed: int | None = None) -> str:
    """What the directories of an arm's seeds share; the first one's name if that is nothing.

    The name of one alone is kept, but for its own ``seed`` behind a hyphen: so ``amd experiment`` calls an arm alike
    however many seeds it has.

    >>> _shared([Path("runs/amd-seed-1"), Path("runs/amd-seed-2")]), _shared([Path("amd/1"), Path("amd/2")])
    ('amd', 'amd')
    >>> _shared([Path("monday"), Path("tuesday")]), _shared([Path("runs/amd-1")]), _shared([Path("amd/seed-1")])
    ('monday', 'amd-1', 'amd')
    >>> _shared([Path("runs/amd-1")], 1), _shared([Path("runs/amd-1")], 0), _shared([Path("runs/top-5-0")], 0)
    ('amd', 'amd-1', 'top-5')
    """
    if len(paths) == 1 and _SEED.sub("", paths[0].name):
        own_seed = seed is not None and paths[0].name.endswith(f"-{seed}")
        return _SEED.sub("", paths[0].name) if own_seed else paths[0].name
    own = {_SEED.sub("", path.name) for path in paths}
    if own == {""}:
        own = {_SEED.sub("", path.absolute().parent.name) for path in paths}
    return own.pop() if len(own) == 1 and "" not in own else paths[0].name
