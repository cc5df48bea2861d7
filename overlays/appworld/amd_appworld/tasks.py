"""AppWorld's tasks: which share an answer, from a task's id alone, and which dataset each is of, from the data."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from amd.errors import ConfigError
from amd_appworld.api_docs import ApiDocs

__all__ = ["BENCHMARK", "DATASETS", "TERMS", "TEST_DATASETS", "TaskFolder", "family"]

BENCHMARK = "appworld"

DATASETS: Final = ("train", "dev", "test_normal", "test_challenge")
TEST_DATASETS: Final = frozenset({"test_normal", "test_challenge"})
"""What may be scored and not learned from, by AppWorld's rules of use."""

INVENTED: Final = "invented-world.json"
"""The file in a world's data that says that its people and tasks were invented by this project."""

TERMS: Final = (
    "Made from AppWorld's tasks: AppWorld asks that nothing derived from its data is redistributed in plain text, "
    "so do not publish this memory unencrypted."
)
"""What a memory of AppWorld's own tasks says of itself."""

_TASK = re.compile(r"(?P<scenario>[0-9a-f]{7})_[1-9][0-9]*(?::.*)?")


def family(task_id: str) -> str | None:
    """The scenario of a task, or ``None`` for an id that is none of AppWorld's: a family is never guessed.

    The variants of a scenario share their instruction's template, their solution and their evaluation; a tag behind a
    colon is no part of the task.

    >>> family("82e2fac_1"), family("82e2fac_3:again"), family("multi_turn_base_1")
    ('82e2fac', '82e2fac', None)
    """
    match = _TASK.fullmatch(task_id)
    return match["scenario"] if match else None


@dataclass(frozen=True)
class TaskFolder:
    """AppWorld's data folder, ``ROOT/data``: what is read of it is what is there."""

    data: Path

    @classmethod
    def of(cls, root: Path) -> TaskFolder:
        """The world below a root; ``ConfigError`` if it has no tasks.

        >>> TaskFolder.of(Path("nowhere"))
        Traceback (most recent call last):
        amd.errors.ConfigError: nowhere has no data/tasks; name AppWorld's root, or its data folder
        """
        for data in (root / "data", root):
            if (data / "tasks").is_dir():
                return cls(data)
        raise ConfigError(f"{root} has no data/tasks", next_step="name AppWorld's root, or its data folder", root=root)

    @classmethod
    def above(cls, folder: Path) -> TaskFolder | None:
        """The world whose outputs a folder is in: the nearest folder above that has ``data/tasks``."""
        for above in (folder.resolve(), *folder.resolve().parents):
            if (above / "data" / "tasks").is_dir():
                return cls(above / "data")
        return None

    @cached_property
    def splits(self) -> Mapping[str, str]:
        """The dataset of each task that the lists of the datasets name; a task in two of them is of the later one."""
        found: dict[str, str] = {}
        for name in DATASETS:
            path = self.data / "datasets" / f"{name}.txt"
            if path.is_file():
                lines = (line.strip() for line in path.read_text(encoding="utf-8", errors="replace").split("\n"))
                found.update((line, name) for line in lines if line)
        return found

    def split_of(self, task_id: str) -> str | None:
        """The dataset of a task, whatever its tag; ``None`` if no list names it."""
        return self.splits.get(task_id.partition(":")[0])

    @cached_property
    def invented(self) -> bool:
        """Whether the world's tasks are this project's own and none of AppWorld's."""
        return (self.data / INVENTED).is_file()

    def instruction(self, task_id: str) -> str | None:
        """What a task asks; ``None`` if the data does not have it or cannot be read."""
        value = _json(self.data / "tasks" / task_id.partition(":")[0] / "specs.json")
        said = value.get("instruction") if isinstance(value, dict) else None
        return said if isinstance(said, str) and said.strip() else None

    @cached_property
    def docs(self) -> ApiDocs | None:
        """The APIs, if their documents are there; ``ConfigError`` if they are of another shape."""
        files = sorted((self.data / "api_docs" / "standard").glob("*.json"))
        documents = {file.stem: _json(file) for file in files}
        return ApiDocs.of(documents) if documents else None


def _json(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
