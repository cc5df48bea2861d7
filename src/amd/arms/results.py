"""What one run came to, whatever the benchmark: the shape in which an overlay hands its results to ``amd report``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from amd.arms.arm import Arm
from amd.arms.kept_split import KeptSplit
from amd.arms.run_log import RunLog
from amd.arms.words import MOST
from amd.errors import TrajectoryError
from amd.json_text import JSON

__all__ = ["Fault", "RunResults", "TaskResult"]

Fault = Literal["missing", "infrastructure"]
"""Why a task has no result: it was wanted and never came to its end, or a service (or amd itself) failed in it."""


@dataclass(frozen=True, slots=True)
class TaskResult:
    """How one task ended. Either ``success`` is known, or ``fault`` says why it is not.

    ``steps`` counts what the benchmark calls one (a request, a message, a cell), ``seconds`` is how long it worked,
    ``prompt_tokens`` and ``completion_tokens`` are what its endpoint counted: ``None`` where the harness does not say.
    ``log`` is what the run wrote down of its memory.

    >>> TaskResult("t1", "f1", success=None, fault="missing").success is None
    True
    """

    task_id: str
    family: str
    success: bool | None
    fault: Fault | None = None
    steps: int | None = None
    seconds: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    log: RunLog | None = None

    def __post_init__(self) -> None:
        if (self.success is None) == (self.fault is None):
            raise TrajectoryError(
                f"task {self.task_id!r} has the success {self.success!r} and the fault {self.fault!r}: one of both",
                next_step="give a result, or say why there is none",
                task_id=self.task_id,
            )
        figures = {name: getattr(self, name) for name in ("steps", "seconds", "prompt_tokens", "completion_tokens")}
        wrong = [f"{name} {each!s:.20}" for name, each in figures.items() if each is not None and not 0 <= each <= MOST]
        if wrong:
            raise TrajectoryError(
                f"task {self.task_id!r} has {', '.join(wrong)}: from 0 to {MOST:.0e} is possible",
                next_step="run it again, or mend the file",
                task_id=self.task_id,
            )
        if self.log is not None and (self.log.task_id, self.log.family) != (self.task_id, self.family):
            raise TrajectoryError(
                f"task {self.task_id!r} of family {self.family!r} has the log of task {self.log.task_id!r} of family "
                f"{self.log.family!r}",
                next_step="give each task its own log",
                task_id=self.task_id,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResults:
    """One run directory: an arm, the student that ran in it, and how each wanted task ended.

    ``terms`` is what two runs must share for their scores to be compared: the harness's version, the hash of its
    tasks, what counts as success. ``memory_from`` names whose runs the memory is made of and of which kind, as
    ``RunSettings.memory_from``. Runs that differ in nothing but ``path``, ``seed``, time and outcomes are seeds of one
    arm. ``split`` is the one that the run began with, ``created_at`` says when that was.
    ``made_up`` marks an example: a report says so and never presents it as measured.

    >>> run = RunResults(path=Path("runs/none"), benchmark="b", student="s", arm=Arm(method="none"), tasks=())
    >>> run.name, run.arm.label
    ('none', 'no memory')
    """

    path: Path
    benchmark: str
    student: str
    arm: Arm
    tasks: tuple[TaskResult, ...]
    memory_content: str | None = None
    memory_seal: str | None = None
    memory_from: tuple[str, ...] = ()
    split: KeptSplit | None = None
    created_at: str | None = None
    terms: Mapping[str, JSON] = field(default_factory=dict)
    seed: int | None = None
    made_up: bool = False

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for task in self.tasks:
            if task.task_id in seen:
                raise TrajectoryError(f"{self.path} has two results of task {task.task_id!r}", task_id=task.task_id)
            seen.add(task.task_id)
            self._check_log(task)

    def _check_log(self, task: TaskResult) -> None:
        """A task without the log of this arm would be one whose exposures nobody can vouch for."""
        if task.log is None:
            if task.success is not None and self.arm.method != "none":
                raise TrajectoryError(
                    f"{self.path}: task {task.task_id!r} has a result and no log of what it was shown",
                    next_step="run it again",
                    task_id=task.task_id,
                )
            return
        foreign = task.log.foreign_to(self.arm, self.memory_content, task.task_id)
        if foreign:
            raise TrajectoryError(
                f"{self.path}: the log of task {task.task_id!r} is {foreign}",
                next_step="run it again into a new directory",
                task_id=task.task_id,
            )

    @property
    def name(self) -> str:
        """What people call it: the name of its directory."""
        return self.path.name

    def identity(self) -> dict[str, JSON]:
        """What two runs of one arm share; the same memory may lie anywhere.

        The seal stands beside the content: which records are retired and how near a record must come to be shown
        are in the seal alone, and change what a task sees.
        """
        places = {"memory", "pin", "split", "embedder", "embedder_url", "decomposer_url"}
        return {
            "benchmark": self.benchmark,
            "student": self.student,
            "memory": self.memory_content,
            "seal": self.memory_seal,
            **{f"arm.{name}": value for name, value in self.arm.model_dump(mode="json", exclude=places).items()},
            **{f"terms.{name}": value for name, value in self.terms.items()},
        }
