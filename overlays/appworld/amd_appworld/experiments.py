"""Where AppWorld's runs lie: folders of experiments, each with a folder of tasks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from amd.errors import TrajectoryError

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
    found: dict[Path, Path] = {}
    for path in paths:
        try:
            folders = list(_below(path))
        except OSError as error:
            raise TrajectoryError(
                f"{path}: cannot be looked at: {error.strerror}", next_step="check its permissions", path=path
            ) from error
        if not folders:
            raise TrajectoryError(
                f"{path}: no experiment at or below it: no folder {TASKS}/ with a task that has {INTERACTIONS.parent}/",
                next_step="name a folder of experiments/outputs, or one above several",
                path=path,
            )
        for folder in folders:
            found.setdefault(folder.resolve(), folder)
    return list(found.values())


def task_folders(experiment: Path) -> list[Path]:
    """The folders of an experiment's tasks, sorted."""
    return sorted(child for child in (experiment / TASKS).iterdir() if child.is_dir())


def _below(path: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise error

    if not path.is_dir():
        what = "no such folder" if not path.exists() else "a file, where a folder of runs is needed"
        raise TrajectoryError(f"{path}: {what}", next_step="check the path", path=path)
    if path.resolve().name == TASKS and _has_runs(path.resolve()):
        yield path.resolve().parent
        return
    seen: set[str] = set()
    for folder, inside, _ in os.walk(path, onerror=refuse, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            inside.clear()
            continue
        seen.add(real)
        inside.sort()
        if TASKS in inside:
            inside.remove(TASKS)  # nothing below it is an experiment, and a world's has thousands of files
            if _has_runs(Path(folder, TASKS)):
                yield Path(folder)


def _has_runs(tasks: Path) -> bool:
    return any((task / INTERACTIONS.parent).is_dir() for task in tasks.iterdir())
