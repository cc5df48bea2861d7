"""``amd drift``: the records that the tools of today contradict, listed as a linter does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from amd.cli.console import counts, print_json, print_table
from amd.cli.options import Directory, Json
from amd.errors import ConfigError
from amd.experiment.drift import Contradiction, Drift
from amd.experiment.drift import drift as find_drift
from amd.experiment.tool_files import ToldTools, read_tools
from amd.store import Memory, read_memory
from amd.store.figures import RECORDS
from amd.store.place import generation_folder

__all__ = ["drift"]

_FIRST = 20  # findings that are listed: tools of another benchmark contradict every record


def drift(
    directory: Directory,
    *,
    tools: Annotated[
        Path, typer.Option(help="The tools there are now: OpenAI functions, or runs with tools.", show_default=False)
    ],
    every: Annotated[bool, typer.Option("--all", help=f"List all findings, not only the first {_FIRST}.")] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="There may be other tools than these: nothing is called removed.")
    ] = False,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 whatever was found.")] = False,
    json: Json = False,
) -> None:
    """List records that the current tools contradict, each as FILE:LINE: KIND: what. Nothing is changed.

    The first twenty are listed and all are counted; --all lists all of them, and so does --json.

    \b
    removed   a tool that the record names is not there
    unknown   the tool has no such argument any more: it was renamed or dropped
    required  the tool needs an argument that the record's call lacks
    enum      the value that the record shows is no choice of the argument any more
    type      the value that the record shows is of another type than the argument
    schema    the tool's arguments have changed, in nothing that the record shows

    A record that a session would pass over is marked "not shown": any record of a tool that is gone, and every record
    that tells how a tool is called whose schema has changed. One that does not know what the schema was (its run's
    tools were unknown, or a person wrote it) is STILL SHOWN: mend it, retire it, or leave it. A workflow tells no call:
    it is judged by the names of its tools alone.

    FILE must tell all tools there are, or every record of another tool would be called removed. So runs of which some
    tell no tools are refused, unless --partial says that there may be other tools: then removed is not judged.

    To have a record shown again, mend its calls and write into its "schemas" the hash that the tool's schema has now
    (schema_sha256 of --json), or take the tool out of them; then run amd reindex. Or build from newer runs with
    amd build --replace: without it, a newer run of a task may give way to the older one (fewer calls).

    Exit code 0: nothing was found; 1: something was (0 with --exit-zero); the others are those of every command.

    Example: amd drift memory --tools tools.json

    Example: amd drift memory --tools runs.jsonl --partial
    """  # noqa: D301 - click's mark for lines that are not wrapped
    told = read_tools(tools)
    _check_told(tools, told, partial=partial)
    with read_memory(directory) as memory:
        report = find_drift(memory, told.specs, partial=partial)
        if json:
            print_json(_as_json(memory, report, told, partial=partial))
        else:
            _print(memory, report, told, every=every, partial=partial)
    if report.contradictions and not exit_zero:
        raise typer.Exit(1)


def _check_told(tools: Path, told: ToldTools, *, partial: bool) -> None:
    """Whether a tool that the file lacks is gone."""
    if told.silent and not partial:
        raise ConfigError(
            f"{tools}: {told.silent} of its {told.runs} runs tell no tools, so a tool that is missing may still exist",
            next_step="give a list of all tools, or --partial: then no tool is called removed",
            path=str(tools),
            runs=told.runs,
            silent=told.silent,
        )


def _as_json(memory: Memory, report: Drift, told: ToldTools, *, partial: bool) -> dict[str, object]:
    return {
        "memory": str(memory.path),
        "seal": memory.seal,
        "tools": len(told.specs),
        "runs": told.runs,
        "runs_without_tools": told.silent,
        "partial": partial,
        "records": report.records,
        "found": report.found,
        "still_shown": report.still_shown,
        "contradictions": [asdict(each) for each in report.contradictions],
    }


def _print(memory: Memory, report: Drift, told: ToldTools, *, every: bool, partial: bool) -> None:
    folder = generation_folder(memory.path, memory.manifest.generation)
    listed = report.contradictions if every else report.contradictions[:_FIRST]
    for each in listed:
        typer.echo(f"{folder / each.tier / RECORDS}:{each.line}: {each.kind}: {_in_words(each)}")
    if len(listed) < len(report.contradictions):
        typer.echo(f"and {len(report.contradictions) - len(listed)} more; --all lists them")
    rows: list[tuple[str, object]] = [
        ("tools", f"{len(told.specs)}{', perhaps others too: removed is not judged' if partial else ''}"),
        *([("runs that tell no tools", f"{told.silent} of {told.runs}")] if told.runs else []),
        ("records", counts(report.records)),
        ("found", counts(report.found)),
        ("records contradicted", _records(report.contradictions)),
        ("of these not shown", _records([each for each in report.contradictions if not each.shown])),
        ("of these STILL SHOWN", report.still_shown),
    ]
    same = "as the tools are that are told" if partial else "as its tools are"
    print_table(f"memory {memory.path}: {'drifted' if report.contradictions else same}", rows)
    if report.contradictions:
        typer.echo(
            f"to change a record, edit its line (calls and schemas), or retire it, and run: amd reindex {memory.path}",
            err=True,
        )


def _records(contradictions: Sequence[Contradiction]) -> int:
    return len({each.record for each in contradictions})


def _in_words(each: Contradiction) -> str:
    state = "STILL SHOWN" if each.shown else "not shown"
    return f"{each.what}; {state} ({each.record[:8]}, family {each.family})"
