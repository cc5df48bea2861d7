"""A report in a terminal: its banners, its two main tables, and where the rest is."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from amd.cli.console import print_columns
from amd.errors import ConfigError

if TYPE_CHECKING:  # what needs the extra is loaded when a report is asked for
    from amd.evaluate.blocks import Table as Block
    from amd.evaluate.report import Report

__all__ = ["check_installed", "report_on_runs", "tell_report"]


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
    """Banners, the three main tables, and where the rest is."""
    from amd.evaluate.sections import arms_table, banners, comparisons_table  # noqa: PLC0415 - as above
    from amd.evaluate.spending import runs_cost_table  # noqa: PLC0415

    console = Console(highlight=False, markup=False)
    for banner in banners(found):
        console.print(banner.text, style="bold red" if banner.kind == "alarm" else "bold", soft_wrap=True)
    _print_table("arms", arms_table(found))
    if found.comparisons:
        _print_table(f"beside {found.arm(found.baseline).title}", comparisons_table(found))
    _print_table("what a run of a task cost", runs_cost_table(found))
    typer.echo(f"written: {', '.join(map(str, written))}")


def _print_table(title: str, block: Block) -> None:
    """One column an arm: a terminal is narrow, and there are more figures than arms."""
    print_columns(title, [(row[0], list(zip(block.head[1:], row[1:], strict=True))) for row in block.rows])
    Console(highlight=False, markup=False).print(block.caption, style="dim")
