"""What an experiment is: arms x students x seeds over one benchmark's tasks, as one TOML file says it.

benchmark = "bfcl"                   # an installed overlay
python = ".venvs/bfcl/bin/python"    # the environment of its harness; this one if left out
out = "runs/main"
seeds = 3                            # each arm is run by the seeds 0, 1 and 2
baseline = "none"                    # what the report compares with

[tasks]                              # options of the overlay's own command
category = "multi_turn_base"

[student.qwen3-4b]                   # the same, for who is run
model = "qwen3-4b"
base_url = "http://127.0.0.1:8000/v1"

[memory.teacher]                     # built where it is not there yet
path = "memories/teacher"
build = ["bfcl", "teacher-runs"]     # words after `amd build`; {out} in them is the folder above

[split.held-out]                     # drawn where it is not there yet
path = "splits/bfcl.json"
draw = ["bfcl", "teacher-runs", "--test", "0.3"]  # words after `amd split`

[arm.none]
method = "none"

[arm.amd]
memory = "teacher"                   # by its name above, or a directory; as is a split
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from amd.arms import Arm, read_toml
from amd.errors import ConfigError
from amd.experiment.planned import LOGS, REPORTS, STATE, Option, PlannedRun
from amd.experiment.recipes import MemoryRecipe, Recipe, SplitRecipe

__all__ = ["Experiment", "read_experiment"]

_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,80}")
_OWN = frozenset({STATE, LOGS, REPORTS, ".lock"})
_OPTION = re.compile(r"[a-z][a-z0-9_]*")
_KEY = re.compile(r'"[^"]+"|[^."]+')
_KEYS = re.compile(rf"(?:{_KEY.pattern})(?:\.(?:{_KEY.pattern}))*")
_Options: TypeAlias = dict[str, Option]


class Experiment(BaseModel):
    """The settings of an experiment, checked: see the module's example."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    benchmark: str = Field(min_length=1)
    python: Path = Path(sys.executable)
    out: Path
    seeds: Annotated[int, Field(ge=1, le=100, strict=True)] = 1
    baseline: str = "none"
    tasks: _Options = {}
    student: dict[str, _Options] = Field(min_length=1)
    memory: dict[str, MemoryRecipe] = {}
    split: dict[str, SplitRecipe] = {}
    arm: dict[str, dict[str, object]] = Field(min_length=1)

    @model_validator(mode="after")
    def _arms_speak_for_themselves(self) -> Self:
        """An option of an arm, or of a run's place, would silently win over each arm where it is given for all."""
        own = {*Arm.model_fields, "out", "experiment", "root", "seed"}
        tables = {"tasks": self.tasks, **{f"student.{name}": values for name, values in self.student.items()}}
        wrong = [f"{table}.{key}" for table, values in tables.items() for key in values if key in own]
        wrong += [f"tasks.{key}" for key in self.tasks if any(key in values for values in self.student.values())]
        if wrong:
            raise ValueError(f"{', '.join(wrong)}: that is for [arm.NAME] to say, or said twice")
        odd = [f"{table}.{key}" for table, values in tables.items() for key in values if not _OPTION.fullmatch(key)]
        if odd:
            raise ValueError(f"{odd[0]!r} is no option: write it in small letters, with _ in place of -")
        names = [f"{who}-{name}".casefold() for who in self.student for name in self.arm]
        if len(set(names)) < len(names):
            raise ValueError("two runs would have one directory: give students and arms other names")
        return self

    @model_validator(mode="after")
    def _each_thing_has_its_place(self) -> Self:
        """What is made at a path is one thing, and does not lie among a run's files."""
        out = Path(os.path.realpath(self.out))  # a link that leads to itself is no place of its own
        own = {f"{who}-{arm}" for who in self.student for arm in self.arm}
        taken: dict[Path, str] = {}
        recipes: list[tuple[str, Recipe]] = [(f"memory.{name}", recipe) for name, recipe in self.memory.items()]
        recipes += [(f"split.{name}", recipe) for name, recipe in self.split.items()]
        for name, recipe in recipes:
            path = Path(os.path.realpath(recipe.path))
            if out.is_relative_to(path):
                raise ValueError(f"{name}: its path is that of out")
            first = path.relative_to(out).parts[0] if path.is_relative_to(out) else ""
            if first in _OWN or first.rpartition("-")[0] in own:
                raise ValueError(f"{name}: its path is that of {'a run' if first not in _OWN else first}")
            beside = [at for at in taken if at.is_relative_to(path) or path.is_relative_to(at)]
            if beside:
                raise ValueError(f"{name}: its path is that of {taken[beside[0]]}")
            if "--out" in recipe.given:
                raise ValueError(f"{name}: --out is its path, and said twice")
            taken[path] = name
        return self

    @model_validator(mode="before")
    @classmethod
    def _out_is_known(cls, values: object) -> object:
        """``{out}`` in a recipe is the experiment's own folder: what it makes of its own runs lies there."""
        if not isinstance(values, dict) or "out" not in values:
            return values
        tables = {key: _filled(values[key], str(values["out"])) for key in ("memory", "split") if key in values}
        return {**values, **tables}

    @field_validator("student", "memory", "split", "arm")
    @classmethod
    def _named(cls, table: dict[str, object]) -> dict[str, object]:
        """Names become names of directories."""
        for name in table:
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name: use letters, digits, '.', '_' and '-'")
        return table

    def arms(self) -> Mapping[str, Arm]:
        """Each arm with the paths of its memory and its split in place of their names.

        Raises:
            ConfigError: an arm contradicts itself, two are the same, or the baseline is none of them.
        """
        found = {}
        for name, values in self.arm.items():
            given = dict(values)
            for key, table in (("memory", self.memory), ("split", self.split)):
                recipe: Recipe | None = table.get(str(given.get(key)))
                if recipe is not None:
                    given[key] = str(recipe.path)
            try:
                found[name] = Arm.of(given)
            except ConfigError as error:
                raise ConfigError(f"arm.{name}: {error.message}", next_step=error.next_step) from error
        for name, arm in found.items():
            twin = next((other for other in found if other != name and found[other] == arm), None)
            if twin is not None:
                raise ConfigError(
                    f"arm.{name} and arm.{twin} are one arm: they differ in nothing",
                    next_step="leave one of them out, and raise seeds to run it more often",
                )
        if self.baseline not in found:
            raise ConfigError(
                f"the baseline {self.baseline!r} is no arm of it", next_step=f"name one of {', '.join(found)}"
            )
        return found

    def runs(self) -> Iterator[PlannedRun]:
        """Every run, seed by seed, so that an experiment that is stopped has whole rounds."""
        arms = self.arms()
        for seed in range(self.seeds):
            for who, student in self.student.items():
                for name, arm in arms.items():
                    place = self.out / f"{who}-{name}-{seed}"
                    told = self.arm_options(name, arm)
                    yield PlannedRun(place, name, who, seed, arm.memory, told, student, self.tasks)

    def recipes(self) -> list[Recipe]:
        """The splits and memories that its arms or its memories read, each once, splits first."""
        arms = self.arms().values()
        splits: dict[Path, Recipe] = {recipe.path: recipe for recipe in self.split.values()}
        read = {arm.memory for arm in arms if arm.memory is not None}
        memories: dict[Path, Recipe] = {recipe.path: recipe for recipe in self.memory.values() if recipe.path in read}
        for path in sorted(read - memories.keys()):
            memories[path] = MemoryRecipe(path=path)
        for path in sorted({arm.split for arm in arms if arm.split is not None} - splits.keys()):
            splits[path] = SplitRecipe(path=path)
        return [*splits.values(), *memories.values()]

    def arm_options(self, name: str, arm: Arm) -> _Options:
        """What the file says of an arm, as options of the overlay's command."""
        given = {key: getattr(arm, key) for key in self.arm[name]}
        return {key: value if isinstance(value, bool | int | float) else str(value) for key, value in given.items()}


def read_experiment(path: Path, changed: Sequence[str] = ()) -> Experiment:
    """The experiment of a TOML file.

    Args:
        path: the file.
        changed: ``KEY=VALUE``, each in place of what the file says: ``student.qwen3-4b.base_url=http://...``. A value
            is read as TOML, and as a text if it is none. ``KEY=`` takes the key out: an arm, or a temperature.

    Raises:
        ConfigError: the file cannot be read, or something in it is unknown, missing or contradicts itself.
    """
    values = dict(read_toml(path))
    for change in changed:
        _set(values, change)
    if any("\0" in text for text in _texts(values)):
        raise ConfigError(f"{path}: a text holds the character NUL", next_step="take it out", path=str(path))
    try:
        experiment = Experiment.model_validate(values)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(map(str, fault["loc"]))
        raise ConfigError(
            f"{path}: {place}: {fault['msg'].removeprefix('Value error, ')}",
            next_step=f"its keys are: {', '.join(Experiment.model_fields)}",
            path=str(path),
        ) from error
    experiment.arms()
    return experiment


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value:
            yield from _texts(each)
        yield from _texts(list(value.values()) if isinstance(value, dict) else ())


def _filled(value: object, out: str) -> object:
    if isinstance(value, str):
        return value.replace("{out}", out)
    if isinstance(value, list):
        return [_filled(each, out) for each in value]
    return {key: _filled(each, out) for key, each in value.items()} if isinstance(value, dict) else value


def _set(values: dict[str, object], change: str) -> None:
    """Put one value in its place, or take it out; a name in the path that is not there yet is made."""
    key, equals, value = change.partition("=")
    if not equals or not _KEYS.fullmatch(key):
        raise ConfigError(f"--set {change}: write KEY=VALUE", next_step="as in --set student.small.model=qwen3-4b")
    *path, last = [name.strip('"') for name in _KEY.findall(key)]
    table = values
    for part in path:
        inner = table.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"--set {change}: {part} is no table", next_step="name a key of the file")
        table = inner
    if not value:
        if last not in table:
            raise ConfigError(f"--set {change}: there is no such key", next_step=f"it has {', '.join(table) or 'none'}")
        del table[last]
        return
    try:
        table[last] = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        table[last] = value
