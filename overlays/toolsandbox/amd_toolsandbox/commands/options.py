"""The arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = ["Json", "RunDirectory", "SuccessScore", "words"]

RunDirectory: TypeAlias = Annotated[
    Path, typer.Argument(metavar="RUN", help="A directory that run wrote.", show_default=False)
]
SuccessScore: TypeAlias = Annotated[
    float, typer.Option(min=0, max=1, help="The least similarity that counts as success.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]


def words(values: list[str] | None) -> tuple[str, ...] | None:
    """Words that were given one by one or by commas."""
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip()) if values else None
