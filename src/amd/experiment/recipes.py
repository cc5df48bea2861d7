"""What an experiment makes for itself where it is missing: memories, and splits of a benchmark's families."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from amd.exclusion import read_split
from amd.store.manifest import published_manifest
from amd.store.place import MANIFEST

__all__ = ["MemoryRecipe", "Recipe", "SplitRecipe"]


class Recipe(BaseModel):
    """Where something is, and how it is made if it is not there yet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str]

    path: Path

    @property
    def given(self) -> Sequence[str]:
        """The words of the command that makes it, without its ``--out``; none where nobody said."""
        raise NotImplementedError

    @property
    def there(self) -> bool:
        """Whether it is made already."""
        raise NotImplementedError

    def mark(self) -> str:
        """What tells it from another one at its path; empty if it is not there."""
        raise NotImplementedError

    def command(self) -> list[str]:
        """The words after ``python -m amd`` that make it."""
        raise NotImplementedError

    def reads(self, runs: Sequence[Path]) -> bool:
        """Whether it is made of what one of these runs writes."""
        folders = [run.absolute() for run in runs]
        return any(Path(word).absolute().is_relative_to(folder) for word in self.given for folder in folders)


class MemoryRecipe(Recipe):
    """A memory; ``build`` are the words after ``amd build``."""

    kind = "memory"

    build: tuple[str, ...] = ()

    @property
    def given(self) -> Sequence[str]:
        """The words after ``amd build``."""
        return self.build

    @property
    def there(self) -> bool:
        """Whether it was published."""
        return (self.path / MANIFEST).exists()

    def mark(self) -> str:
        """Its seal."""
        return published_manifest(self.path).seal if self.there else ""

    def command(self) -> list[str]:
        """As ``amd build`` is called."""
        return ["build", *self.build, "--out", str(self.path)]


class SplitRecipe(Recipe):
    """A split; ``draw`` are the words after ``amd split``.

    >>> recipe = SplitRecipe(path=Path("splits/beds.json"), draw=("garden", "runs", "--test", "0.3"))
    >>> " ".join(recipe.command())
    'split garden runs --test 0.3 --out splits/beds.json'
    """

    kind = "split"

    draw: tuple[str, ...] = ()

    @property
    def given(self) -> Sequence[str]:
        """The words after ``amd split``."""
        return self.draw

    @property
    def there(self) -> bool:
        """Whether the file is there."""
        return self.path.exists()

    def mark(self) -> str:
        """The hash of its families."""
        return read_split(self.path).sha256 if self.there else ""

    def command(self) -> list[str]:
        """As ``amd split`` is called."""
        return ["split", *self.draw, "--out", str(self.path)]
