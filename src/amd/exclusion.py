"""Who may see what: the viewers, and the one place where a record is hidden from a task.

Exclusion works by identity, before any ranking: by the family of the task, and by the same instruction text
(a copy of a task under another name). Nothing here looks at similarity.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal

from amd.errors import ConfigError
from amd.json_text import digest
from amd.trajectory import Task

__all__ = [
    "Protocol",
    "Split",
    "Viewer",
    "cross_split",
    "deployed",
    "in_sample",
    "instruction_sha256",
    "self_excluded",
]

Protocol = Literal["self-excluded", "cross-split", "in-sample", "deployed"]
Reason = Literal["own_family", "same_text", "test_family"]


def instruction_sha256(instruction: str) -> str:
    """The hash of an instruction's normal form: NFKC, case-folded, white space collapsed.

    >>> instruction_sha256("Move  the file ") == instruction_sha256("move the FILE")
    True
    """
    return digest(" ".join(unicodedata.normalize("NFKC", instruction).casefold().split()).encode())


@dataclass(frozen=True, slots=True)
class Split:
    """A division of one benchmark's families into train and test, drawn once and kept as a file."""

    benchmark: str
    train: frozenset[str]
    test: frozenset[str]

    def __post_init__(self) -> None:
        """Refuse a family on both sides."""
        both = sorted(self.train & self.test)
        if both:
            raise ConfigError(
                f"{len(both)} families stand in train and in test, the first is {both[0]!r}",
                next_step="draw the split again",
                families=both,
            )


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who asks, and so what may be seen. Made by the four functions of this module, never by hand."""

    protocol: Protocol
    task: Task | None = None
    split: Split | None = None

    @property
    def excludes(self) -> bool:
        """Whether the asking task's own family is hidden."""
        return self.protocol in ("self-excluded", "cross-split")

    def why_hidden(self, family: str, instruction: str) -> Reason | None:
        """Why a record of this family and instruction hash is hidden, or ``None`` if it may be seen.

        A ``cross-split`` viewer hides its own family and text as well as all that is not a train family.
        """
        if not self.excludes or self.task is None:
            return None
        if family == self.task.family:
            return "own_family"
        if instruction == instruction_sha256(self.task.instruction):
            return "same_text"
        if self.split is not None and family not in self.split.train:
            return "test_family"
        return None


def self_excluded(task: Task) -> Viewer:
    """The default where a benchmark task is known: neither its family nor any task with the same instruction.

    >>> viewer = self_excluded(Task("demo", "t1", "family-1", "Move the file"))
    >>> viewer.why_hidden("family-1", "…"), viewer.why_hidden("family-2", "…")
    ('own_family', None)
    """
    return Viewer("self-excluded", task)


def cross_split(task: Task, split: Split) -> Viewer:
    """Held-out evaluation: only train families. A memory that holds a test family is a ``LeakageError``."""
    if task.benchmark != split.benchmark:
        raise ConfigError(
            f"the split is for {split.benchmark!r}, the task is of {task.benchmark!r}",
            next_step="give the split of the task's own benchmark",
            split=split.benchmark,
            task=task.benchmark,
        )
    return Viewer("cross-split", task, split)


def in_sample(task: Task) -> Viewer:
    """Everything, the task's own records included: the original's protocol, always labelled IN-SAMPLE."""
    return Viewer("in-sample", task)


def deployed() -> Viewer:
    """Everything, where no benchmark task is known: real use."""
    return Viewer("deployed")
