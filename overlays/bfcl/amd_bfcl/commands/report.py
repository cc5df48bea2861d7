"""``report``: what each arm was shown, and whether anything was shown that should have been hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from amd.cli.arms import tell_reports
from amd_bfcl.commands.options import Json
from amd_bfcl.report import report_on, unlike
from amd_bfcl.run import Run

__all__ = ["report"]


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Directories of runs.", show_default=False)],
    *,
    json: Json = False,
) -> None:
    """Print what the tasks of each run were shown, beside its score.

    Exit code 4 if a task was shown records of its own family in an arm that hides them.

    Example: python -m amd_bfcl report runs/none runs/amd
    """
    reports = [report_on(Run(run)) for run in runs]
    tell_reports(reports, unlike, json=json, what="task")
