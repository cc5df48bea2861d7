"""A run directory: one arm with one student, and all that its commands write.

RUN/amd-run.json                        what was asked for
RUN/agent_..._user_..._DATE/            the harness's own folders, one for each time that the run was begun
RUN/exposures/SCENARIO.json             what a scenario's agent was shown: the harness records nothing of it
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import amd
from amd.arms import Arm
from amd.errors import ConfigError
from amd_toolsandbox.exposures import RUN_SETTINGS, exposures_file

__all__ = ["Model", "Run", "Settings", "replace_text"]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class Model(BaseModel):
    """A model behind an endpoint; keys are in the environment and never in a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    base_url: str = Field(min_length=1)


class Settings(BaseModel):
    """What a run was asked for. ``memory_from`` says whose runs the memory is made of."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["amd-toolsandbox-run/1"] = "amd-toolsandbox-run/1"
    agent: Model
    user: Model
    arm: Arm
    scenarios: tuple[str, ...]
    timeout: float
    memory_content: str | None
    memory_seal: str | None
    memory_from: tuple[str, ...]
    amd: str = amd.__version__
    created_at: str = Field(default_factory=_now)

    def differences(self, other: Settings) -> list[str]:
        """What would make scenarios of the two unlike each other; the same content and models may lie anywhere."""
        ours, theirs = (_flat(each) for each in (self, other))
        return [f"{key}: {ours[key]!r}, not {theirs[key]!r}" for key in ours if ours[key] != theirs[key]]


def _flat(settings: Settings) -> dict[str, object]:
    arm = settings.arm.model_dump(mode="json", exclude={"memory", "pin", "embedder", "embedder_url"})
    return {
        "agent": settings.agent.name,
        "user": settings.user.name,
        "memory_content": settings.memory_content,
        **{f"arm.{key}": value for key, value in arm.items()},
    }


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
                f"{self.path} is no run: it has no {RUN_SETTINGS}", next_step="name a directory that run wrote"
            ) from None
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            raise ConfigError(
                f"{path}: {'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}",
                next_step="run again into a new directory",
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
        """Write the settings; ``ConfigError`` if the directory has runs of another arm, or of nobody knows which."""
        if any(self.path.glob("agent_*")):
            before = self.settings
            differences = before.differences(settings)
            if differences:
                raise ConfigError(
                    f"{self.path} has scenarios of another arm: {'; '.join(differences)}",
                    next_step="name a new directory with --out",
                    differences=differences,
                )
            together = tuple(dict.fromkeys((*before.scenarios, *settings.scenarios)))
            settings = settings.model_copy(update={"created_at": before.created_at, "scenarios": together})
        replace_text(self.path / RUN_SETTINGS, settings.model_dump_json(indent=2) + "\n")
        self.__dict__["settings"] = settings

    def exposures_file(self, scenario: str) -> Path:
        """Where the log of a scenario is."""
        return exposures_file(self.path, scenario)


def replace_text(path: Path, text: str) -> None:
    """Put this text in place of the file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with beside.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
