"""What a run is asked for: TOML files, the later ones and the command line before the earlier ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from amd.arms import Arm, read_toml
from amd.errors import ConfigError
from amd_bfcl.families import Category

__all__ = ["Plan", "check_known", "read_plan"]

PASSED_ON: Mapping[str, type[float] | None] = {
    "--temperature": float,
    "--include-input-log": None,
    "--exclude-state-log": None,
}
"""The options of ``bfcl generate`` that are handed on, with the type of their value; its others are about serving
models on GPUs, or follow from the run directory."""


class Plan(BaseModel):
    """One student, one arm, and the tasks to run. ``harness`` has further options of ``bfcl generate``."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    model: str = Field(min_length=1)
    base_url: str | None = None
    calling: Literal["fc", "prompting"] = "fc"
    categories: tuple[Category, ...] = Field((Category.BASE,), min_length=1)
    ids: tuple[str, ...] | None = Field(None, min_length=1)
    limit: int | None = Field(None, ge=1, strict=True)
    arm: Arm
    harness: tuple[str, ...] = ()

    @field_validator("categories")
    @classmethod
    def _once(cls, categories: tuple[Category, ...]) -> tuple[Category, ...]:
        """Each category once and in the benchmark's order, so that the same wish is the same run."""
        return tuple(category for category in Category if category in categories)


def read_plan(files: Sequence[Path], given: Mapping[str, Any], arm: Mapping[str, Any], more: Sequence[str]) -> Plan:
    """The plan of TOML files, of what was given beside them, and of further words for the harness.

    Args:
        files: with ``model``, ``base_url``, ``calling``, ``categories`` and the tables ``[arm]`` and ``[harness]``;
            a table ``[vllm]`` is for ``scripts/serve_vllm.sh``.
        given: top keys of the same names; ``None`` leaves a key to the files.
        arm: keys of ``[arm]``, in the same way.
        more: words for the harness's own command line, after those of ``[harness]``.

    Raises:
        ConfigError: a file cannot be read, or something in it or beside it is unknown, missing or contradicts itself.
    """
    top: dict[str, Any] = {}
    arms: dict[str, Any] = {}
    harness: dict[str, Any] = {}
    for path in files:
        value = dict(read_toml(path))
        value.pop("vllm", None)
        arms |= _table(value.pop("arm", {}), path, "arm")
        harness |= _table(value.pop("harness", {}), path, "harness")
        _check_words(harness, path)
        top |= value
    top |= {key: value for key, value in given.items() if value is not None}
    arms |= {key: value for key, value in arm.items() if value is not None}
    words = _once([*(word for key, value in harness.items() for word in _option(key, value)), *more])
    if "model" not in top:
        raise ConfigError("no model is named", next_step="give --model NAME, or a --config file with model = NAME")
    try:
        return Plan(**{**top, "arm": Arm.of(arms), "harness": words})
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ConfigError(
            f"{'.'.join(map(str, fault['loc']))}: {_said(fault)}",
            next_step=f"keys are: {', '.join(Plan.model_fields)}"
            if _unknown(fault)
            else "correct it in the --config file, or on the command line",
        ) from error


def _unknown(fault: Mapping[str, Any]) -> bool:
    return bool(fault["type"] == "extra_forbidden")


def _said(fault: Mapping[str, Any]) -> str:
    return "there is no such key" if _unknown(fault) else f"{fault['msg']}, not {fault['input']!r:.80}"


def _table(value: object, path: Path, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: {name} is no table", next_step=f"write [{name}] on a line of its own")
    return value


def _check_words(values: Mapping[str, object], path: Path) -> None:
    for key, value in values.items():
        if not isinstance(value, bool | int | float | str):
            raise ConfigError(
                f"{path}: harness.{key} is {value!r}, which is no one word of a command line",
                next_step="give a text, a number, or true for a switch",
                option=key,
            )


def _option(key: str, value: object) -> tuple[str, ...]:
    """A key of ``[harness]`` as words of a command line; a switch is written as ``true``."""
    name = f"--{key.replace('_', '-')}"
    if isinstance(value, bool):
        return (name,) if value else ()
    return (name, str(value))


def _once(words: Sequence[str]) -> tuple[str, ...]:
    """Each option once, as it was said last, so that the same wish is the same run."""
    check_known(words)
    found: dict[str, tuple[str, ...]] = {}
    rest = list(words)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if PASSED_ON[name] is not None:
            value = value if equals else rest.pop(0)
        found[name] = (name, value) if value else (name,)
    return tuple(word for words_of_one in found.values() for word in words_of_one)


def check_known(words: Sequence[str]) -> None:
    """Refuse what ``bfcl generate`` would refuse after a run directory was begun, or must not be told.

    Raises:
        ConfigError: an option is not handed on, or its value is no number where it needs one.
    """
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if name not in PASSED_ON or (equals and PASSED_ON[name] is None):
            raise ConfigError(
                f"there is no option {word!r}",
                next_step=f"--help shows those there are; of bfcl generate's own: {', '.join(PASSED_ON)}",
                option=word,
            )
        kind = PASSED_ON[name]
        if kind is None:
            continue
        value = value if equals else rest.pop(0) if rest else ""
        try:
            usable = math.isfinite(kind(value))
        except ValueError:
            usable = False
        if not usable:
            raise ConfigError(f"{name} {value}: not a {kind.__name__}", next_step="give a number", option=name)
