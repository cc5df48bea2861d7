"""What run directories say of themselves, by whichever installed overlay knows them.

An overlay offers an entry point of the group ``amd.runs``, named like its benchmark: a function from a directory to
:class:`amd.arms.RunResults`, or ``None`` for a directory that is no run of its own. Nothing here knows a benchmark.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from amd.arms.results import RunResults
from amd.arms.run_directory import run_format
from amd.errors import ConfigError
from amd.traces.offers import load_offer, offered

__all__ = ["GROUP", "read_run", "read_runs"]

GROUP = "amd.runs"
"""The entry point group of functions that read a run directory."""


def read_run(path: Path) -> RunResults:
    """The results of one run directory.

    Raises:
        ConfigError: no installed overlay knows it, or two do; it is not evaluated yet.
        TrajectoryError: the log of a task is missing, broken, or of another arm.
    """
    if not path.is_dir():
        raise ConfigError(f"{path} is no directory", next_step="name the directory of a run", path=str(path))
    readers = {name: cast("Callable[[Path], RunResults | None]", load_offer(GROUP, name)) for name in offered(GROUP)}
    found = {name: results for name, reader in readers.items() if (results := reader(path)) is not None}
    if len(found) != 1:
        known = f"is known as a run of {' and of '.join(found)}" if found else f"is no run that is known{_format(path)}"
        raise ConfigError(
            f"{path} {known}",
            next_step=f"name a directory that one of these wrote: {', '.join(readers)}; or install its overlay",
            path=str(path),
        )
    (results,) = found.values()
    return results


def _refuse_copies(runs: Sequence[RunResults]) -> None:
    """A copied directory would stand for a second run, and make every interval too narrow."""
    began: dict[str, Path] = {}
    for run in runs:
        if run.created_at is None:
            continue
        twin = began.setdefault(run.created_at, run.path)
        if twin != run.path:
            raise ConfigError(
                f"{run.path} is a copy of {twin}: both began at {run.created_at}",
                next_step="report one of them",
                created_at=run.created_at,
            )


def _format(path: Path) -> str:
    found = run_format(path)
    return f": its format is {found!r}" if found else ""


def read_runs(paths: Sequence[Path]) -> list[RunResults]:
    """The results of several run directories, in the order given.

    Raises:
        ConfigError: as :func:`read_run`; a directory is named twice, or is a copy of another one; two are of different
            benchmarks; there is none.
        TrajectoryError: as :func:`read_run`.
    """
    places = [os.path.realpath(path) for path in paths]  # a link that leads to itself is no place of its own
    twice = sorted({str(path) for path, place in zip(paths, places, strict=True) if places.count(place) > 1})
    if twice or not paths:
        what = f"{twice[0]} is named twice" if twice else "no run is named"
        raise ConfigError(what, next_step="name each run directory once")
    runs = [read_run(path) for path in paths]
    _refuse_copies(runs)
    for run in runs[1:]:
        if run.benchmark != runs[0].benchmark:
            raise ConfigError(
                f"{runs[0].path} is a run of {runs[0].benchmark!r}, {run.path} one of {run.benchmark!r}",
                next_step="report each benchmark on its own",
                benchmarks=(runs[0].benchmark, run.benchmark),
            )
    return runs
