"""``amd split``: which families are learnt from and which are held out, drawn once and kept as a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from amd.cli.console import StageProgress, counts, print_json, print_table
from amd.cli.formats import FormatGroup
from amd.cli.options import Json
from amd.errors import ConfigError
from amd.experiment.splits import draw_split, write_split
from amd.traces import Reader, ReaderOptions, Refusal, Trajectory

__all__ = ["app"]


def _split(
    reader: Reader[Any],
    paths: Sequence[Path],
    options: ReaderOptions,
    *,
    out: Annotated[Path, typer.Option(help="The split file to write.", show_default=False)],
    test: Annotated[float, typer.Option(help="The share of families to hold out.")] = 0.3,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Which draw.")] = 0,
    json: Json = False,
) -> None:
    """Draw a split over the families of runs of the format {format}.

    All runs that can be read count, whatever their outcome. Families that share an instruction stay on one side. The
    same families, share and seed give the same split in any order. A file that holds another split is never written
    over.

    Example: amd split {format} runs.jsonl --test 0.3 --seed 0 --out split.json

    Example: amd build {format} runs.jsonl --split split.json --out train-memory
    """
    if not out.name or out.is_dir():
        raise ConfigError(f"--out {out} is a directory: name a file")
    runs: list[Trajectory] = []
    refused: dict[str, int] = {}
    with StageProgress() as progress:
        for item in reader.read(paths, options):
            if isinstance(item, Trajectory):
                runs.append(item)
                progress("read", len(runs), 0)
            elif isinstance(item, Refusal):
                refused[item.reason] = refused.get(item.reason, 0) + 1
    split = draw_split((run.task for run in runs), test=test, seed=seed)
    written = write_split(out, split, seed=seed, test=test)
    if json:
        print_json(
            {
                "out": str(out),
                "written": written,
                "benchmark": split.benchmark,
                "sha256": split.sha256,
                "runs": len(runs),
                "not_read": refused,
                "train": sorted(split.train),
                "test": sorted(split.test),
            }
        )
        return
    rows: list[tuple[str, object]] = [
        ("benchmark", split.benchmark),
        ("runs read", len(runs)),
        ("not read", counts(refused)),
        ("train families", len(split.train)),
        ("test families", len(split.test)),
    ]
    print_table(f"split {out}{'' if written else ' (unchanged)'}", rows)
    typer.echo(f"sha256 {split.sha256}")


class _Formats(FormatGroup):
    job = staticmethod(_split)


app = typer.Typer(
    cls=_Formats,
    help="Draw train and test families from runs, and keep them as a file for build, ask, coverage and arms.\n\n"
    "\b\nExample: amd split openai-chat runs.jsonl --test 0.3 --seed 0 --out split.json",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _formats() -> None:
    """Exists so that typer makes a group."""
