"""``python -m amd_bfcl``: its commands, and how they end."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from amd.cli.console import help_of
from amd.cli.exits import run_app
from amd_bfcl.commands.evaluate import evaluate
from amd_bfcl.commands.generate import generate, retry
from amd_bfcl.commands.play import play
from amd_bfcl.commands.record import record
from amd_bfcl.commands.report import report

__all__ = ["app", "main"]

app = typer.Typer(
    name="amd_bfcl",
    help="BFCL multi-turn for amd: students in the real harness, with and without memory.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)

# What these do not know goes on to the harness's command of the same name.
_PASSING_ON = {"allow_extra_args": True, "ignore_unknown_options": True}

app.command(help=help_of(generate), context_settings=_PASSING_ON)(generate)
app.command(help=help_of(evaluate))(evaluate)
app.command(help=help_of(report))(report)
app.command(help=help_of(retry))(retry)
app.command(help=help_of(record))(record)
app.command(help=help_of(play))(play)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; every expected failure is one line on standard error."""
    return run_app(app, "python -m amd_bfcl", sys.argv[1:] if arguments is None else arguments)
