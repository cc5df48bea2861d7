"""Runs written at the same time, by threads that nobody has to wait for once something failed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from threading import Thread
from types import TracebackType
from typing import Generic, TypeVar

from amd.errors import BudgetSpent
from amd.trajectory import Trajectory

__all__ = ["Told", "each"]

Written = TypeVar("Written")


def each(
    runs: Sequence[Trajectory], one: Callable[[Trajectory], Written], workers: int, progress: Callable[[int, int], None]
) -> Iterator[Written]:
    """What each run gives, in their order."""
    if workers == 1:
        for done, run in enumerate(runs, start=1):
            yield one(run)
            progress(done, len(runs))
        return
    futures = [Future[Written]() for _ in runs]
    waiting = deque(zip(futures, runs, strict=True))
    threads = [Thread(target=_work, args=(waiting, one), daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        for done, future in enumerate(as_completed(futures), start=1):
            future.result()
            progress(done, len(runs))
    except BudgetSpent:
        waiting.clear()  # what was begun is paid for: it is finished, and kept
        for thread in threads:
            thread.join()
        raise
    finally:
        waiting.clear()  # after any other error nobody waits for what is under way
    yield from (future.result() for future in futures)


def _work(waiting: deque[tuple[Future[Written], Trajectory]], one: Callable[[Trajectory], Written]) -> None:
    """Write runs until none is waiting, in a thread that ends with its process."""
    while waiting:
        try:
            future, run = waiting.popleft()
        except IndexError:
            return
        with Told(future):
            future.set_result(one(run))
        if future.exception() is not None:
            waiting.clear()  # nothing more is begun


class Told(Generic[Written]):
    """Gives whatever is raised inside to the future that somebody waits for."""

    def __init__(self, future: Future[Written]) -> None:
        self._future = future

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> bool:
        if error is not None:
            self._future.set_exception(error)
        return True
