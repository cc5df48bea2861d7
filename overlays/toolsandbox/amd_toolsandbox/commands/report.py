"""``report``: what each arm was shown, and whether anything was shown that should have been hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from amd.cli.console import print_columns, print_json
from amd.errors import LeakageError
from amd_toolsandbox.commands.options import Json, SuccessScore
from amd_toolsandbox.report import report_on, unlike
from amd_toolsandbox.run import Run

__all__ = ["report"]


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Directories of runs.", show_default=False)],
    *,
    success_score: SuccessScore = 0.9,
    json: Json = False,
) -> None:
    """What the scenarios of each run were shown, beside their scores.

    Exit code 4 if one was shown records of its own family in an arm that hides them.

    Example: python -m amd_toolsandbox report runs/none runs/amd
    """
    reports = [report_on(Run(run), success_score) for run in runs]
    if json:
        print_json({"runs": [each.as_json() for each in reports]})
    else:
        print_columns("what each arm was shown", [(each.run.path.name, each.rows()) for each in reports])
    for other in reports[1:]:
        reasons = unlike(reports[0], other)
        if reasons:
            names = f"{reports[0].run.path.name} and {other.run.path.name}"
            typer.echo(f"NOT COMPARABLE: {names} differ in {'; '.join(reasons)}", err=True)
    leaks = {str(each.run.path): each.figures.leaks for each in reports if each.figures.leaks}
    if leaks:
        raise LeakageError(
            f"records of a scenario's own family were shown where they are to be hidden: {leaks}",
            next_step="do not use these scores; check how families were given",
            leaks=leaks,
        )
