"""``amd drift``: the records that the tools of today contradict, listed as a linter does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from amd.cli.console import counts, print_json, print_table
from amd.cli.options import Directory, Json
from amd.experiment.drift import Contradiction, Drift
from amd.experiment.drift import drift as find_drift
from amd.experiment.tool_files import read_tools
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

    To have a record shown again, mend its calls and write into its "schemas" the hash that the tool's schema has now
    (schema_sha256 of --json), or take the tool out of them; then run amd reindex. Or build from newer runs with
    amd build --replace: without it, a newer run of a task may give way to the older one (fewer calls).

    Exit code 0: nothing was found; 1: something was (0 with --exit-zero); the others are those of every command.

    Example: amd drift memory --tools tools.json
    """  # noqa: D301 - click's mark for lines that are not wrapped
    specs = read_tools(tools)
    with read_memory(directory) as memory:
        report = find_drift(memory, specs)
        if json:
            print_json(
                {
                    "memory": str(memory.path),
                    "seal": memory.seal,
                    "tools": len(specs),
                    "records": report.records,
                    "found": report.found,
                    "still_shown": report.still_shown,
                    "contradictions": [asdict(each) for each in report.contradictions],
                }
            )
        else:
            _print(memory, report, len(specs), every=every)
    if report.contradictions and not exit_zero:
        raise typer.Exit(1)


def _print(memory: Memory, report: Drift, tools: int, *, every: bool) -> None:
    folder = generation_folder(memory.path, memory.manifest.generation)
    listed = report.contradictions if every else report.contradictions[:_FIRST]
    for each in listed:
        typer.echo(f"{folder / each.tier / RECORDS}:{each.line}: {each.kind}: {_in_words(each)}")
    if len(listed) < len(report.contradictions):
        typer.echo(f"and {len(report.contradictions) - len(listed)} more; --all lists them")
    rows: list[tuple[str, object]] = [
        ("tools", tools),
        ("records", counts(report.records)),
        ("found", counts(report.found)),
        ("records contradicted", _records(report.contradictions)),
        ("of these not shown", _records([each for each in report.contradictions if not each.shown])),
        ("of these STILL SHOWN", report.still_shown),
    ]
    print_table(f"memory {memory.path}: {'drifted' if report.contradictions else 'as its tools are'}", rows)
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
