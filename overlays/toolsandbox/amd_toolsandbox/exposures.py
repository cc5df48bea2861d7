"""What our own agent writes down beside a run, because the harness records nothing of it: one file a scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from amd.arms import RUN_SETTINGS, RunLog
from amd.errors import TrajectoryError
from amd.traces import Kind

__all__ = ["exposures_file", "memory_assisted", "student_of"]


def exposures_file(run: Path, scenario: str) -> Path:
    """Where a run directory keeps what a scenario's agent was shown."""
    return run / "exposures" / f"{scenario}.json"


def student_of(run: Path) -> str | None:
    """The student that a run directory of ours says it had; ``None`` where there is none, or nobody can read it."""
    agent = _settings(run).get("agent")
    name = agent.get("name") if isinstance(agent, dict) else None
    return name if isinstance(name, str) else None


def _settings(run: Path) -> dict[str, Any]:
    try:
        value = json.loads((run / RUN_SETTINGS).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def memory_assisted(run: Path, scenario: str, kind: Kind) -> bool | None:
    """Whether memory helped in a scenario of this directory; ``None`` where that cannot be told.

    A teacher's directory with neither settings of ours nor logs is another harness's, whose agents knew no memory of
    ours. A student's may have had some that was shown in another way; and in a directory of our own a log that is
    missing, broken or another scenario's leaves it open.
    """
    path = exposures_file(run, scenario)
    if not path.exists():
        return None if (run / RUN_SETTINGS).exists() or kind == "student" else False
    try:
        value = json.loads(path.read_bytes())
        log = RunLog.read(value.get("amd") if isinstance(value, dict) else None)
    except (OSError, ValueError, RecursionError, TrajectoryError):
        return None
    arm = _settings(run).get("arm")
    # A log that says less than the settings was written by another hand.
    if isinstance(arm, dict) and arm.get("method") not in (None, log.method):
        return None
    return log.memory_assisted if log.task_id == scenario else None
