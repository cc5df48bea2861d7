"""A run directory: one arm with one student, and all that its commands write.

It is the harness's project root, so results and scores lie where the harness puts them::

    RUN/amd-run.json                     what was asked for
    RUN/result/NAME/multi_turn/...       the harness's results, with our key ``amd`` in each line
    RUN/score/NAME/multi_turn/...        its scores
    RUN/journal.jsonl                    finished lines, until the harness's own file is known to hold them
    RUN/inference-errors.jsonl           lines that ``retry`` took out
    RUN/torn-CATEGORY.jsonl              a result file as it was found before its torn lines were cut
    RUN/harness.log                      what the harness printed
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from amd.arms import RunDirectory, RunSettings
from amd.errors import ConfigError
from amd_bfcl.families import Category
from amd_bfcl.lines import read_lines

__all__ = ["JOURNAL", "Run", "Settings"]

JOURNAL = "journal.jsonl"

_VERSION = "BFCL_v4"
"""What the file names of bfcl-eval 2026.3.23 begin with."""


class Settings(RunSettings):
    """What a run was asked for, and with what it was run.

    ``ids`` is ``None`` where all tasks of the categories are wanted. ``handler`` is the harness's handler that the
    student derives from, ``tasks_sha256`` the hash of the benchmark's files of these categories: scores of unlike ones
    cannot be compared.
    """

    format: Literal["amd-bfcl-run/1"] = "amd-bfcl-run/1"
    name: str
    model: str
    calling: Literal["fc", "prompting"]
    base_url: str | None
    categories: tuple[Category, ...] = Field(min_length=1)
    ids: tuple[str, ...] | None
    harness: tuple[str, ...]
    handler: str = "OpenAICompletionsHandler"
    bfcl_eval: str
    tasks_sha256: str

    def compared(self) -> dict[str, object]:
        """An endpoint may move, and lines of some tasks are as good as those of all."""
        alike = {"format", "name", "model", "calling", "categories", "harness", "handler", "bfcl_eval", "tasks_sha256"}
        return {**self.model_dump(mode="json", include=alike), **super().compared()}

    def includes(self, other: Settings) -> bool:
        """Whether all tasks of the other are wanted here too."""
        return self.ids is None or (other.ids is not None and set(other.ids) <= set(self.ids))


class Run(RunDirectory[Settings]):
    """A run directory."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, Settings, "generate")

    def begin(self, settings: Settings) -> None:
        """Write the settings.

        Raises:
            ConfigError: there are results already: of another arm, of tasks that are not wanted any more, or of nobody
                knows what.
        """
        # A killed run may have finished lines in its journal and no result file yet.
        if any(self.results()) or read_lines(self.path / JOURNAL)[0]:
            before = self.settings
            differences = before.differences(settings)
            if not settings.includes(before):
                differences.append(
                    f"it was begun with {len(before.ids or ()) or 'all'} tasks, and not all of them are asked for now"
                )
            if differences:
                raise ConfigError(
                    f"{self.path} has results of another arm or other tasks: {'; '.join(differences)}",
                    next_step="name a new directory with --out",
                    differences=differences,
                )
            settings = settings.model_copy(update={"created_at": before.created_at})
        self.keep(settings)

    def result_file(self, name: Category) -> Path:
        """Where the harness writes the results of a category."""
        return self._file("result", name)

    def score_file(self, name: Category) -> Path:
        """Where the harness writes its scores."""
        return self._file("score", name)

    def results(self) -> Iterator[Path]:
        """The result files that are there."""
        return self.path.glob(f"result/*/multi_turn/{_VERSION}_*_result.json")

    def lines(self) -> Iterator[dict[str, Any]]:
        """The result lines of the run's categories that can be read."""
        for name in self.settings.categories:
            yield from read_lines(self.result_file(name))[0]

    def _file(self, kind: str, name: Category) -> Path:
        return self.path / kind / self.settings.name / "multi_turn" / f"{_VERSION}_{name}_{kind}.json"
