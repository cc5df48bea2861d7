"""How a run stands: which tasks are evaluated, which scenarios are right, and what is left to play."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

from amd.arms import replace_text
from amd_appworld.answers import TaskEvaluation
from amd_appworld.run import Ending, Run
from amd_appworld.tasks import family

__all__ = ["Results", "Scenarios", "Standing", "standing"]


@dataclass(frozen=True, slots=True)
class Scenarios:
    """Scenarios that were run whole, how many of them are right, and how many were not run whole.

    A scenario is right if each of its variants is.
    """

    whole: int
    right: int
    incomplete: int

    @classmethod
    def of(cls, success: Mapping[str, bool], scenarios: Mapping[str, tuple[str, ...]]) -> Scenarios:
        """Count them.

        Args:
            success: of each evaluated task.
            scenarios: all tasks of each of their scenarios.

        >>> Scenarios.of({"a_1": True, "a_2": True, "b_1": True}, {"a": ("a_1", "a_2"), "b": ("b_1", "b_2")})
        Scenarios(whole=1, right=1, incomplete=1)
        """
        whole = [tasks for tasks in scenarios.values() if all(task in success for task in tasks)]
        right = sum(all(success[task] for task in tasks) for tasks in whole)
        return cls(len(whole), right, len(scenarios) - len(whole))

    def as_json(self) -> dict[str, int]:
        """The three numbers, for machines."""
        return {"whole": self.whole, "right": self.right, "incomplete": self.incomplete}


@dataclass(frozen=True, slots=True)
class Standing:
    """The tasks that are wanted, the success of each that is evaluated, and how each that came to its end did.

    ``unscored`` are those that ended and have no ground truth.
    """

    wanted: tuple[str, ...]
    success: Mapping[str, bool]
    endings: Mapping[str, Ending]

    @property
    def unscored(self) -> tuple[str, ...]:
        """The tasks that were played, and that nothing can evaluate."""
        return tuple(name for name, ending in self.endings.items() if ending.unscored)

    @property
    def left(self) -> tuple[str, ...]:
        """The wanted tasks that are to be played."""
        return tuple(name for name in self.wanted if name not in self.success and name not in self.unscored)

    @property
    def right(self) -> int:
        """How many tasks were done rightly."""
        return sum(self.success.values())


def standing(run: Run) -> Standing:
    """How a run stands, from its files alone.

    Raises:
        ConfigError: the directory is no run.
        TrajectoryError: one of its files is broken.
    """
    wanted = run.settings.tasks
    evaluations = run.evaluations()
    endings = {name: ending for name in wanted if (ending := run.ending(name)) is not None}
    success = {
        name: evaluations[name]["success"]
        for name, ending in endings.items()
        if name in evaluations and not ending.unscored
    }
    return Standing(wanted, success, endings)


class Results:
    """The evaluations of a run, each written when it comes; shared by all threads."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lock = Lock()
        self._evaluations = run.evaluations()

    def keep(self, task_id: str, evaluation: TaskEvaluation) -> None:
        """Write a task's evaluation, in the shape of AppWorld's own command."""
        with self._lock:
            self._evaluations[task_id] = evaluation.model_dump(mode="json")
            self._write()

    def forget(self, task_id: str) -> None:
        """Take away all that an earlier try of a task left: its score would be that of the try that comes."""
        with self._lock:
            self._run.forget(task_id)
            if self._evaluations.pop(task_id, None) is not None:
                self._write()

    def _write(self) -> None:
        scenarios: dict[str, list[bool]] = {}
        for name, each in self._evaluations.items():
            scenarios.setdefault(family(name) or name, []).append(each["success"])
        value = {
            "aggregate": {
                "task_goal_completion": _percent([each["success"] for each in self._evaluations.values()]),
                "scenario_goal_completion": _percent([all(each) for each in scenarios.values()]),
            },
            "individual": self._evaluations,
        }
        replace_text(self._run.evaluations_file, json.dumps(value, indent=1) + "\n")


def _percent(right: list[bool]) -> float:
    """As AppWorld rounds it: to four digits, and then to one of a percent; of nothing it is 0."""
    return round(100 * round(sum(right) / max(1, len(right)), 4), 1)
