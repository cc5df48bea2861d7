"""Which runs of an experiment are finished, and what each was begun with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from amd.arms import RUN_SETTINGS, replace_text
from amd.errors import ConfigError, StoreError
from amd.experiment.planned import PlannedRun
from amd.experiment.recipes import Recipe

__all__ = ["Standing"]

_STATE = "experiment.json"


class _Kept(BaseModel):
    """What is known of one run: the words it was begun with, and whether it came to its end."""

    model_config = ConfigDict(extra="forbid")

    words: list[str]
    done: bool = False


class Standing:
    """Which runs of an experiment are finished, kept in its folder.

    Raises:
        StoreError: the file is broken.
    """

    def __init__(self, out: Path) -> None:
        self._path = out / _STATE
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:
            text = b"{}"
        try:
            self._runs = {name: _Kept.model_validate(kept) for name, kept in json.loads(text).items()}
        except (ValueError, AttributeError, ValidationError) as error:
            raise StoreError(
                f"{self._path} cannot be read: {str(error).partition(chr(10))[0]}",
                next_step="remove it: finished runs are begun again then, and find that nothing is left to do",
            ) from error

    def begin(self, run: PlannedRun) -> None:
        """Write down what a run is begun with; ``ConfigError`` if it was begun with something else."""
        kept = self._runs.get(run.path.name)
        if kept is None:
            self._runs[run.path.name] = _Kept(words=run.what())
            self._write()
        elif kept.words != run.what():
            raise ConfigError(
                f"{run.path} was begun with {_difference(kept.words, run.what())}",
                next_step="give the experiment another `out`, or undo the change",
            )

    def keep_recipe(self, recipe: Recipe, *, made: bool) -> None:
        """Write down how something is made; ``ConfigError`` if what is there was made for this otherwise."""
        name, words = f"{recipe.kind} {recipe.path}", list(recipe.given)
        kept = self._runs.get(name)
        if kept is not None and kept.words and not made and kept.words != words:
            raise ConfigError(
                f"{recipe.path} was made with {_difference(kept.words, words)}",
                next_step=f"give the {recipe.kind} another path, or undo the change",
            )
        self._runs[name] = _Kept(words=words, done=True)
        self._write()

    def knows(self, recipe: Recipe) -> bool:
        """Whether this experiment made it, by the same words."""
        kept = self._runs.get(f"{recipe.kind} {recipe.path}")
        return kept is not None and kept.words == list(recipe.given)

    def is_done(self, run: PlannedRun) -> bool:
        """Whether it came to its end, and is still there."""
        kept = self._runs.get(run.path.name)
        there = (run.path / RUN_SETTINGS).is_file()
        return kept is not None and kept.done and kept.words == run.what() and there

    def finish(self, run: PlannedRun) -> None:
        """Write down that it came to its end."""
        self._runs[run.path.name].done = True
        self._write()

    def _write(self) -> None:
        value = {name: kept.model_dump() for name, kept in sorted(self._runs.items())}
        replace_text(self._path, json.dumps(value, indent=1) + "\n")


def _difference(old: Sequence[str], new: Sequence[str]) -> str:
    at = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    before = max(0, at - 1)
    return (
        f"{' '.join(old[before : at + 1]) or 'fewer words'}, and now it is {' '.join(new[before : at + 1]) or 'none'}"
    )
