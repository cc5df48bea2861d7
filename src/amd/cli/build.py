"""``amd build``: from a teacher's runs to a published memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from amd.build import BuildReport, Options, build_memory
from amd.cli.console import StageProgress, counts, print_json, print_some, print_table, unreadable
from amd.cli.formats import FormatGroup
from amd.cli.options import BaseUrl, Json, Pin
from amd.config import embedder_named
from amd.errors import ConfigError
from amd.exclusion import read_split
from amd.traces import Reader, ReaderOptions, Refusal

__all__ = ["app"]

_DISTILLERS = ("rules",)


_Out = Annotated[Path, typer.Option(help="The memory directory, new or to be added to.", show_default=False)]
_Method = Annotated[str, typer.Option(help="amd, or a sum of tiers: workflow+function.")]
_Distiller = Annotated[str, typer.Option(help="Who writes the records: rules (no model).")]
_Embedder = Annotated[str, typer.Option(help="minilm, hash (no model), onnx:DIR, or openai:MODEL for an endpoint.")]
_AllTrials = Annotated[bool, typer.Option("--all-trials", help="Keep every successful trial of a task, not the best.")]
_Replace = Annotated[bool, typer.Option("--replace", help="Publish this input alone: what was there goes, edits too.")]
_Strict = Annotated[bool, typer.Option("--strict", help="Fail, and publish nothing, if a run cannot be read.")]
_AssumeUnassisted = Annotated[
    bool, typer.Option("--assume-unassisted", help="Take runs for which it is unknown whether a memory helped.")
]
_Floor = Annotated[
    list[str] | None, typer.Option(metavar="TIER=X", help="Pin a tier's floor, the least cosine that counts.")
]
_Split = Annotated[Path | None, typer.Option(help="Admit only the train families of this split file.")]


def _build(
    reader: Reader[Any],
    paths: Sequence[Path],
    options: ReaderOptions,
    *,
    out: _Out,
    method: _Method = "amd",
    distiller: _Distiller = "rules",
    embedder: _Embedder = "minilm",
    base_url: BaseUrl = None,
    all_trials: _AllTrials = False,
    replace: _Replace = False,
    strict: _Strict = False,
    assume_unassisted: _AssumeUnassisted = False,
    floor: _Floor = None,
    split: _Split = None,
    pin: Pin = None,
    json: Json = False,
) -> None:
    """Build a memory from runs of the format {format}, or add to one.

    Only scored successes are admitted; every other run is counted by its reason. What was published before stays
    as it was until the end of the build, and building the same input again changes nothing.

    Example: amd build {format} runs.jsonl --out memory
    """
    if distiller not in _DISTILLERS:
        raise ConfigError(f"no distiller is called {distiller!r}", next_step="use --distiller rules")
    chosen = Options(
        method=method,
        all_trials=all_trials,
        replace=replace,
        strict=strict,
        assume_unassisted=assume_unassisted,
        floors=_floors(floor or ()),
        split=read_split(split) if split else None,
        pin=pin,
    )
    with StageProgress() as progress:
        report = build_memory(
            reader.read(paths, options),
            out,
            embedder=embedder_named(embedder, base_url),
            options=chosen,
            progress=progress,
        )
    if json:
        print_json(_as_json(report))
    else:
        _print(report, out)
    if not report.admitted:
        raise typer.Exit(1)


def _floors(pairs: Sequence[str]) -> dict[str, float]:
    floors = {}
    for pair in pairs:
        tier, _, value = pair.partition("=")
        try:
            floors[tier] = float(value)
        except ValueError:
            raise ConfigError(f"--floor {pair}: write TIER=X, as in workflow=0.4") from None
    return floors


def _as_json(report: BuildReport) -> Mapping[str, object]:
    value = asdict(report)
    value["refusals"] = [asdict(refusal) for refusal in report.refusals]
    return value


def _print(report: BuildReport, out: Path) -> None:
    """The table of a build, then what a person must know besides."""
    rows: list[tuple[str, object]] = [
        ("runs read", report.read),
        ("admitted", report.admitted),
        ("refused", counts(report.refused)),
        ("notes", counts(report.notes)),
        ("records", counts(report.records)),
        ("rows embedded", report.embedded),
        ("model calls", report.model_calls),
        ("generation", report.generation),
        ("seconds", ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in report.seconds.items())),
    ]
    state = "" if report.changed else " (unchanged)" if report.generation else ": nothing admitted, nothing published"
    print_table(f"memory {out}{state}", rows)
    if report.seal:
        typer.echo(f"content {report.digest}\nseal    {report.seal}")
    for tier, (before, after) in report.moved_floors.items():
        typer.echo(f"the floor of {tier} moved from {before:.3f} to {after:.3f}", err=True)
    print_some([f"retired: {task_id}" for task_id in report.retired])
    print_some([_line(refusal) for refusal in unreadable(report.refusals)])
    if not report.admitted:
        first = {refusal.reason: refusal for refusal in reversed(report.refusals)}
        for reason in report.refused:
            if reason != "unreadable":
                typer.echo(_line(first[reason]), err=True)


def _line(refusal: Refusal) -> str:
    return f"{refusal.reason}: {refusal.where}: {refusal.detail}"


class _Formats(FormatGroup):
    job = staticmethod(_build)


app = typer.Typer(
    cls=_Formats,
    help="Build a memory from runs, or add to one. `amd build FORMAT --help` shows a format's options.\n\n"
    "\b\nExample: amd build openai-chat runs.jsonl --out memory",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _formats() -> None:
    """Exists so that typer makes a group."""
