"""``report``: what each arm was shown, and whether anything was shown that should have been hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from amd.cli.console import print_columns, print_json
from amd.errors import LeakageError
from amd_appworld.commands.options import Json
from amd_appworld.report import MARK, report_on, unlike
from amd_appworld.run import Run

__all__ = ["report"]


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Folders of ROOT/experiments/outputs that run wrote.", show_default=False
        ),
    ],
    *,
    json: Json = False,
) -> None:
    """What the tasks of each run were shown, beside what came of them.

    Exit code 4 if one was shown records of its own scenario in an arm that hides them.

    Example: python -m amd_appworld report outputs/none outputs/amd
    """
    reports = [report_on(Run(run)) for run in runs]
    if json:
        print_json({"runs": [each.as_json() for each in reports]})
    else:
        print_columns("what each arm was shown", [(each.run.path.name, each.rows()) for each in reports])
    for each in reports:
        if each.run.settings.test_source:
            typer.echo(f"{MARK}: {each.run.path.name}", err=True)
    for other in reports[1:]:
        reasons = unlike(reports[0], other)
        if reasons:
            names = f"{reports[0].run.path.name} and {other.run.path.name}"
            typer.echo(f"NOT COMPARABLE: {names} differ in {'; '.join(reasons)}", err=True)
    leaks = {str(each.run.path): each.figures.leaks for each in reports if each.figures.leaks}
    if leaks:
        raise LeakageError(
            f"records of a task's own scenario were shown where they are to be hidden: {leaks}",
            next_step="do not use these scores; check how the memory was built",
            leaks=leaks,
        )
