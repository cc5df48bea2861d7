"""A run directory: one arm with one student, what it was asked for, and a lock for the command at work in it.

What else lies there is the overlay's own: it derives from :class:`RunSettings` and :class:`RunDirectory`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import amd
from amd.arms.arm import Arm
from amd.arms.kept_split import KeptSplit
from amd.arms.words import RUN_SETTINGS
from amd.errors import ConfigError

__all__ = ["RunDirectory", "RunSettings", "replace_text", "run_format"]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")  # so that no two runs have one, but a run and its copy


class RunSettings(BaseModel):
    """What a run was asked for: the arm, and the memory that it opened. An overlay adds its student and its tasks.

    ``format`` is a literal of the overlay's own. ``memory_content`` and ``memory_seal`` name what was opened, and
    ``split`` is the arm's own as it was then; ``memory_from`` says whose runs the memory is made of. ``seed`` is what
    the student's requests and random records were drawn by, with ``draw_only`` the records alone; ``None`` where none
    was given. ``created_at`` tells a run from its copy.

    >>> values = {"arm": Arm(method="none"), "memory_content": None, "memory_seal": None}
    >>> settings = RunSettings(format="garden/1", **values)
    >>> settings.differences(settings.model_copy(update={"arm": Arm(method="none", mode="dynamic")}))
    ["arm.mode: 'static', not 'dynamic'"]
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: str  # first, so that a file of another kind is told by it
    arm: Arm
    memory_content: str | None
    memory_seal: str | None
    memory_from: tuple[str, ...] = ()
    split: KeptSplit | None = None
    seed: int | None = None
    draw_only: bool = False
    amd: str = amd.__version__
    created_at: str = Field(default_factory=_now)

    def compared(self) -> dict[str, object]:
        """What must be the same in two runs whose tasks stand side by side; the same memory may lie anywhere.

        The seal stands beside the content: retired records, floors and hashes of schemas are in the seal alone.
        """
        arm = self.arm.model_dump(
            mode="json", exclude={"memory", "pin", "split", "embedder", "embedder_url", "decomposer_url"}
        )
        split = self.split.split.sha256 if self.split else None
        own = {
            "memory_content": self.memory_content,
            "memory_seal": self.memory_seal,
            "split": split,
            "seed": self.seed,
            "draw_only": self.draw_only,
        }
        return {**own, **{f"arm.{key}": value for key, value in arm.items()}}

    @property
    def sent_seed(self) -> int | None:
        """The seed that each request is sent with, if any."""
        return None if self.draw_only else self.seed

    def shared(self) -> dict[str, Any]:
        """What the run's results (``RunResults``) say of its arm."""
        names = ("arm", "memory_content", "memory_seal", "memory_from", "split", "seed", "created_at")
        return {name: getattr(self, name) for name in names}

    def differences(self, other: Self) -> list[str]:
        """What would make tasks of the two unlike each other, as ``name: this, not that``."""
        ours, theirs = self.compared(), other.compared()
        return [f"{key}: {ours[key]!r}, not {theirs[key]!r}" for key in ours if ours[key] != theirs[key]]


Settings = TypeVar("Settings", bound=RunSettings)


class RunDirectory(Generic[Settings]):
    """A run directory.

    Args:
        path: the directory, new or there.
        kind: the settings' own type.
        command: the command that writes one, as messages name it.

    >>> RunDirectory(Path("no-run"), RunSettings, "water").settings
    Traceback (most recent call last):
    amd.errors.ConfigError: ...no-run is no run: it has no amd-run.json; name a directory that water wrote
    """

    def __init__(self, path: Path, kind: type[Settings], command: str) -> None:
        self.path = path.absolute()
        self._kind = kind
        self._command = command

    @cached_property
    def settings(self) -> Settings:
        """What the run was asked for; ``ConfigError`` if the directory is no run or its settings cannot be read."""
        path = self.path / RUN_SETTINGS
        try:
            return self._kind.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            raise ConfigError(
                f"{self.path} is no run: it has no {RUN_SETTINGS}",
                next_step=f"name a directory that {self._command} wrote",
            ) from None
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            raise ConfigError(
                f"{path}: {'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}",
                next_step=f"{self._command} again into a new directory",
            ) from error

    def keep(self, settings: Settings) -> None:
        """Write the settings in place of those that are there."""
        replace_text(self.path / RUN_SETTINGS, settings.model_dump_json(indent=2) + "\n")
        self.__dict__["settings"] = settings  # a cached property may be told

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


def replace_text(path: Path, text: str) -> None:
    """Put this text in place of the file, whole or not at all; one writer at a time.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     replace_text(Path(folder, "new", "beds.txt"), "wet")
    ...     Path(folder, "new", "beds.txt").read_text()
    'wet'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    with beside.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def run_format(path: Path) -> str | None:
    """The format that the settings of a run directory name, by which an overlay tells its own; ``None`` without one.

    >>> run_format(Path("no-run")) is None
    True
    """
    try:
        settings = json.loads((path / RUN_SETTINGS).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    found = settings.get("format") if isinstance(settings, dict) else None
    return found if isinstance(found, str) else None
