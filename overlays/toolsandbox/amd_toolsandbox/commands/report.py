"""``report``: what each arm was shown, and whether anything was shown that should have been hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from amd.cli.arms import tell_reports
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
    tell_reports(reports, unlike, json=json, what="scenario")
