"""The exposure figures of a run, from the logs of its tasks, beside its evaluations."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from amd.arms import ArmReport, RunLog, known_split
from amd.arms import report as figures_of
from amd.errors import ConfigError, TrajectoryError
from amd_appworld.run import Run
from amd_appworld.standing import Scenarios, Standing, standing
from amd_appworld.tasks import family

__all__ = ["MARK", "RunReport", "log_of", "report_on", "scenarios_of", "unlike"]

MARK = "MEMORY FROM TEST TASKS"
"""What every report says of a run whose memory holds runs of test tasks."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run's figures."""

    run: Run
    figures: ArmReport
    stands: Standing
    scenarios: Scenarios

    @property
    def steps(self) -> float:
        """Cells a task, in the mean over those that are evaluated."""
        return sum(self.stands.endings[name].steps for name in self.stands.success) / len(self.stands.success)

    @property
    def endings(self) -> Counter[str]:
        """How the evaluated tasks ended."""
        return Counter(self.stands.endings[name].ended for name in self.stands.success)

    @property
    def left_out(self) -> int:
        """Characters of outputs that the model was not shown."""
        return sum(self.stands.endings[name].left_out for name in self.stands.success)

    def rows(self) -> list[tuple[str, object]]:
        """Name and value of each figure, for people."""
        settings, evaluated = self.run.settings, len(self.stands.success)
        marked: list[tuple[str, object]] = [(MARK, "yes")] if settings.test_source else []
        return [
            *marked,
            ("student", settings.agent.name),
            ("tasks wanted", len(self.stands.wanted)),
            ("evaluated", evaluated),
            ("without ground truth", len(self.stands.unscored)),
            ("tasks right", f"{self.stands.right} of {evaluated}"),
            ("scenarios right", f"{self.scenarios.right} of {self.scenarios.whole} run whole"),
            ("scenarios not run whole", self.scenarios.incomplete),
            ("steps a task, mean", f"{self.steps:.1f}"),
            ("not completed in so many steps", self.endings["max_steps"]),
            ("ended by a request that the model refused", self.endings["refused"]),
            ("characters of outputs left out", self.left_out),
            ("memory from", ", ".join(settings.memory_from) or "none"),
            *self.figures.rows(),
        ]

    def as_json(self) -> dict[str, object]:
        """The same for machines."""
        settings = self.run.settings
        return {
            "run": str(self.run.path),
            "agent": settings.agent.name,
            "test_source": settings.test_source,
            "memory_from": list(settings.memory_from),
            "wanted": len(self.stands.wanted),
            "evaluated": len(self.stands.success),
            "unscored": list(self.stands.unscored),
            "left": list(self.stands.left),
            "right": self.stands.right,
            "scenarios": self.scenarios.as_json(),
            "steps": self.steps,
            "endings": dict(self.endings),
            "left_out": self.left_out,
            "exposures": self.figures.as_json(),
        }


def report_on(run: Run) -> RunReport:
    """The figures of a run, counted anew.

    Raises:
        ConfigError: the directory is no run, or none of its tasks is evaluated.
        TrajectoryError: the log of a task is missing, broken, or of another arm.
    """
    stands = standing(run)
    if not stands.success:
        raise ConfigError(
            f"{run.path} has no task that was evaluated, and {len(stands.unscored)} without ground truth",
            next_step="run the same command again",
        )
    logs = [log_of(run, stands, name) for name in stands.success]
    split = known_split(run.settings.split, run.settings.arm)
    figures = figures_of(logs, family=family, split=split)
    return RunReport(run, figures, stands, scenarios_of(run, stands))


def scenarios_of(run: Run, stands: Standing) -> Scenarios:
    """The scenarios of a run's evaluated tasks."""
    own = {family(task) for task in stands.success}
    variants = {name: tasks for name, tasks in run.settings.scenarios.items() if name in own}
    return Scenarios.of(stands.success, variants)


def log_of(run: Run, stands: Standing, task_id: str) -> RunLog:
    """What an evaluated task was shown; ``TrajectoryError`` if that is missing, broken or of another arm."""
    try:
        log = stands.endings[task_id].log
    except TrajectoryError as error:
        raise TrajectoryError(
            f"{run.path}/exposures: what {task_id} was shown cannot be read: {error.message}", next_step="run it again"
        ) from error
    foreign = log.foreign_to(run.settings.arm, run.settings.memory_content, task_id)
    if foreign:
        raise TrajectoryError(
            f"{run.path}/exposures: {task_id} is of another run: {foreign}", next_step="run again into a new experiment"
        )
    return log


def unlike(first: RunReport, other: RunReport) -> list[str]:
    """Why the results of two runs cannot be compared; empty if they can."""
    ours, theirs = first.run.settings, other.run.settings
    pairs: list[tuple[str, object, object]] = [("student", ours.agent.name, theirs.agent.name)]
    pairs += [(name, limit, theirs.limits[name]) for name, limit in ours.limits.items()]
    reasons = [f"{what} {mine!r} and {other_one!r}" for what, mine, other_one in pairs if mine != other_one]
    apart = set(first.stands.success) ^ set(other.stands.success)
    if apart:
        reasons.append(f"{len(apart)} tasks that only one of them has a result of, {min(apart)} among them")
    return reasons
