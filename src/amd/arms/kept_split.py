"""The split that a run began with, kept with the run: its file may be drawn again, or be gone."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict

from amd.arms.arm import Arm
from amd.errors import ConfigError
from amd.exclusion import Split, read_split

__all__ = ["KeptSplit", "known_split"]


class KeptSplit(BaseModel):
    """A split as settings and results hold it.

    >>> split = Split("beds", frozenset({"north"}), frozenset({"south"}))
    >>> KeptSplit.of(split).split == split
    True
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    benchmark: str
    train: tuple[str, ...]
    test: tuple[str, ...]

    @classmethod
    def of(cls, split: Split) -> Self:
        """The same families, in order."""
        return cls(benchmark=split.benchmark, train=tuple(sorted(split.train)), test=tuple(sorted(split.test)))

    @property
    def split(self) -> Split:
        """What it holds out.

        Raises:
            ConfigError: a family stands on both sides.
        """
        return Split(self.benchmark, frozenset(self.train), frozenset(self.test))


def known_split(kept: KeptSplit | None, arm: Arm) -> Split | None:
    """The split that a run began with; that of its arm's file where it kept none; ``None`` if nobody knows.

    >>> known_split(None, Arm(method="none")) is None
    True
    """
    if kept is not None:
        return kept.split
    try:
        return read_split(arm.split) if arm.split else None
    except ConfigError:
        return None
