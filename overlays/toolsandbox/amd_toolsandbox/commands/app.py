"""``python -m amd_toolsandbox``: its commands, and how they end."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from amd.cli.console import help_of
from amd.cli.exits import run_app
from amd_toolsandbox.commands.families import families
from amd_toolsandbox.commands.play import play
from amd_toolsandbox.commands.report import report
from amd_toolsandbox.commands.run import rescore, run

__all__ = ["app", "main"]

app = typer.Typer(
    name="amd_toolsandbox",
    help="ToolSandbox for amd: students in the real harness, with and without memory.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)

for command in (run, report, rescore, play, families):
    app.command(help=help_of(command))(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; every expected failure is one line on standard error."""
    return run_app(app, "python -m amd_toolsandbox", sys.argv[1:] if arguments is None else arguments)
