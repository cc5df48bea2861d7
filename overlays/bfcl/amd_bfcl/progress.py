"""A progress bar that appears only if the work takes long enough to wonder."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress

__all__ = ["PATIENCE", "with_progress"]

PATIENCE = 2.0
"""Seconds without a bar."""

Item = TypeVar("Item")


def with_progress(
    items: Iterable[Item], *, total: int, label: str, patience: float = PATIENCE, console: Console | None = None
) -> Iterator[Item]:
    """The items, unchanged; after ``patience`` seconds a bar on standard error (or ``console``) says how far it is.

    >>> list(with_progress("abc", total=3, label="letters"))
    ['a', 'b', 'c']
    """
    started, bar = time.monotonic(), None
    try:
        for done, item in enumerate(items):
            if bar is None and time.monotonic() - started > patience:
                bar = Progress(console=console or Console(stderr=True))
                row = bar.add_task(label, total=total)
                bar.start()
            if bar is not None:
                bar.update(row, completed=done)
            yield item
        if bar is not None:
            bar.update(row, completed=total)
    finally:
        if bar is not None:
            bar.stop()
