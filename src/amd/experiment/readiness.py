"""What an experiment needs before anything is run: its overlay, a Python, and all that its arms read."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from amd.arms import Arm
from amd.errors import AmdError, ConfigError
from amd.exclusion import cross_split, read_split
from amd.experiment.plan import Experiment
from amd.experiment.recipes import Recipe
from amd.session.terms import check_viewer, resolved
from amd.store import Memory, read_memory
from amd.store.manifest import check_pin
from amd.store.place import MANIFEST
from amd.traces.offers import load_offer, offered
from amd.trajectory import Task

__all__ = ["GROUP", "Commands", "commands_of", "no_python", "unready"]

GROUP = "amd.experiments"
"""The entry point group of overlays that can be run: a benchmark's name, and a function of type ``Commands``."""

Commands: TypeAlias = Callable[[Path, Sequence[str]], Sequence[Sequence[str]]]
"""(a run's directory, its options) -> its command lines in order, each as the words after ``python -m``."""


def commands_of(benchmark: str) -> Commands:
    """How a benchmark's runs are begun; ``ConfigError`` if no installed overlay says so."""
    found: Any = load_offer(GROUP, benchmark)
    if not callable(found):
        raise ConfigError(
            f"no installed overlay runs the benchmark {benchmark!r}",
            next_step=f"install its overlay; known are: {', '.join(offered(GROUP)) or 'none'}",
            benchmark=benchmark,
        )
    commands: Commands = found
    return commands


def unready(experiment: Experiment) -> list[AmdError]:
    """What an experiment lacks, as far as can be told before anything is run.

    A Python that is not there; a memory, a split or a tokenizer that is not there and that nobody said how to make; a
    memory that is there and is broken, of another benchmark, without a tier that an arm asks, or with families that an
    arm holds out; an option that the overlay's command does not take.

    Raises:
        ConfigError: no installed overlay runs the benchmark.
    """
    return [*_no_interpreter(experiment), *_missing(experiment), *_unfit(experiment), *_refused(experiment)]


def no_python(path: str, why: str) -> ConfigError:
    """The error for a harness's Python that cannot be run."""
    return ConfigError(
        f"{path} cannot be run: {why}",
        next_step="name the Python of the harness's environment: python = ... (scripts/setup_*.sh make one)",
    )


def _no_interpreter(experiment: Experiment) -> Iterator[ConfigError]:
    if shutil.which(experiment.python) is None:
        yield no_python(str(experiment.python), "it is not there, or is no program")


def _missing(experiment: Experiment) -> Iterator[ConfigError]:
    yield from (_no_recipe(recipe) for recipe in experiment.recipes() if not recipe.there and not recipe.given)
    for name, arm in experiment.arms().items():
        if arm.tokenizer is not None and not arm.tokenizer.exists():
            yield ConfigError(f"arm.{name}: there is no tokenizer at {arm.tokenizer}", next_step="correct its path")


def _unfit(experiment: Experiment) -> Iterator[AmdError]:
    """Arms whose memory is there, and is not one that they can read."""
    arms = [(name, arm, arm.memory) for name, arm in experiment.arms().items() if arm.memory is not None]
    for path in dict.fromkeys(path for _, _, path in arms if (path / MANIFEST).exists()):
        try:
            with read_memory(path) as memory:
                yield from (
                    ConfigError(f"arm.{name}: {fault.message}", next_step=fault.next_step)
                    for name, arm, own in arms
                    if own == path and (fault := _fault(arm, memory, experiment.benchmark)) is not None
                )
        except AmdError as error:
            yield error


def _fault(arm: Arm, memory: Memory, benchmark: str) -> AmdError | None:
    manifest = memory.manifest
    if manifest.benchmark != benchmark:
        return ConfigError(
            f"the memory at {memory.path} is of {manifest.benchmark!r}, the experiment runs {benchmark!r}",
            next_step="give the memory another path",
        )
    try:
        check_pin(manifest, arm.pin, memory.path)
        resolved(arm.method, memory)
        if arm.protocol == "cross-split" and arm.split is not None and arm.split.exists():
            split = read_split(arm.split)
            check_viewer(cross_split(Task(benchmark, "", min(split.test), ""), split), memory, any_benchmark=False)
    except AmdError as error:
        return error
    return None


def _no_recipe(recipe: Recipe) -> ConfigError:
    by_hand, words = {"memory": ("build it with `amd build`", "build"), "split": ("draw it with `amd split`", "draw")}[
        recipe.kind
    ]
    return ConfigError(
        f"there is no {recipe.kind} at {recipe.path}",
        next_step=f"{by_hand}, or say in the file how: [{recipe.kind}.NAME] path, {words}",
    )


def _refused(experiment: Experiment) -> Iterator[ConfigError]:
    commands = commands_of(experiment.benchmark)
    found: dict[str, tuple[ConfigError, list[str]]] = {}
    for run in experiment.runs():
        try:
            commands(run.path, run.words())
        except ConfigError as error:
            found.setdefault(error.message, (error, []))[1].append(run.path.name)
    for fault, names in found.values():
        others = f" and {len(names) - 1} other runs" if len(names) > 1 else ""
        yield ConfigError(f"{names[0]}{others}: {fault.message}", next_step=fault.next_step)
