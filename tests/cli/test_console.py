"""What a command prints while it works."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from amd.cli.console import StageProgress


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
