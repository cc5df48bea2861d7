"""The arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from amd_bfcl.families import Category
from amd_bfcl.tasks import known_category

__all__ = [
    "AnyVersion",
    "BaseUrl",
    "Categories",
    "Json",
    "RunDirectory",
    "Threads",
    "Timeout",
    "categories_of",
    "words_of",
]

RunDirectory: TypeAlias = Annotated[
    Path, typer.Argument(metavar="RUN", help="A directory that generate wrote.", show_default=False)
]
Categories: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--category",
        "--test-category",
        "-c",
        metavar="CATEGORY,...",
        help=f"One of these, or several by commas: {', '.join(Category)}.  [default: {Category.BASE}]",
    ),
]
BaseUrl: TypeAlias = Annotated[
    str | None,
    typer.Option(help="The student's endpoint, up to and with /v1; else OPENAI_BASE_URL. The key is OPENAI_API_KEY."),
]
Threads: TypeAlias = Annotated[
    int, typer.Option("--threads", "--num-threads", min=1, help="How many tasks run at once.")
]
Timeout: TypeAlias = Annotated[
    float, typer.Option(min=0.1, help="Seconds that one request may take; it is tried twice more.")
]
AnyVersion: TypeAlias = Annotated[
    bool, typer.Option("--any-version", help="Take a bfcl-eval whose families nobody checked.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]


def words_of(values: Sequence[str] | None) -> tuple[str, ...] | None:
    """Words that were given one by one or by commas; ``None`` where nothing was given.

    >>> words_of(["a,b", "c"])
    ('a', 'b', 'c')
    """
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip()) if values else None


def categories_of(values: Sequence[str] | None) -> tuple[Category, ...] | None:
    """The categories of these words, each once; ``ConfigError`` for a word that names none, or for no word at all."""
    words = words_of(values)
    if words is None:
        return None
    return tuple(dict.fromkeys(map(known_category, words or ("",))))
