"""What a command prints while it works."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from amd.cli.console import StageProgress, Watching, print_columns


@pytest.mark.parametrize(
    ("patience", "terminal", "drawn"), [(-1.0, True, True), (60.0, True, False), (-1.0, False, False)]
)
def test_a_bar_appears_only_when_it_takes_long(patience, terminal, drawn):
    """And only on a terminal; else not a character is written, whatever release of rich it is."""
    file = io.StringIO()
    with StageProgress(patience=patience, console=Console(file=file, force_terminal=terminal)) as progress:
        for done in range(5):
            progress("watering", done, 5)
    assert ("watering" in file.getvalue()) is drawn
    assert bool(file.getvalue()) is drawn


def test_a_log_gets_a_line_now_and_then():
    """Where nobody watches, the interval is kept: a line for each call with none, no line with a long one."""
    for interval, expected in ((0.0, ["watering: 1 of 5, 0 s", "watering: 2, 0 s"]), (3600.0, [])):
        file = io.StringIO()
        with StageProgress(interval=interval, console=Console(file=file)) as progress:
            progress("watering", 1, 5)
            progress("watering", 2, 0)
        assert file.getvalue().split("\n")[:-1] == expected


@pytest.mark.parametrize("terminal", [True, False])
def test_what_another_program_is_at(terminal):
    """What is begun stays; of what goes on, a terminal shows the last and a log a line now and then."""
    for interval, seen in ((0.0, True), (3600.0, terminal)):
        file = io.StringIO()
        with Watching(
            interval=interval,
            console=Console(file=file, force_terminal=terminal, width=80, highlight=False, markup=False),
        ) as watching:
            watching.tell("[1/2] herbs")
            watching.watch("bed 1 of [4]")
        assert "[1/2] herbs" in file.getvalue()
        assert ("bed 1 of [4]" in file.getvalue()) is seen


def test_columns_stand_side_by_side_by_their_rows(capsys):
    """Two columns may have one name; a row that one of them lacks is empty there, and keeps its place."""
    print_columns("beds", [("bed", [("herbs", 3), ("water", "dry")]), ("bed", [("herbs", 0), ("worms", 7)])])
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in capsys.readouterr().out.split("\n")]
    assert [row for row in rows if len(row) == 3] == [["herbs", "3", "0"], ["water", "dry", ""], ["worms", "", "7"]]
