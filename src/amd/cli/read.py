"""``amd read``: a trace format becomes canonical trajectories, and the gate says what a build would take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from amd.build import admit
from amd.cli.console import StageProgress, counts, print_json, print_some, print_table, unreadable
from amd.cli.formats import FormatGroup
from amd.cli.options import Json
from amd.errors import ConfigError
from amd.traces import Reader, ReaderOptions, Trajectory, write

__all__ = ["app"]


def _read(
    reader: Reader[Any],
    paths: Sequence[Path],
    options: ReaderOptions,
    *,
    out: Annotated[Path, typer.Option(help="The JSONL file to write.", show_default=False)],
    admitted_only: Annotated[
        bool, typer.Option("--admitted-only", help="Write only the runs that a build would take.")
    ] = False,
    json: Json = False,
) -> None:
    """Read runs of the format {format} and write them as amd-trajectory/1, one run a line.

    All readable runs are written, whatever their outcome; the figures say what the gate would take.

    Example: amd read {format} runs.jsonl --out trajectories.jsonl
    """
    _check_out(out, paths)
    with StageProgress() as progress:
        items = []
        for item in reader.read(paths, options):
            items.append(item)
            progress("read", len(items), 0)
    gate = admit(items)
    kept = gate.admitted if admitted_only else [item for item in items if isinstance(item, Trajectory)]
    written = write(out, kept)
    if json:
        print_json(
            {
                "read": gate.read,
                "admitted": len(gate.admitted),
                "refused": gate.refused,
                "notes": gate.notes,
                "written": written,
                "refusals": [asdict(refusal) for refusal in gate.refusals],
            }
        )
    else:
        rows = [("runs read", gate.read), ("admitted", len(gate.admitted)), ("refused", counts(gate.refused))]
        print_table(f"{reader.name} -> {out}", [*rows, ("notes", counts(gate.notes)), ("written", written)])
        for terms in sorted({item.source.terms for item in kept if item.source.terms}):
            typer.echo(f"{out}: {terms}", err=True)
        print_some([f"unreadable: {refusal.where}: {refusal.detail}" for refusal in unreadable(gate.refusals)])
    if not gate.admitted:
        raise typer.Exit(1)


def _check_out(out: Path, paths: Sequence[Path]) -> None:
    """Refuse to write over what is read, or where no file can be."""
    if not out.name or out.is_dir():
        raise ConfigError(f"--out {out} is a directory: name a file")
    for path in paths:
        if out.resolve() == path.resolve() or (path.is_dir() and path.resolve() in out.resolve().parents):
            raise ConfigError(f"--out {out} is, or lies in, what is read ({path}): name another file")


class _Formats(FormatGroup):
    job = staticmethod(_read)


app = typer.Typer(
    cls=_Formats,
    help="Read a trace format and write canonical trajectories. `amd read FORMAT --help` shows a format's options.\n\n"
    "\b\nExample: amd read openai-chat runs.jsonl --out trajectories.jsonl",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _formats() -> None:
    """Exists so that typer makes a group."""
