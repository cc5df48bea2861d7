"""The arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_args

import typer

from amd.arms import Arm

__all__ = ["Json", "RootFolder", "of_arm", "words"]

RootFolder: TypeAlias = Annotated[
    Path,
    typer.Option("--root", help="The folder with AppWorld's data; experiments go there too.", show_default=False),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]


def of_arm(name: str) -> Any:  # noqa: ANN401 - typer's own
    """An option as the arm's own field describes it."""
    field = Arm.model_fields[name]
    choices = [choice for choice in get_args(field.annotation) if isinstance(choice, str)]
    default = f" [default: {field.default}]" if field.default is not None else ""
    return typer.Option(help=f"{field.description}{default}", metavar="|".join(choices) or None)


def words(values: list[str] | None) -> tuple[str, ...] | None:
    """Words that were given one by one or by commas."""
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip()) if values else None
