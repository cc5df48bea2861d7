"""The folders that a harness wrote, at or below the paths that somebody named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from amd.errors import TrajectoryError

__all__ = ["folders_with"]


def folders_with(
    paths: Sequence[Path], name: str, *, what: str, holds: Callable[[Path], bool] = lambda _: True
) -> list[Path]:
    """The folders at or below the paths that have a folder of this name, each once, by their names.

    Links to folders are followed, each folder once. Nothing is looked for below a folder of the name; one that is
    named itself counts as the folder that it is in.

    Args:
        paths: where to look.
        name: of the inner folder.
        what: what is looked for, in words, for the error.
        holds: whether an inner folder is one that is meant.

    Raises:
        TrajectoryError: a path is not there, is a file, cannot be looked at, or holds none.

    >>> folders_with([Path("no-runs")], "tasks", what="run")
    Traceback (most recent call last):
    amd.errors.TrajectoryError: no-runs: no such folder; check the path
    """
    found: dict[Path, Path] = {}
    for path in paths:
        try:
            folders = list(_below(path, name, holds))
        except OSError as error:
            raise TrajectoryError(
                f"{path}: cannot be looked at: {error.strerror}", next_step="check its permissions", path=path
            ) from error
        if not folders:
            raise TrajectoryError(
                f"{path}: no {what} at or below it: no folder {name}/",
                next_step="name the folder of a run, or one above several",
                path=path,
            )
        for folder in folders:
            found.setdefault(folder.resolve(), folder)
    return list(found.values())


def _below(path: Path, name: str, holds: Callable[[Path], bool]) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise error

    if not path.is_dir():
        what = "no such folder" if not path.exists() else "a file, where a folder of runs is needed"
        raise TrajectoryError(f"{path}: {what}", next_step="check the path", path=path)
    if path.resolve().name == name and holds(path.resolve()):
        yield path.resolve().parent
        return
    seen: set[str] = set()
    for folder, inside, _ in os.walk(path, onerror=refuse, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            inside.clear()
            continue
        seen.add(real)
        inside.sort()
        if name in inside:
            inside.remove(name)  # it may have thousands of files
            if holds(Path(folder, name)):
                yield Path(folder)
