"""What the harness needs around it, and does not see to: a ``git``, and another place for all that it prints."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from amd_toolsandbox.folders import CONTEXT, TRAJECTORIES

__all__ = ["Progress", "git_on_path", "output_in", "watched"]

Progress: TypeAlias = Callable[[str, int, int], None]
"""Is told what is done, how much of it, and how much there is."""

_POLL = 1.0  # seconds


@contextmanager
def git_on_path() -> Iterator[None]:
    """A ``git`` on the path: the harness asks it for a commit at the very end, and without one loses all scores."""
    if shutil.which("git"):
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        stand_in = Path(folder) / "git"
        stand_in.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")  # as git does where there is no repository
        stand_in.chmod(0o755)
        before = os.environ.get("PATH", "")
        os.environ["PATH"] = f"{before}{os.pathsep}{folder}"
        try:
            yield
        finally:
            os.environ["PATH"] = before


@contextmanager
def output_in(log: Path) -> Iterator[None]:
    """Put all that this process and its children print into a log; what it held stays."""
    kept = {number: os.dup(number) for number in (1, 2)}
    with log.open("ab") as file:
        _flush()
        for number in kept:
            os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        _flush()
        for number, before in kept.items():
            os.dup2(before, number)
            os.close(before)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


@contextmanager
def watched(run: Path, total: int, progress: Progress) -> Iterator[None]:
    """Tell every second how many scenarios have ended since this began: the harness itself is silent until its end."""
    before, over = _ended(run), threading.Event()

    def watch() -> None:
        while not over.wait(_POLL):
            progress("scenarios", _ended(run) - before, total)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _ended(run: Path) -> int:
    return sum(1 for _ in run.rglob(f"{TRAJECTORIES}/*/{CONTEXT}"))
