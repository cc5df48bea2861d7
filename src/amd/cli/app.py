"""The command ``amd``: its groups of commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from amd import __version__
from amd.cli import ask, build, check, coverage, drift, experiment, forget, lint, read, report, show, split
from amd.cli.console import help_of
from amd.cli.exits import run_app

__all__ = ["app", "main"]


class _InOrder(TyperGroup):
    """Shows the commands in the order in which one uses them."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - click's own type moved between typer releases
        """From runs to a memory, then what a memory is good for."""
        return [
            "read",
            "split",
            "build",
            "show",
            "lint",
            "ask",
            "coverage",
            "check",
            "drift",
            "reindex",
            "forget",
            "experiment",
            "report",
        ]


app = typer.Typer(
    name="amd",
    cls=_InOrder,
    help="Turns a strong agent's successful runs into a memory that a small agent reads.",
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(read.app, name="read", short_help="Runs of any format become canonical trajectories.")
app.add_typer(build.app, name="build", short_help="Build a memory from runs, or add to one.")
app.add_typer(split.app, name="split", short_help="Draw train and test families, and keep them as a file.")
app.add_typer(coverage.app, name="coverage", short_help="Evaluate a memory on recorded runs, without a student.")
for _command, _about in (
    (show.show, "Show records as a student reads them."),
    (lint.lint, "List records that a person should look at."),
    (ask.ask, "What a student would be shown, and what is hidden."),
    (check.check, "Check every byte; name each fault."),
    (experiment.experiment, "Run arms x students x seeds on a benchmark."),
    (drift.drift, "List records that the tools of today contradict."),
    (check.reindex, "Take in edited records, or change the embedder."),
    (report.report, "Compare the runs of several arms, with statistics."),
    (forget.forget, "Retire records with which runs failed too often."),
):
    app.command(name=_command.__name__, help=help_of(_command), short_help=_about)(_command)


@app.callback()
def _amd(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit: 0 done, 1 bad input, 2 usage, 3 a service, 4 a leak, 130 interrupted."""
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; an error is one line on standard error, never a traceback."""
    return run_app(app, "amd", arguments)
