"""``python -m amd_appworld``: its commands, and how they end."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from amd.cli.console import help_of
from amd.cli.exits import run_app
from amd_appworld.commands.play import play
from amd_appworld.commands.report import report
from amd_appworld.commands.run import run

__all__ = ["app", "main"]

app = typer.Typer(
    name="amd_appworld",
    help="AppWorld for amd: a code agent in its worlds, with and without memory.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)

for command in (run, report, play):
    app.command(help=help_of(command))(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; every expected failure is one line on standard error."""
    return run_app(app, "python -m amd_appworld", sys.argv[1:] if arguments is None else arguments)
