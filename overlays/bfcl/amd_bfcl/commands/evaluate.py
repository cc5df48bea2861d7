"""``evaluate``: the benchmark's own evaluator scores a run."""

from __future__ import annotations

from typing import Annotated

import typer

from amd.cli.console import print_json, print_table
from amd_bfcl.commands.options import AnyVersion, Json, RunDirectory
from amd_bfcl.evaluate import evaluate as score
from amd_bfcl.run import Run

__all__ = ["evaluate"]


def evaluate(
    run: RunDirectory,
    *,
    partial: Annotated[
        bool, typer.Option("--partial", "--partial-eval", help="Score it although tasks are missing.")
    ] = False,
    count_errors: Annotated[
        bool, typer.Option("--count-errors", help="Count an inference error as a wrong answer, as the harness does.")
    ] = False,
    any_version: AnyVersion = False,
    json: Json = False,
) -> None:
    """Score a run by the benchmark's own evaluator. Neither its memory nor a key is needed.

    A run with missing tasks or inference errors is not scored unless that is asked for: a zero would look like an
    answer.

    Example: python -m amd_bfcl evaluate runs/amd
    """
    opened = Run(run)
    scores = score(opened, partial=partial, count_errors=count_errors, any_version=any_version)
    settings = opened.settings
    if json:
        counted = {str(name): {"correct": each.correct, "total": each.total} for name, each in scores.items()}
        print_json({"run": str(opened.path), "name": settings.name, "protocol": settings.arm.label, "scores": counted})
        return
    rows = [(str(name), f"{each.correct} of {each.total} right") for name, each in scores.items()]
    print_table(f"{settings.name}, {settings.arm.label}", rows)
    typer.echo(f"next: python -m amd_bfcl report {opened.path}")
