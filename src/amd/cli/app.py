"""The command ``amd``: its groups of commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from amd import __version__
from amd.cli import ask, build, check, read, show
from amd.cli.console import help_of
from amd.cli.exits import run_app

__all__ = ["app", "main"]

app = typer.Typer(
    name="amd",
    help="Turns a strong agent's successful runs into a memory that a small agent reads.",
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(read.app, name="read")
app.add_typer(build.app, name="build")
for _command in (check.check, check.reindex, show.show, ask.ask):
    app.command(name=_command.__name__, help=help_of(_command))(_command)


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
