"""Where AppWorld's runs lie: folders of experiments, each with a folder of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from amd.traces import folders_with

__all__ = ["INTERACTIONS", "LM_CALLS", "REQUESTS", "TASKS", "find_experiments", "task_folders"]

TASKS: Final = "tasks"
INTERACTIONS: Final = Path("logs", "environment_io.md")
LM_CALLS: Final = Path("logs", "lm_calls.jsonl")
REQUESTS: Final = Path("logs", "api_calls.jsonl")


def find_experiments(paths: Sequence[Path]) -> list[Path]:
    """The folders of experiments at or below the paths, each once, by their names.

    Links to folders are followed, each folder once. The data of a world has a folder of tasks too, and no runs.

    Raises:
        TrajectoryError: A path is not there, is a file, cannot be looked at, or holds no experiment.
    """
    what = f"experiment (a folder {TASKS}/ with a task that has {INTERACTIONS.parent}/)"
    return folders_with(paths, TASKS, what=what, holds=_has_runs)


def task_folders(experiment: Path) -> list[Path]:
    """The folders of an experiment's tasks, sorted."""
    return sorted(child for child in (experiment / TASKS).iterdir() if child.is_dir())


def _has_runs(tasks: Path) -> bool:
    return any((task / INTERACTIONS.parent).is_dir() for task in tasks.iterdir())
