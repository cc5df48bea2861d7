"""What commands print: tables and progress for people, one JSON object for machines."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from types import TracebackType
from typing import Self

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from amd.quoting import one_line
from amd.trajectory import Refusal

__all__ = [
    "StageProgress",
    "Watching",
    "counts",
    "help_of",
    "print_columns",
    "print_grid",
    "print_json",
    "print_some",
    "print_table",
    "unreadable",
]

# A bar that flashes by is noise; one is drawn for stages that last longer than this (seconds).
_PATIENCE = 2.0
_INTERVAL = 30.0  # seconds between lines where standard error is no terminal: a log is read, not watched
_MOST_LINES = 5
_WIDE = 240  # columns of a file or a pipe: a row of figures stays a row


def help_of(function: Callable[..., object]) -> str:
    """A command's help: its docstring, with lines that begin with ``Example:`` left unwrapped (click's mark for that).

    >>> help_of(print_json)
    'One JSON object on standard output.'
    """
    return (inspect.getdoc(function) or "").replace("Example:", "\b\nExample:")


def print_json(value: Mapping[str, object]) -> None:
    """One JSON object on standard output."""
    typer.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode())


def print_table(title: str, rows: Sequence[tuple[str, object]]) -> None:
    """A title, and below it two columns: what, and how much."""
    console = Console(highlight=False, markup=False)
    table = Table(show_header=False)
    table.add_column("what")
    table.add_column("value", overflow="fold")
    for name, value in rows:
        table.add_row(name, str(value))
    console.print(title, style="bold", soft_wrap=True)
    console.print(table)


def print_columns(title: str, columns: Sequence[tuple[str, Sequence[tuple[str, object]]]]) -> None:
    """A title, and below it what :func:`print_table` would show of each name, side by side.

    Rows stand in the order in which they first come; a column without one of them is empty there. As wide as it needs
    to be where nobody watches.
    """
    console = _console()
    table = Table()
    table.add_column("")
    for name, _ in columns:
        table.add_column(name, overflow="fold")
    values = [dict(rows) for _, rows in columns]
    for what in dict.fromkeys(what for rows in values for what in rows):
        table.add_row(what, *(str(rows.get(what, "")) for rows in values))
    console.print(title, style="bold", soft_wrap=True)
    console.print(table)


def print_grid(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], *, broken: Collection[int]) -> None:
    """A title, and below it a table with a heading for each column; as wide as it needs to be where nobody watches.

    In a narrow terminal the lines of the columns ``broken`` are broken before those of any other.
    """
    console = _console()
    table = Table()
    for at, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=at not in broken)
    for row in rows:
        table.add_row(*row)
    console.print(title, style="bold", soft_wrap=True)
    console.print(table)


def _console() -> Console:
    """One for tables of many columns."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = _WIDE
    return console


def counts(values: Mapping[str, int]) -> str:
    """Counts in one line, the largest first.

    >>> counts({"failed": 84, "worse_trial": 18})
    'failed 84, worse_trial 18'
    """
    return ", ".join(f"{name} {count}" for name, count in sorted(values.items(), key=lambda item: -item[1])) or "none"


def unreadable(refusals: Sequence[Refusal]) -> list[Refusal]:
    """The runs that could not be read, whose place a person wants to know."""
    return [refusal for refusal in refusals if refusal.reason == "unreadable"]


def print_some(lines: Sequence[str]) -> None:
    """The first few lines on standard error, and how many more there are."""
    for line in lines[:_MOST_LINES]:
        typer.echo(one_line(line), err=True)
    if len(lines) > _MOST_LINES:
        typer.echo(f"and {len(lines) - _MOST_LINES} more; --json has them all", err=True)


class StageProgress:
    """A progress bar on standard error for whatever lasts longer than two seconds.

    A context manager and a callable ``(stage, done, total)``. Where standard error is no terminal it is a line every
    half a minute, so that the log of an unattended command says how far it is.

    Args:
        patience: seconds before a bar is drawn.
        interval: seconds between two lines.
        console: where it is drawn instead.

    >>> with StageProgress() as progress:
    ...     progress("watering", 1, 4)
    """

    def __init__(
        self, *, patience: float = _PATIENCE, interval: float = _INTERVAL, console: Console | None = None
    ) -> None:
        self._console = console = console or Console(stderr=True)
        self._patience = patience
        self._interval = interval
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._began = self._said = time.monotonic()
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._tasks:  # older releases of rich print a line for a bar that never began
            self._bar.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` (0: not known) are through the stage."""
        now = time.monotonic()
        if self._bar.disable:
            if now - self._said >= self._interval:
                self._said = now
                of = f" of {total}" if total else ""
                seconds = now - self._began
                self._console.print(f"{stage}: {done}{of}, {seconds:.0f} s", highlight=False, markup=False)
            return
        if now - self._began < self._patience:
            return
        if stage not in self._tasks:
            self._bar.start()
            self._tasks[stage] = self._bar.add_task(stage, total=total or None)
        self._bar.update(self._tasks[stage], completed=done)


class Watching:
    """What a command of another program is at: a line that changes, or one every half a minute where nobody watches.

    Args:
        interval: seconds between two lines.
        console: where it is shown instead of standard error.

    >>> with Watching() as watching:
    ...     watching.watch("bed 1 of 4")
    """

    def __init__(self, *, interval: float = _INTERVAL, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False, markup=False)
        self._interval = interval
        self._said = time.monotonic()
        self._status = self._console.status("") if self._console.is_terminal else None

    def __enter__(self) -> Self:
        if self._status:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status:
            self._status.stop()

    def tell(self, line: str) -> None:
        """A line that stays."""
        self._console.print(one_line(line), soft_wrap=True)

    def watch(self, line: str) -> None:
        """What is going on; most of it is never seen."""
        now = time.monotonic()
        if self._status:
            self._status.update(Text(one_line(line)))
        elif now - self._said >= self._interval:
            self._said = now
            self.tell(f"  {line}")
