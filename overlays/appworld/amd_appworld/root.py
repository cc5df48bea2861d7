"""The root folder with AppWorld's data and its experiments: which tasks there are, and what is known of them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from amd.errors import ConfigError
from amd_appworld.answers import Briefing
from amd_appworld.tasks import family

__all__ = ["Root"]

_EXPERIMENT = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)


class Root:
    """A root: ``data`` as AppWorld has it, ``experiments/outputs`` as it writes them."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    @cached_property
    def datasets(self) -> dict[str, tuple[str, ...]]:
        """The task ids of each dataset (``train``, ``dev``, ``test_normal`` ...).

        Raises:
            ConfigError: there is none, or one names something that is no task.
        """
        folder = self.path / "data" / "datasets"
        found = {
            path.stem: tuple(line.strip() for line in path.read_text(encoding="utf-8").split("\n") if line.strip())
            for path in sorted(folder.glob("*.txt"))
        }
        if not found:
            raise ConfigError(
                f"there are no datasets in {folder}",
                next_step="name the folder above AppWorld's data with --root, or make a small world with "
                "scripts/appworld_synthetic.py",
            )
        for name, tasks in found.items():
            strange = next((task for task in tasks if family(task) is None), None)
            if strange is not None:
                raise ConfigError(
                    f"{folder / name}.txt names {strange!r}, which is no task of AppWorld's",
                    next_step="a task is such as '82e2fac_1'",
                )
        return found

    def split(self, task_id: str) -> str | None:
        """The dataset that a task is of; ``None`` if it is of none here."""
        return next((name for name, tasks in self.datasets.items() if task_id in tasks), None)

    def scenarios(self, tasks: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The scenarios of these tasks, each with all its variants that the datasets name."""
        found: dict[str, list[str]] = {family(task) or task: [] for task in tasks}
        for task in (task for dataset in self.datasets.values() for task in dataset):
            found.get(family(task) or task, []).append(task)
        return {name: tuple(dict.fromkeys(variants)) for name, variants in found.items()}

    def chosen(self, tasks: Sequence[str] | None, dataset: str | None) -> tuple[str, ...]:
        """The tasks that were asked for, each once.

        Raises:
            ConfigError: neither or both were given, a task or a dataset is not there, or none is left.
        """
        if (tasks is None) == (dataset is None):
            given = "neither tasks nor a dataset" if tasks is None else "both tasks and a dataset"
            raise ConfigError(f"{given} were named", next_step="give --tasks ID,ID or --dataset NAME")
        if dataset is not None and dataset not in self.datasets:
            raise ConfigError(
                f"there is no dataset {dataset!r} in {self.path}", next_step=f"there are: {', '.join(self.datasets)}"
            )
        names = tuple(dict.fromkeys(self.datasets[dataset] if dataset is not None else tasks or ()))
        for name in names:
            if family(name) is None or not (self.path / "data" / "tasks" / name / "specs.json").is_file():
                raise ConfigError(
                    f"there is no task {name!r} in {self.path / 'data' / 'tasks'}",
                    next_step="a task is such as '82e2fac_1'",
                )
        return names

    def briefing(self, task_id: str) -> Briefing:
        """What a task's own file says; ``ConfigError`` if it cannot be read."""
        path = self.path / "data" / "tasks" / task_id / "specs.json"
        try:
            return Briefing.model_validate({**json.loads(path.read_bytes()), "task_id": task_id})
        except (OSError, ValueError, TypeError, ValidationError) as error:
            raise ConfigError(f"{path} cannot be read: {error}", next_step="get the data again") from error

    def gradable(self, task_id: str) -> bool:
        """Whether a task has what its evaluation needs; AppWorld itself fails without it."""
        truth = self.path / "data" / "tasks" / task_id / "ground_truth"
        try:
            metadata = json.loads((truth / "metadata.json").read_bytes())
        except (OSError, ValueError):
            return False
        return isinstance(metadata, dict) and "difficulty" in metadata and (truth / "evaluation.py").is_file()

    def experiment(self, name: str) -> Path:
        """The output folder of an experiment; ``ConfigError`` for a name that is none."""
        if not _EXPERIMENT.fullmatch(name):
            raise ConfigError(
                f"{name!r} is no name of an experiment", next_step="use letters, digits and the signs _ - ."
            )
        return self.path / "experiments" / "outputs" / name
