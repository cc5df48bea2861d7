"""What our own agent writes down beside a run: one file a task, in the experiment's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from amd.arms import RUN_SETTINGS, RunLog
from amd.errors import TrajectoryError
from amd.traces import Kind
from amd_appworld.files import bytes_of

__all__ = ["ORACLE", "exposures_file", "memory_assisted", "student_of"]

ORACLE: Final = "appworld-oracle"
"""The model's name in runs that play AppWorld's own solutions."""


def exposures_file(experiment: Path, task_id: str) -> Path:
    """Where an experiment keeps what a task's agent was shown."""
    return experiment / "exposures" / f"{task_id}.json"


def student_of(experiment: Path) -> str | None:
    """The student that an experiment of ours says it had; ``None`` where there is none, or nobody can read it."""
    settings = _settings(experiment)
    agent = settings.get("agent")
    name = agent.get("name") if isinstance(agent, dict) else settings.get("model")
    return name if isinstance(name, str) else None


def memory_assisted(experiment: Path, task_id: str, kind: Kind, *, seen: bool) -> bool | None:
    """Whether memory helped in a task of this experiment; ``None`` where that cannot be told.

    ``seen`` says that a prompt held memory of ours, whatever is written beside it. An experiment with neither settings
    of ours nor logs is another harness's, whose agents knew no memory of ours; a student's may have had some that was
    shown in another way. In one of our own, a log that is missing, broken or another task's leaves it open.
    """
    if seen:
        return True
    path = exposures_file(experiment, task_id)
    if not path.exists():
        return None if (experiment / RUN_SETTINGS).exists() or kind == "student" else False
    try:
        value = json.loads(bytes_of(path))
        log = RunLog.read(value.get("amd") if isinstance(value, dict) else None)
    except (OSError, ValueError, RecursionError, TrajectoryError):
        return None
    arm = _settings(experiment).get("arm")
    # A log that says less than the settings was written by another hand.
    if isinstance(arm, dict) and arm.get("method") not in (None, log.method):
        return None
    return log.memory_assisted if log.task_id == task_id else None


def _settings(experiment: Path) -> dict[str, Any]:
    try:
        value = json.loads(bytes_of(experiment / RUN_SETTINGS))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
