"""``report``: what each arm was shown, and whether anything was shown that should have been hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from amd.cli.arms import tell_reports
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
    for each in reports:
        if each.run.settings.test_source:
            typer.echo(f"{MARK}: {each.run.path.name}", err=True)
    tell_reports(reports, unlike, json=json, what="task")
