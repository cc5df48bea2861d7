"""Which runs of an experiment are finished, and what each was begun with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from amd.arms import RUN_SETTINGS, replace_text
from amd.errors import AmdError, ConfigError, StoreError
from amd.experiment.planned import STATE, PlannedRun
from amd.experiment.recipes import Recipe

__all__ = ["Standing"]


class _Kept(BaseModel):
    """What is known of one run, memory or split: the words that it was begun or made with, and whether it ended.

    ``mark`` tells it from another one at its path: when a run began, a memory's seal, the hash of a split's file.
    ``words`` are empty where it was there already, and nobody knows how it was made.
    """

    model_config = ConfigDict(extra="forbid")

    words: list[str]
    done: bool = False
    mark: str = ""


class Standing:
    """What of an experiment is finished, kept in its folder.

    Raises:
        StoreError: the file is broken.
    """

    def __init__(self, out: Path) -> None:
        self._path = out / STATE
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:
            text = b"{}"
        try:
            self._kept = {name: _Kept.model_validate(kept) for name, kept in json.loads(text).items()}
        except (ValueError, AttributeError, RecursionError) as error:
            raise StoreError(
                f"{self._path} cannot be read: {str(error).partition(chr(10))[0]}",
                next_step="remove it: finished runs are begun again then, and find that nothing is left to do",
            ) from error

    def faults(self, runs: Sequence[PlannedRun], recipes: Sequence[Recipe]) -> list[ConfigError]:
        """What was begun or made otherwise than it is wanted now, or is another one, or gone while a run needs it."""
        found = [self._run_fault(run) for run in runs]
        if not all(self.is_done(run) for run in runs):
            found += [self._recipe_fault(recipe) for recipe in recipes]
        return [fault for fault in found if fault is not None]

    def begin(self, run: PlannedRun) -> None:
        """Write down what a run is begun with; ``ConfigError`` if it was begun with something else."""
        fault = self._run_fault(run)
        if fault is not None:
            raise fault
        kept = self._kept.get(run.path.name)
        if kept is None or kept.words != run.what():
            self._keep(run.path.name, _Kept(words=run.what()))

    def is_done(self, run: PlannedRun) -> bool:
        """Whether it came to its end, and is still there."""
        kept = self._kept.get(run.path.name)
        there = (run.path / RUN_SETTINGS).is_file()
        return kept is not None and kept.done and kept.words == run.what() and there and kept.mark == _began(run.path)

    def finish(self, run: PlannedRun) -> None:
        """Write down that it came to its end; ``AmdError`` if nothing of it is there."""
        if not (run.path / RUN_SETTINGS).is_file():
            raise AmdError(f"{run.path} has no {RUN_SETTINGS}, though its command ended well", next_step="see its log")
        self._keep(run.path.name, _Kept(words=run.what(), done=True, mark=_began(run.path)))

    def knows(self, recipe: Recipe) -> bool:
        """Whether it was made for this experiment, by the same words."""
        kept = self._kept.get(_name(recipe))
        return kept is not None and kept.words == list(recipe.given)

    def keep_recipe(self, recipe: Recipe, *, made: bool) -> None:
        """Write down how something was made, if it was, and which one it is."""
        fault = self._recipe_fault(recipe)
        if fault is not None:
            raise fault
        kept = self._kept.get(_name(recipe))
        words = list(recipe.given) if made else kept.words if kept else []
        self._keep(_name(recipe), _Kept(words=words, done=True, mark=recipe.mark()))

    def _run_fault(self, run: PlannedRun) -> ConfigError | None:
        kept = self._kept.get(run.path.name)
        begun = (run.path / RUN_SETTINGS).is_file()  # a command that refused its words has begun nothing
        if kept is None or kept.words == run.what() or not (kept.done or begun):
            return None
        return ConfigError(
            f"{run.path} was begun with {_difference(kept.words, run.what())}",
            next_step="give the experiment another `out`, or undo the change",
        )

    def _recipe_fault(self, recipe: Recipe) -> ConfigError | None:
        kept, words = self._kept.get(_name(recipe)), list(recipe.given)
        if kept is None:
            return None
        if kept.words and kept.words != words:
            return ConfigError(
                f"{recipe.path} was made with {_difference(kept.words, words)}",
                next_step=f"give the {recipe.kind} another path, or undo the change",
            )
        if kept.mark and kept.mark != recipe.mark():
            return ConfigError(
                f"the {recipe.kind} at {recipe.path} is {recipe.mark()[:12] or 'gone'}, the experiment began with "
                f"{kept.mark[:12]}",
                next_step="give it back, or give the experiment another `out`",
                kept=kept.mark,
            )
        return None

    def _keep(self, name: str, kept: _Kept) -> None:
        self._kept[name] = kept
        self._write()

    def _write(self) -> None:
        value = {name: kept.model_dump() for name, kept in sorted(self._kept.items())}
        replace_text(self._path, json.dumps(value, indent=1) + "\n")


def _name(recipe: Recipe) -> str:
    return f"{recipe.kind} {recipe.path}"


def _began(run: Path) -> str:
    """When the run in a directory began; empty if its settings do not say."""
    try:
        found = json.loads((run / RUN_SETTINGS).read_bytes())["created_at"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ""
    return str(found)


def _difference(old: Sequence[str], new: Sequence[str]) -> str:
    at = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    before = max(0, at - 1)
    return (
        f"{' '.join(old[before : at + 1]) or 'fewer words'}, and now it is {' '.join(new[before : at + 1]) or 'none'}"
    )
