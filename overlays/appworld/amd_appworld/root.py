"""The root folder with AppWorld's data and its experiments: which tasks there are, and what is known of them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from amd.errors import ConfigError
from amd_appworld.answers import Briefing
from amd_appworld.api_docs import ApiDocs
from amd_appworld.files import bytes_of
from amd_appworld.tasks import INVENTED, INVENTED_TERMS, TERMS, family, is_test

__all__ = ["Root"]

_EXPERIMENT = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)


class Root:
    """A root: ``data`` as AppWorld has it, ``experiments/outputs`` as it writes them.

    Args:
        path: the root.
        data: its data, where that is another folder than ``path/data``.
    """

    def __init__(self, path: Path, data: Path | None = None) -> None:
        self.path = path.absolute()
        self.data = self.path / "data" if data is None else data.absolute()

    @classmethod
    def of(cls, path: Path) -> Root:
        """The root that a person names, or whose data they name; ``ConfigError`` if there are no tasks.

        >>> Root.of(Path("nowhere"))
        Traceback (most recent call last):
        amd.errors.ConfigError: nowhere has no data/tasks; name AppWorld's root, or its data folder
        """
        for data in (path / "data", path):
            if (data / "tasks").is_dir():
                return cls(path if data != path else path.absolute().parent, data)
        raise ConfigError(f"{path} has no data/tasks", next_step="name AppWorld's root, or its data folder", root=path)

    @classmethod
    def above(cls, folder: Path) -> Root | None:
        """The root whose outputs a folder is in: the nearest folder above that has ``data/tasks``."""
        for above in (folder.resolve(), *folder.resolve().parents):
            if (above / "data" / "tasks").is_dir():
                return cls(above)
        return None

    @cached_property
    def lists(self) -> Mapping[str, tuple[str, ...]]:
        """What each list of a dataset names (``train``, ``dev``, ``test_normal`` ...), as far as lists are there."""
        return {
            path.stem: tuple(dict.fromkeys(filter(None, map(str.strip, _text(path).split("\n")))))
            for path in sorted((self.data / "datasets").glob("*.txt"))
        }

    @cached_property
    def datasets(self) -> Mapping[str, tuple[str, ...]]:
        """The task ids of each dataset.

        Raises:
            ConfigError: there is none, or one names something that is no task.
        """
        folder = self.data / "datasets"
        if not self.lists:
            raise ConfigError(
                f"there are no datasets in {folder}",
                next_step="name the folder above AppWorld's data with --root, or make a small world with "
                "scripts/setup_appworld.sh",
            )
        for name, tasks in self.lists.items():
            strange = next((task for task in tasks if family(task) is None), None)
            if strange is not None:
                raise ConfigError(
                    f"{folder / name}.txt names {strange!r}, which is no task of AppWorld's",
                    next_step="a task is such as '82e2fac_1'",
                )
        return self.lists

    @cached_property
    def _splits(self) -> Mapping[str, str]:
        """Each task's dataset; a test list counts more than any other, since it says what may not be learned from."""
        found: dict[str, str] = {}
        for name in sorted(self.lists, key=is_test):
            found.update(dict.fromkeys(self.lists[name], name))
        return found

    def split(self, task_id: str) -> str | None:
        """The dataset that a task is of, whatever its tag; ``None`` if no list names it."""
        return self._splits.get(task_id.partition(":")[0])

    @cached_property
    def terms(self) -> str:
        """What is to be said of whatever is made from this data."""
        return INVENTED_TERMS if (self.data / INVENTED).is_file() else TERMS

    @cached_property
    def docs(self) -> ApiDocs | None:
        """The APIs, if their documents are there; ``ConfigError`` if they are of another shape."""
        files = sorted((self.data / "api_docs" / "standard").glob("*.json"))
        documents = {file.stem: _json(file) for file in files}
        return ApiDocs.of(documents) if documents else None

    def instruction(self, task_id: str) -> str | None:
        """What a task asks; ``None`` if the data does not have it or cannot be read."""
        value = _json(self.data / "tasks" / task_id.partition(":")[0] / "specs.json")
        said = value.get("instruction") if isinstance(value, dict) else None
        return said if isinstance(said, str) and said.strip() else None

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
            if family(name) is None or not (self.data / "tasks" / name / "specs.json").is_file():
                raise ConfigError(
                    f"there is no task {name!r} in {self.path / 'data' / 'tasks'}",
                    next_step="a task is such as '82e2fac_1'",
                )
        return names

    def briefing(self, task_id: str) -> Briefing:
        """What a task's own file says; ``ConfigError`` if it cannot be read."""
        path = self.data / "tasks" / task_id / "specs.json"
        try:
            return Briefing.model_validate({**json.loads(bytes_of(path)), "task_id": task_id})
        except (OSError, ValueError, TypeError, ValidationError) as error:
            raise ConfigError(f"{path} cannot be read: {error}", next_step="get the data again") from error

    def gradable(self, task_id: str) -> bool:
        """Whether a task has what its evaluation needs; AppWorld itself fails without it."""
        truth = self.data / "tasks" / task_id / "ground_truth"
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


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _json(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    try:
        return json.loads(bytes_of(path))
    except (OSError, ValueError, RecursionError):
        return None
