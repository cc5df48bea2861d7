"""``amd lint``: the records that a person should look at, as a linter lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from amd.cli.console import StageProgress, counts, print_json, print_table
from amd.cli.options import Directory, Json
from amd.errors import ConfigError
from amd.lint import CHECKS, Check, Finding, Report
from amd.lint import lint as lint_memory
from amd.store import Memory, read_memory
from amd.store.figures import RECORDS
from amd.store.place import generation_folder

__all__ = ["lint"]

_GROUPS = 10  # of near duplicates, the largest: more is no news, and agreement is no fault
_QUOTES = 5  # of one record


def lint(
    directory: Directory,
    tier: Annotated[str | None, typer.Option(help="Only records of this tier.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this check; may be given again.", metavar="CHECK")
    ] = None,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 whatever was found.")] = False,
    json: Json = False,
) -> None:
    """List records that a person should look at, each as FILE:LINE: CHECK: what. Nothing is changed.

    \b
    body         its tier cannot read it
    cue          a workflow's text never says what to check
    duplicate    several records say nearly the same; how many families agree
    instruction  what a tool answered reads as an instruction
    key          a key as long as a build keeps them, so probably cut off
    long         too long to be shown within the default limits
    tool         its words name a tool that its run never called
    value        its words have a value of its run: an id, a date, a file, a name

    Exit code 0: nothing was found; 1: something was (0 with --exit-zero); the others are those of every command.

    Example: amd lint memory

    Example: amd lint memory --tier workflow --only value --only tool
    """  # noqa: D301 - click's mark for lines that are not wrapped
    checks = _checks(only)
    with read_memory(directory) as memory:
        with StageProgress() as progress:
            report = lint_memory(memory, tier=tier, only=checks, progress=progress)
        if json:
            _print_json(memory, report)
        else:
            _print_lines(memory, report, whole=checks == ("duplicate",))
    if report.findings and not exit_zero:
        raise typer.Exit(1)


def _checks(names: Sequence[str] | None) -> tuple[Check, ...]:
    unknown = sorted(set(names or ()) - set(CHECKS))
    if unknown:
        raise ConfigError(
            f"no check is called {unknown[0]!r}", next_step=f"use one of: {', '.join(CHECKS)}", check=unknown[0]
        )
    return tuple(check for check in CHECKS if not names or check in names)


def _print_json(memory: Memory, report: Report) -> None:
    findings = [{name: value for name, value in asdict(finding).items() if value} for finding in report.findings]
    print_json(
        {
            "memory": str(memory.path),
            "seal": memory.seal,
            "records": report.records,
            "found": report.found,
            "findings": findings,
        }
    )


def _print_lines(memory: Memory, report: Report, *, whole: bool) -> None:
    """One finding a line; of the groups of near duplicates the largest, unless ``whole``."""
    folder = generation_folder(memory.path, memory.manifest.generation)
    groups = [finding for finding in report.findings if finding.group]
    largest = sorted(groups, key=_records, reverse=True)[: None if whole else _GROUPS]
    for finding in (*(each for each in report.findings if not each.group), *largest):
        typer.echo(f"{folder / finding.tier / RECORDS}:{finding.line}: {finding.check}: {_in_words(finding)}")
    rows = [("records", counts(report.records)), ("found", counts(report.found))]
    print_table(f"memory {memory.path}: {'something to look at' if report.findings else 'nothing to look at'}", rows)
    if len(largest) < len(groups):
        typer.echo(f"{len(groups) - len(largest)} smaller groups; --only duplicate lists them", err=True)
    if report.findings:
        typer.echo(f"to change a record, edit its line, or retire it, and run: amd reindex {memory.path}", err=True)


def _records(finding: Finding) -> int:
    return len(finding.group.records) if finding.group else 0


def _in_words(finding: Finding) -> str:
    """What was found, in which record, on one line."""
    quotes = finding.quotes[:_QUOTES]
    more = ["…"] if len(finding.quotes) > _QUOTES else []
    shown = ", ".join([*(f"“{' '.join(quote.split())}”" for quote in quotes), *more])
    return f"{finding.what}{': ' if shown else ''}{shown} ({finding.record[:8]}, family {finding.family})"
