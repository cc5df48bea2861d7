"""The arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = ["BaseUrl", "Directory", "Json", "Pin", "StoredEmbedder"]

Directory: TypeAlias = Annotated[Path, typer.Argument(metavar="DIR", help="The memory directory.", show_default=False)]
Pin: TypeAlias = Annotated[str | None, typer.Option(help="The seal that the memory must have.")]
BaseUrl: TypeAlias = Annotated[
    str | None, typer.Option(help="The endpoint of openai:MODEL, as http://127.0.0.1:8000/v1; else OPENAI_BASE_URL.")
]
StoredEmbedder: TypeAlias = Annotated[
    str | None, typer.Option("--embedder", help="Where the memory's embedder is, if it is a folder: onnx:DIR.")
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
