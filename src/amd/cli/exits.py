"""How a command ends: every expected failure is one line on standard error and an exit code, never a traceback."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import typer

from amd.errors import AmdError, ConfigError
from amd.quoting import one_line

__all__ = ["INTERRUPTED", "check_words", "run_app"]

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""

# Typer carries its own copy of click in newer releases; this is the base of its usage errors in all of them.
_UsageError = cast("type[Exception]", typer.BadParameter.__mro__[2])


def run_app(app: typer.Typer, name: str, arguments: Sequence[str]) -> int:
    """Run one command of an app and return its exit code.

    Args:
        app: the library's own, or that of an overlay.
        name: how it is called, for its help; the last word begins each line about an error.
        arguments: what was typed after the name.

    >>> garden = typer.Typer()
    >>> @garden.command()
    ... def water(bed: int) -> None:
    ...     typer.echo(f"watered bed {bed}")
    >>> run_app(garden, "python -m garden", ["4"])
    watered bed 4
    0
    """
    _speak_plainly()
    program = name.rsplit(" ", maxsplit=1)[-1]
    try:
        code = typer.main.get_command(app).main(list(arguments), prog_name=name, standalone_mode=False)
    except AmdError as error:
        return _fail(program, str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except SystemExit:
        return 0  # typer's answer to a closed pipe, as with `| head`: nobody is left to tell, and nothing went wrong
    except OSError as error:
        return _fail(program, f"{error.filename or 'file system'}: {error.strerror or error}", AmdError.exit_code)
    except _UsageError as error:
        return _fail_usage(program, error)
    if code == INTERRUPTED:
        return _fail(
            program, "interrupted; what was there before is untouched, run the same command again", INTERRUPTED
        )
    return code if isinstance(code, int) else 0


def check_words(app: Any, words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:  # noqa: ANN401 - click's own moved
    """Read the words of a command as it would read them itself, and run nothing.

    Args:
        app: a Typer app, or the group of commands that was made of one.
        words: a command's name, those of its commands, and what follows.

    Returns:
        Its parameters by name, and the words that it does not know. Such are only returned by a command that hands
        them on; any other one refuses them.

    Raises:
        ConfigError: there is no such command; an option is not there, lacks its value, or has one of another kind.

    >>> garden = typer.Typer()
    >>> @garden.command()
    ... def water(bed: int) -> None:
    ...     typer.echo("never")
    >>> @garden.command()
    ... def dig() -> None:
    ...     typer.echo("never")
    >>> check_words(garden, ["water", "4"])
    ({'bed': 4}, [])
    >>> check_words(garden, ["rake"])
    Traceback (most recent call last):
    amd.errors.ConfigError: there is no command 'rake'; correct its name
    """
    command: Any = typer.main.get_command(app) if isinstance(app, typer.Typer) else app
    rest, names = list(words), list[str]()
    if "--help" in rest:
        raise ConfigError(f"{' '.join(rest)}: --help runs nothing", next_step="take it out")
    while hasattr(command, "get_command"):
        names.append(rest.pop(0) if rest else "")
        command = command.get_command(None, names[-1])
        if command is None:
            raise ConfigError(f"there is no command {' '.join(names)!r}", next_step="correct its name")
    try:
        context = command.make_context(names[-1], rest)
    except _UsageError as error:
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        raise ConfigError(f"{' '.join(names)}: {message}", next_step="correct the option's name or value") from error
    return dict(context.params), list(context.args)


def _speak_plainly() -> None:
    """Make output that any terminal takes: what it cannot spell is escaped, and a closed output is no error."""
    if sys.stdout is None or sys.stdout.closed:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _fail_usage(program: str, error: Exception) -> int:
    """One line, or the help itself where a command was called with nothing."""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    if message.startswith("Usage:"):
        typer.echo(message, err=True)
        return ConfigError.exit_code
    return _fail(program, f"{message} (--help tells more)", ConfigError.exit_code)


def _fail(program: str, message: str, code: int) -> int:
    typer.echo(f"{program}: {one_line(message)}", err=True)
    return code
