"""The exposure figures of a run, from the logs of its scenarios, beside its scores."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

from amd.arms import ArmReport, RunLog, known_split
from amd.arms import report as figures_of
from amd.errors import ConfigError, TrajectoryError
from amd_toolsandbox.families import family
from amd_toolsandbox.run import Run
from amd_toolsandbox.standing import Standing, standing
from amd_toolsandbox.summary import outcome

__all__ = ["RunReport", "log_of", "report_on", "unlike"]


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run's figures; ``success_score`` is the least similarity that counts as success."""

    run: Run
    figures: ArmReport
    stands: Standing
    success_score: float

    @property
    def similarity(self) -> float:
        """The mean over the scenarios that are scored."""
        scores = self.stands.scores.values()
        return sum(score.similarity for score in scores) / len(scores)

    @property
    def successes(self) -> int:
        """Scenarios without an exception and a minefield, at or above the least similarity."""
        return sum(bool(outcome(score, self.success_score, "").success) for score in self.stands.scores.values())

    @property
    def exceptions(self) -> Counter[str]:
        """What ended scenarios: a tool that is not there, arguments that are no JSON. They are the student's own."""
        return Counter(score.exception_type for score in self.stands.scores.values() if score.exception_type)

    def rows(self) -> list[tuple[str, object]]:
        """Name and value of each figure, for people."""
        settings, scored = self.run.settings, len(self.stands.scores)
        ended = ", ".join(f"{name} {count}" for name, count in sorted(self.exceptions.items()))
        return [
            ("student", settings.agent.name),
            ("user", settings.user.name),
            ("scenarios wanted", len(self.stands.wanted)),
            ("scored", scored),
            ("spoilt by a service or amd", len(self.stands.faults)),
            (f"success (similarity {self.success_score:g} or more)", f"{self.successes} of {scored}"),
            ("similarity, mean", f"{self.similarity:.3f}"),
            ("ended by an exception", ended or "none"),
            ("memory from", ", ".join(settings.memory_from) or "none"),
            *self.figures.rows(),
        ]

    def as_json(self) -> dict[str, object]:
        """The same for machines."""
        settings = self.run.settings
        return {
            "run": str(self.run.path),
            "agent": settings.agent.name,
            "user": settings.user.name,
            "memory_from": list(settings.memory_from),
            "wanted": len(self.stands.wanted),
            "scored": len(self.stands.scores),
            "infrastructure": dict(self.stands.faults),
            "success_score": self.success_score,
            "success": self.successes,
            "similarity": self.similarity,
            "exceptions": dict(self.exceptions),
            "exposures": self.figures.as_json(),
        }


def report_on(run: Run, success_score: float) -> RunReport:
    """The figures of a run, counted anew.

    Raises:
        ConfigError: the directory is no run, or none of its scenarios has a score.
        TrajectoryError: the log of a scored scenario is missing, broken, or of another arm.
    """
    stands = standing(run)
    if not stands.scores:
        raise ConfigError(
            f"{run.path} has no scored scenario, and {len(stands.faults)} that a service spoilt",
            next_step="see to the service, then run the same command again, or: python -m amd_toolsandbox rescore RUN",
        )
    logs = [log_of(run, name) for name in stands.scores]
    split = known_split(run.settings.split, run.settings.arm)
    return RunReport(run, figures_of(logs, family=family, split=split), stands, success_score)


def log_of(run: Run, scenario: str) -> RunLog:
    """What a scenario's agent was shown; ``TrajectoryError`` if nobody can tell, or it is another run's."""
    path = run.exposures_file(scenario)
    try:
        value = json.loads(path.read_bytes())
        log = RunLog.read(value.get("amd") if isinstance(value, dict) else None)
    except (OSError, ValueError, TrajectoryError) as error:
        raise TrajectoryError(
            f"{path}: what the agent of {scenario} was shown cannot be read: {error}", next_step="run it again"
        ) from error
    foreign = log.foreign_to(run.settings.arm, run.settings.memory_content, scenario)
    if foreign:
        raise TrajectoryError(f"{path} is of another run: {foreign}", next_step="run again into a new directory")
    return log


def unlike(first: RunReport, other: RunReport) -> list[str]:
    """Why the scores of two runs cannot be compared; empty if they can."""
    ours, theirs = first.run.settings, other.run.settings
    pairs: list[tuple[str, object, object]] = [("student", ours.agent.name, theirs.agent.name)]
    pairs += [("user", ours.user.name, theirs.user.name), ("temperature", ours.temperature, theirs.temperature)]
    reasons = [f"{what} {mine!r} and {other_one!r}" for what, mine, other_one in pairs if mine != other_one]
    apart = set(first.stands.scores) ^ set(other.stands.scores)
    if apart:
        reasons.append(f"{len(apart)} scenarios that only one of them has a score of, {min(apart)} among them")
    return reasons
