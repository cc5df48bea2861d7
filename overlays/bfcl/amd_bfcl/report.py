"""The exposure figures of a run, from its result lines, beside its score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amd.arms import ArmReport, RunLog, known_split
from amd.arms import report as figures_of
from amd.errors import ConfigError, TrajectoryError
from amd_bfcl.evaluate import Score, scores_of
from amd_bfcl.families import Category, category, family
from amd_bfcl.run import Run, Settings
from amd_bfcl.standing import Standing, standing

__all__ = ["RunReport", "log_of", "report_on", "unlike"]


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run's figures. ``scores`` has those categories whose score file counts as many tasks as there are lines."""

    run: Run
    figures: ArmReport
    stands: Standing
    scores: dict[Category, Score]
    stale: tuple[Category, ...]

    def rows(self) -> list[tuple[str, object]]:
        """Name and value of each figure, for people."""
        settings = self.run.settings
        scores = [(f"{name}, right", f"{each.correct} of {each.total}") for name, each in self.scores.items()]
        stale = [(f"{name}, right", "evaluate again") for name in self.stale]
        told = {*self.scores, *self.stale}
        unscored = [(f"{name}, right", "not evaluated") for name in settings.categories if name not in told]
        return [
            ("student", settings.model),
            ("calling", settings.calling),
            ("tasks wanted", len(self.stands.wanted)),
            ("missing", len(self.stands.missing)),
            ("inference errors", len(self.stands.errors)),
            *scores,
            *stale,
            *unscored,
            ("memory from", ", ".join(settings.memory_from) or "none"),
            *self.figures.rows(),
        ]

    def as_json(self) -> dict[str, object]:
        """The same for machines."""
        settings = self.run.settings
        return {
            "run": str(self.run.path),
            "name": settings.name,
            "model": settings.model,
            "calling": settings.calling,
            "memory_from": list(settings.memory_from),
            "wanted": len(self.stands.wanted),
            "done": len(self.stands.lines),
            "inference_errors": len(self.stands.errors),
            "scores": {str(name): {"correct": each.correct, "total": each.total} for name, each in self.scores.items()},
            "stale_scores": list(map(str, self.stale)),
            "exposures": self.figures.as_json(),
        }


def report_on(run: Run) -> RunReport:
    """The figures of a run, counted anew.

    Raises:
        ConfigError: the directory is no run, or none of its tasks has come to its end.
        TrajectoryError: a line of it does not say what its task was shown, or says it of another arm.
    """
    settings, stands = run.settings, standing(run)
    logs = [log_of(run, settings, task_id, line) for task_id, line in stands.answered.items()]
    if not logs:
        raise ConfigError(
            f"{run.path} has no task that came to its end, and {len(stands.errors)} inference errors",
            next_step=f"see to the service, then: python -m amd_bfcl retry {run.path}",
        )
    counts = Counter(category(task_id) for task_id in stands.lines)
    scores = scores_of(run)
    fresh = {name: score for name, score in scores.items() if score.total == counts[name]}
    return RunReport(
        run=run,
        figures=figures_of(logs, family=family, split=known_split(settings.split, settings.arm)),
        stands=stands,
        scores=fresh,
        stale=tuple(name for name in scores if name not in fresh),
    )


def log_of(run: Run, settings: Settings, task_id: str, line: Mapping[str, Any]) -> RunLog:
    """What a line says of its task; ``TrajectoryError`` if the line is none of this run's."""
    if category(task_id) not in settings.categories or (settings.ids is not None and task_id not in settings.ids):
        raise _foreign(run, task_id, "is of a task that the run was not asked for")
    try:
        log = RunLog.read(line.get("amd"))
    except TrajectoryError as error:
        raise _foreign(run, task_id, f"says nothing of a memory: {error.message}") from error
    foreign = log.foreign_to(settings.arm, settings.memory_content, task_id)
    if foreign:
        raise _foreign(run, task_id, f"is of another run: {foreign}")
    return log


def _foreign(run: Run, task_id: str, what: str) -> TrajectoryError:
    return TrajectoryError(
        f"{run.path}: the line of {task_id} {what}", next_step="generate again into a new directory", task_id=task_id
    )


def unlike(first: RunReport, other: RunReport) -> list[str]:
    """Why the scores of two runs cannot be compared; empty if they can."""
    names = ("model", "calling", "handler", "harness", "bfcl_eval", "tasks_sha256")
    ours, theirs = first.run.settings, other.run.settings
    reasons = [
        f"{name} {getattr(ours, name)!r} and {getattr(theirs, name)!r}"
        for name in names
        if getattr(ours, name) != getattr(theirs, name)
    ]
    apart = set(first.stands.answered) ^ set(other.stands.answered)
    if apart:
        reasons.append(f"{len(apart)} tasks that only one of them has come to the end of, {min(apart)} among them")
    return reasons
