"""The workers of one run: threads, each with a server of its own, over one list of tasks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType
from typing import TypeAlias

from amd.arms import OpenArm
from amd.clients import ChatModel
from amd.errors import ClientError
from amd_appworld.answers import EnvironmentGone, EnvironmentRefused
from amd_appworld.root import Root
from amd_appworld.run import Run
from amd_appworld.seat import Seat
from amd_appworld.server import Server
from amd_appworld.standing import Results
from amd_appworld.trial import Stopped, Table, Unanswered, play_task

__all__ = ["Crew", "Progress"]

Progress: TypeAlias = Callable[[str, int, int], None]
"""Is told a stage, and how many of how many are through it."""

_MOST_IN_A_ROW = 3  # worlds that broke, or tasks without an answer: then the next will fare the same
_END = 5.0  # seconds that a worker may take to end once its server has


class Crew:
    """The workers of one run: threads, each with a world of its own."""

    def __init__(self, root: Root, run: Run, opened: OpenArm, model: ChatModel, python: Path) -> None:
        self._root = root
        self._run = run
        self._model = model
        self._python = python
        self._stop = Event()
        self._waiting: deque[str] = deque()
        self._faults: dict[str, str] = {}
        self._lock = Lock()
        self._through = 0
        self._unanswered = 0  # in a row
        self._table = Table(run, opened, model, Results(run), self._stop.is_set)

    def play(self, tasks: Sequence[str], workers: int, progress: Progress) -> Mapping[str, str]:
        """Play these tasks; what spoilt some of them."""
        self._waiting.extend(tasks)
        with ExitStack() as stack:
            seats = [self._seat(number) for number in range(1, workers + 1)]
            for seat in seats:
                stack.callback(seat.close)
            futures = [Future[None]() for _ in seats]
            threads = [
                Thread(target=self._work, args=(seat, future), daemon=True)
                for seat, future in zip(seats, futures, strict=True)
            ]
            stack.callback(self._join, threads)
            stack.callback(self._halt, seats)
            for thread in threads:
                thread.start()
            waiting = set(futures)
            while waiting:
                done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                progress("tasks", self._through, len(tasks))
                for future in done:
                    future.result()
        return dict(self._faults)

    def _seat(self, number: int) -> Seat:
        log = self._run.path / f"server-{number}.log"
        server = Server(self._root.path, self._python, log)
        return Seat(server, cell_timeout=self._run.settings.cell_timeout)

    def _halt(self, seats: Sequence[Seat]) -> None:
        """Begin nothing more; what is under way fails for want of a server, or ends."""
        self._stop.set()
        self._model.close()
        for seat in seats:
            seat.close()

    def _join(self, threads: Sequence[Thread]) -> None:
        for thread in threads:
            thread.join(_END)

    def _work(self, seat: Seat, future: Future[None]) -> None:
        with _told(future):
            try:
                self._play_waiting(seat)
            finally:
                seat.reset()

    def _play_waiting(self, seat: Seat) -> None:
        """Play what waits, until nothing does or three worlds of this seat broke in a row; the others go on."""
        broken = 0
        while broken < _MOST_IN_A_ROW and not self._stop.is_set():
            try:
                task_id = self._waiting.popleft()
            except IndexError:
                return
            try:
                play_task(task_id, self._table, seat, gradable=self._root.gradable(task_id))
            except Stopped:
                return
            except Unanswered as refusal:
                broken = 0
                self._ended(task_id, refusal)
            except (EnvironmentGone, EnvironmentRefused) as fault:
                if self._stop.is_set():
                    return
                broken += 1
                self._ended(task_id, fault, f" ({seat.server.log.name}: {seat.server.last_words()})")
                seat.reset()
            else:
                broken = 0
                self._ended(task_id)

    def _ended(self, task_id: str, fault: ClientError | None = None, where: str = "") -> None:
        """Count a task, and what spoilt it; ``ClientError`` if the model has refused too many in a row."""
        with self._lock:
            self._through += 1
            if fault is not None:
                self._faults[task_id] = f"{fault.message}{where}"
            if isinstance(fault, Unanswered):
                self._unanswered += 1
            elif fault is None:
                self._unanswered = 0
            weary = self._unanswered >= _MOST_IN_A_ROW
        if weary and isinstance(fault, Unanswered):
            raise ClientError(
                f"the first requests of {_MOST_IN_A_ROW} tasks in a row were refused: {fault.message}",
                next_step=f"{fault.next_step}: no zero was counted",
                status=fault.status,
            ) from fault


class _told:  # noqa: N801 - reads as a word where it is used
    """Gives whatever is raised inside to the future that somebody waits for."""

    def __init__(self, future: Future[None]) -> None:
        self._future = future

    def __enter__(self) -> None:
        """Nothing is prepared."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is None:
            self._future.set_result(None)
        else:
            self._future.set_exception(error)
        return True
