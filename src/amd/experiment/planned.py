"""One run of an experiment that is to be: its directory, and its options as words of a command line."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

__all__ = ["LOGS", "REPORTS", "STATE", "Option", "PlannedRun", "options"]

STATE, LOGS, REPORTS = "experiment.json", "logs", "report"
"""What lies beside the runs in an experiment's folder: how it stands, what its commands printed, a report a student."""

Option: TypeAlias = bool | int | float | str | list[str]
"""The value of one option of a command line: ``true`` for a switch, a list for words joined by commas."""

_HOW = re.compile(r"(?:^|_)url$|^(?:threads|workers|processes|timeout)$")
_LONGEST = 1000  # characters of a path


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run directory to be: an arm with one student, by one seed. ``memory`` is the one that the arm reads."""

    path: Path
    arm: str
    student: str
    seed: int
    memory: Path | None
    arm_options: Mapping[str, Option]
    student_options: Mapping[str, Option]
    task_options: Mapping[str, Option]

    def words(self) -> list[str]:
        """All of it as words of a command line: arm, student, tasks, seed."""
        return [word for part in self._parts() for word in options(part)]

    def what(self) -> list[str]:
        """The same without what changes no result: addresses, and how much is done at the same time.

        A file that an option names stands with the hash of what is in it: an edited one is another run.
        """
        told = ({key: _hashed(part[key]) for key in part if not _HOW.search(key)} for part in self._parts())
        return [word for part in told for word in options(part)]

    def _parts(self) -> Sequence[Mapping[str, Option]]:
        return (self.arm_options, self.student_options, self.task_options, {"seed": self.seed})


def options(values: Mapping[str, Option]) -> list[str]:
    """Options as words of a command line.

    >>> options({"base_url": "http://127.0.0.1:1/v1", "limit": 4, "partial": True, "quiet": False, "ids": ["a", "b"]})
    ['--base-url', 'http://127.0.0.1:1/v1', '--limit', '4', '--partial', '--ids', 'a,b']
    """
    words: list[str] = []
    for key, value in values.items():
        name = f"--{key.replace('_', '-')}"
        if isinstance(value, bool):
            words += [name] if value else []
        else:
            words += [name, ",".join(value) if isinstance(value, list) else str(value)]
    return words


def _hashed(value: Option) -> Option:
    path = Path(value) if isinstance(value, str) and len(value) < _LONGEST else None
    if path is None or not path.is_file():
        return value
    return f"{value} ({hashlib.sha256(path.read_bytes()).hexdigest()[:12]})"
