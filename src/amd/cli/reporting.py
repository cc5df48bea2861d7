"""A report in a terminal: its banners, one row an arm, and where the rest is."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer
from rich.cells import cell_len, set_cell_size
from rich.console import Console

from amd.errors import ConfigError
from amd.quoting import one_line

if TYPE_CHECKING:  # what needs the extra is loaded when a report is asked for
    from amd.evaluate.report import Report

__all__ = ["check_installed", "report_on_runs", "tell_report"]

_GAP: Final = "  "
_HEAD: Final = 2  # rows of the head


def report_on_runs(paths: Sequence[Path], out: Path, *, baseline: str, quiet: bool = False) -> Report:
    """Write the report of these runs with the usual settings, and tell it unless ``quiet``; nothing is made of leaks.

    Raises:
        ConfigError: the extra ``eval`` is not installed, or a directory is no run.
        TrajectoryError: the log of a task is missing, broken, or of another arm.
    """
    check_installed()
    from amd.evaluate.reading import read_runs  # noqa: PLC0415 - all of these need the extra
    from amd.evaluate.report import evaluate  # noqa: PLC0415
    from amd.evaluate.writing import write_report  # noqa: PLC0415

    found = evaluate(read_runs(paths), baseline=baseline)
    written = write_report(found, out)
    if not quiet:
        tell_report(found, written)
    return found


def check_installed(what: str = "a report", *, pictures: bool = True) -> None:
    """``ConfigError`` if what ``what`` needs of the extra is not installed; without pictures that is less."""
    needed = ("scipy", "statsmodels", *(("matplotlib",) if pictures else ()))
    absent = [name for name in needed if find_spec(name) is None]
    if absent:
        raise ConfigError(
            f"{what} needs {', '.join(absent)}, and {'they are' if len(absent) > 1 else 'it is'} not installed",
            next_step="pip install 'agent-memory-distillation[eval]'",
            absent=absent,
        )
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # that it builds its font cache is nobody's concern here


def tell_report(found: Report, written: list[Path]) -> None:
    """Banners, what was run, one row an arm, one line each that is beside random records, and where the rest is."""
    from amd.evaluate.banners import banners  # noqa: PLC0415 - as above
    from amd.evaluate.comparing import UNLESS, control_lines  # noqa: PLC0415 - as above
    from amd.evaluate.subject import what_was_run  # noqa: PLC0415 - as above

    console = Console(highlight=False, markup=False)
    for banner in banners(found):
        console.print(banner.text, style="bold red" if banner.kind == "alarm" else "bold", soft_wrap=True)
    console.print(what_was_run(found), soft_wrap=True)
    for line in _laid_out(_rows(found), console.width if console.is_terminal else None):
        console.print(line, soft_wrap=True)
    if found.comparisons:
        first = found.arm(found.baseline).title
        console.print(
            f"Differences from {first} in percentage points, their intervals on the page. {UNLESS}", soft_wrap=True
        )
    for line in control_lines(found):
        console.print(line, soft_wrap=True)
    typer.echo(f"written: {', '.join(map(str, written))}")


def _rows(found: Report) -> list[tuple[str, ...]]:
    """A head of two rows, and one row an arm: as few figures as a narrow terminal has room for."""
    from amd.evaluate.comparing import judgement  # noqa: PLC0415 - as above
    from amd.evaluate.wording import UNCOUNTED, mean, p_value, percent, points  # noqa: PLC0415 - as above

    beside = {
        each.arm: (points(each.difference.value), p_value(each.p_holm), judgement(found, each))
        for each in found.comparisons
    }
    rows: list[tuple[str, ...]] = [
        ("", "success", "", "p", "what it", "memory"),
        ("arm", "(95 % interval)", "difference", "(Holm)", "shows", "tokens"),
    ]
    for arm in found.arms:
        ends = f"({percent(arm.success.low, unit='')} to {percent(arm.success.high, unit='')})"
        compared = ("baseline", "", "") if arm.name == found.baseline else beside.get(arm.name, (UNCOUNTED,) * 3)
        tokens = mean(arm.exposures.tokens_mean if arm.exposures else None, digits=0)
        rows.append((one_line(arm.title), f"{percent(arm.success.value)} {ends}", *compared, tokens))
    return rows


def _laid_out(rows: Sequence[tuple[str, ...]], width: int | None) -> Iterator[str]:
    """The rows with their columns one under another; where they are too wide, a name stands above its figures."""
    widths = [max(cell_len(row[at]) for row in rows) for at in range(len(rows[0]))]
    narrow = width is not None and sum(widths) + len(_GAP) * (len(widths) - 1) > width
    for at, (name, *cells) in enumerate(rows):
        figures = _GAP.join(cell.rjust(wide) for cell, wide in zip(cells, widths[1:], strict=True))
        if not narrow:
            yield f"{set_cell_size(name, widths[0])}{_GAP}{figures}"
            continue
        if at >= _HEAD:
            yield name
        yield f"{_GAP}{figures}"
