"""``amd report``: the runs of several arms compared, in a terminal and on a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from amd.cli.console import print_json
from amd.cli.options import Json
from amd.cli.reporting import check_installed, tell_report
from amd.config import read_prices
from amd.errors import ConfigError

if TYPE_CHECKING:  # what needs the extra is loaded when a report is asked for
    from amd.evaluate.costs import Teaching

__all__ = ["report"]

_MOST_TOKENS = 10**12  # of one run: more than any has


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Directories of runs.", show_default=False)],
    *,
    out: Annotated[Path, typer.Option(help="The directory that the report is written into.", show_default=False)],
    baseline: Annotated[
        str | None, typer.Option(help="The arm that the others are compared with [default: that of the first run].")
    ] = None,
    missing: Annotated[
        Literal["failed", "drop"], typer.Option(help="What a wanted task without a result counts as.")
    ] = "failed",
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap.")] = 0,
    resamples: Annotated[int, typer.Option(min=100, help="Draws of the bootstrap.")] = 10_000,
    prices: Annotated[
        Path | None, typer.Option(help="A TOML file of prices: teacher, student and distiller.", show_default=False)
    ] = None,
    teacher_tokens: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="PROMPT COMPLETION",
            help="Mean tokens of one run of the teacher, with --prices.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compare the runs of several arms; runs with the same settings are the seeds of one arm.

    Writes report.html, report.md, report.json and pictures. Exit code 4, after writing them, if a task was shown
    records of its own family in an arm that hides them.

    Example: amd report runs/none runs/amd --out report
    """
    check_installed()
    from amd.evaluate.reading import read_runs  # noqa: PLC0415 - all of these need the extra
    from amd.evaluate.report import evaluate  # noqa: PLC0415
    from amd.evaluate.writing import write_report  # noqa: PLC0415

    teaching = _teaching(prices, teacher_tokens)
    found = evaluate(
        read_runs(runs), baseline=baseline, missing=missing, seed=seed, resamples=resamples, teaching=teaching
    )
    written = write_report(found, out)
    if json:
        print_json(found.as_json())
    else:
        tell_report(found, written)
    found.check_leaks()


def _teaching(prices: Path | None, tokens: tuple[float, float] | None) -> Teaching | None:
    """Prices and the teacher's tokens are of use together."""
    from amd.evaluate.costs import Teaching  # noqa: PLC0415 - as above

    if (prices is None) != (tokens is None):
        given, lacking = ("--prices", "--teacher-tokens") if tokens is None else ("--teacher-tokens", "--prices")
        raise ConfigError(
            f"{given} is given and {lacking} is not: when a memory is repaid follows from both",
            next_step=f"give {lacking} too, or leave {given} out",
        )
    if prices is None or tokens is None:
        return None
    if not all(0 <= each <= _MOST_TOKENS for each in tokens):  # NaN is not, either
        raise ConfigError(
            f"--teacher-tokens are {tokens[0]} and {tokens[1]}, not between 0 and {_MOST_TOKENS:,}",
            next_step="give two counts of tokens",
        )
    return Teaching(read_prices(prices), *tokens)
