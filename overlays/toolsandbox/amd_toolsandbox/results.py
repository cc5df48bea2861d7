"""What a run came to, scenario by scenario, for ``amd report``: from its summaries and logs, without the harness."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from amd.arms import RunResults, TaskResult, run_format
from amd.errors import TrajectoryError
from amd_toolsandbox.families import BENCHMARK, family
from amd_toolsandbox.report import log_of
from amd_toolsandbox.run import Run, Settings
from amd_toolsandbox.standing import Standing, standing
from amd_toolsandbox.summary import outcome

__all__ = ["SUCCESS_SCORE", "read"]

SUCCESS_SCORE: Final = 0.9
"""The least similarity that counts as success, as for every command of this overlay where nothing else is asked for."""

_FORMAT = Settings.model_fields["format"].default


def read(path: Path) -> RunResults | None:
    """The results of a run directory of this overlay; ``None`` for any other directory.

    A step is one message, as the harness counts them; it measures no seconds and counts no tokens.

    Raises:
        ConfigError: the settings cannot be read.
        TrajectoryError: the log of a scored scenario is missing, broken, or of another arm.
    """
    if run_format(path) != _FORMAT:
        return None
    run = Run(path)
    settings, stands = run.settings, standing(run)
    return RunResults(
        path=path,
        benchmark=BENCHMARK,
        student=settings.agent.name,
        tasks=tuple(_result(run, stands, scenario) for scenario in stands.wanted),
        terms={"user": settings.user.name, "temperature": settings.temperature, "success_score": SUCCESS_SCORE},
        **settings.shared(),
    )


def _result(run: Run, stands: Standing, scenario: str) -> TaskResult:
    own = family(scenario)
    if own is None:
        raise TrajectoryError(f"{run.path}: {scenario!r} is of no family of ToolSandbox", task_id=scenario)
    score = stands.scores.get(scenario)
    if score is None:
        return TaskResult(
            scenario, own, success=None, fault="infrastructure" if scenario in stands.faults else "missing"
        )
    return TaskResult(
        scenario,
        own,
        success=outcome(score, SUCCESS_SCORE, "").success,
        steps=None if score.exception_type else score.turn_count,
        log=log_of(run, scenario),
    )
