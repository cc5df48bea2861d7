"""The arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = ["Json", "RootFolder", "words"]

RootFolder: TypeAlias = Annotated[
    Path,
    typer.Option("--root", help="The folder with AppWorld's data; experiments go there too.", show_default=False),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]


def words(values: list[str] | None) -> tuple[str, ...] | None:
    """Words that were given one by one or by commas."""
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip()) if values else None
