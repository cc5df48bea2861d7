"""What a run came to, task by task, for ``amd report``: from its own files, without AppWorld."""

from __future__ import annotations

from pathlib import Path

from amd.arms import RunResults, TaskResult, run_format
from amd.errors import TrajectoryError
from amd_appworld.report import log_of
from amd_appworld.run import Run, Settings
from amd_appworld.standing import Standing, standing
from amd_appworld.tasks import BENCHMARK, family

__all__ = ["read"]

_FORMAT = Settings.model_fields["format"].default


def read(path: Path) -> RunResults | None:
    """The results of a run directory of this overlay; ``None`` for any other directory.

    A step is one cell. What was played and has no ground truth is missing, as what was not played.

    Raises:
        ConfigError: the settings cannot be read.
        TrajectoryError: the log of an evaluated task is missing, broken, or of another arm.
    """
    if run_format(path) != _FORMAT:
        return None
    run = Run(path)
    settings, stands = run.settings, standing(run)
    return RunResults(
        path=path,
        benchmark=BENCHMARK,
        student=settings.agent.name,
        tasks=tuple(_result(run, stands, task) for task in stands.wanted),
        terms={**settings.limits, "test_source": settings.test_source},
        **settings.shared(),
    )


def _result(run: Run, stands: Standing, task_id: str) -> TaskResult:
    own = family(task_id)
    if own is None:
        raise TrajectoryError(f"{run.path}: {task_id!r} is no task of AppWorld's", task_id=task_id)
    if task_id not in stands.success:
        return TaskResult(task_id, own, success=None, fault="missing")
    ending = stands.endings[task_id]
    return TaskResult(
        task_id,
        own,
        success=stands.success[task_id],
        steps=ending.steps,
        prompt_tokens=ending.prompt_tokens,
        completion_tokens=ending.completion_tokens,
        log=log_of(run, stands, task_id),
    )
