"""The command ``amd``: its groups of commands, and how every error becomes one line and an exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, cast

import typer

from amd import __version__
from amd.cli import ask, build, check, read, show
from amd.cli.console import help_of
from amd.errors import AmdError, ConfigError

__all__ = ["app", "main"]

INTERRUPTED = 130
# Typer carries its own copy of click in newer releases; this is the base of its usage errors in all of them.
_UsageError = cast("type[Exception]", typer.BadParameter.__mro__[2])

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
    _speak_plainly()
    try:
        code = typer.main.get_command(app).main(list(arguments), prog_name="amd", standalone_mode=False)
    except AmdError as error:
        return _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except SystemExit:
        return 0  # typer's answer to a closed pipe, as with `| head`: nobody is left to tell, and nothing went wrong
    except OSError as error:
        return _fail(f"{error.filename or 'file system'}: {error.strerror or error}", AmdError.exit_code)
    except _UsageError as error:
        return _fail_usage(error)
    if code == INTERRUPTED:
        return _fail("interrupted; what was published is untouched, run the same command again", INTERRUPTED)
    return code if isinstance(code, int) else 0


def _speak_plainly() -> None:
    """Make output that any terminal takes: what it cannot spell is escaped, and a closed output is no error."""
    if sys.stdout is None or sys.stdout.closed:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _fail_usage(error: Exception) -> int:
    """One line, or the help itself where a command was called with nothing."""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    if message.startswith("Usage:"):
        typer.echo(message, err=True)
        return ConfigError.exit_code
    return _fail(f"{message} (--help tells more)", ConfigError.exit_code)


def _fail(message: str, code: int) -> int:
    typer.echo(f"amd: {' '.join(message.split())}", err=True)
    return code
