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
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import amd
from amd.arms import Arm
from amd.errors import ConfigError
from amd_bfcl.families import Category
from amd_bfcl.lines import read_lines, replace_text
from amd_bfcl.result_files import RUN_SETTINGS

__all__ = ["JOURNAL", "Run", "Settings"]

JOURNAL = "journal.jsonl"

_VERSION = "BFCL_v4"
"""What the file names of bfcl-eval 2026.3.23 begin with."""


def _now() -> str:
    """This moment, as files have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Settings(BaseModel):
    """What a run was asked for, and with what it was run.

    ``ids`` is ``None`` where all tasks of the categories are wanted. ``memory_from`` says whose runs the memory is made
    of; ``handler`` is the harness's handler that the student derives from, ``tasks_sha256`` the hash of the
    benchmark's files of these categories: scores of unlike ones cannot be compared.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["amd-bfcl-run/1"] = "amd-bfcl-run/1"
    name: str
    model: str
    calling: Literal["fc", "prompting"]
    base_url: str | None
    categories: tuple[Category, ...] = Field(min_length=1)
    ids: tuple[str, ...] | None
    arm: Arm
    memory_content: str | None
    memory_seal: str | None
    memory_from: tuple[str, ...] = ()
    harness: tuple[str, ...]
    handler: str = "OpenAICompletionsHandler"
    bfcl_eval: str
    tasks_sha256: str
    amd: str = amd.__version__
    created_at: str = Field(default_factory=_now)

    def differences(self, other: Settings) -> list[str]:
        """What would make lines of the two unlike each other, as ``name: this, not that``.

        The same content may lie anywhere, an endpoint may move, and lines of some tasks are as good as those of all.
        """
        skipped = {"created_at", "base_url", "memory_seal", "memory_from", "amd", "ids"}
        ours, theirs = (_flat(each, skipped) for each in (self, other))
        return [f"{key}: {ours[key]!r}, not {theirs[key]!r}" for key in ours if ours[key] != theirs[key]]

    def includes(self, other: Settings) -> bool:
        """Whether all tasks of the other are wanted here too."""
        return self.ids is None or (other.ids is not None and set(other.ids) <= set(self.ids))


def _flat(settings: Settings, skipped: set[str]) -> dict[str, object]:
    arm = settings.arm.model_dump(mode="json", exclude={"memory", "pin", "embedder", "embedder_url"})
    rest = settings.model_dump(mode="json", exclude={*skipped, "arm"})
    return {**rest, **{f"arm.{key}": value for key, value in arm.items()}}


class Run:
    """A run directory."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    @cached_property
    def settings(self) -> Settings:
        """What the run was asked for; ``ConfigError`` if the directory is no run or its settings cannot be read."""
        path = self.path / RUN_SETTINGS
        try:
            return Settings.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            raise ConfigError(
                f"{self.path} is no run: it has no {RUN_SETTINGS}", next_step="name a directory that generate wrote"
            ) from None
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            raise ConfigError(
                f"{path}: {'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}",
                next_step="generate again into a new directory",
            ) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Alone in the directory; ``ConfigError`` if another command is at work in it."""
        self.path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path / ".lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise ConfigError(
                f"another command is at work in {self.path}", next_step="wait for its end, or name another directory"
            ) from None
        try:
            yield
        finally:
            lock.release()

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
        replace_text(self.path / RUN_SETTINGS, settings.model_dump_json(indent=2) + "\n")
        self.__dict__["settings"] = settings

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
