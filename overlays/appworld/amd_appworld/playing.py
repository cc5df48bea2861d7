"""Plays a student's tasks in AppWorld, each worker in a world of its own."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import TypeAlias

from amd.arms import Arm, OpenArm
from amd.clients import ChatModel, check_endpoint
from amd.errors import ConfigError
from amd_appworld.environment import EnvironmentGone, EnvironmentRefused
from amd_appworld.root import Root
from amd_appworld.run import Model, Run, Settings
from amd_appworld.server import Server
from amd_appworld.sources import check_sources
from amd_appworld.standing import Results, Standing, standing
from amd_appworld.tasks import family
from amd_appworld.trial import Stopped, Table, play_task
from amd_appworld.world import World

__all__ = ["Limits", "Played", "play_arm"]

Progress: TypeAlias = Callable[[str, int, int], None]

_PROBE = 10.0  # seconds: a server that lists its models later than that is no server to wait for
_PATIENCE = 3  # so many worlds in a row that broke: then the next will break too
_END = 5.0  # seconds that workers may take to end once their servers have


@dataclass(frozen=True, slots=True)
class Limits:
    """What one task may take: steps; tokens of a reply; seconds of a cell, and of a request to the model."""

    max_steps: int = 40
    max_tokens: int = 3000
    cell_timeout: int = 100
    timeout: float = 600.0


@dataclass(frozen=True, slots=True)
class Played:
    """A run, how it stands, and what spoilt tasks this time that is no fault of the student."""

    run: Run
    root: Root
    stands: Standing
    faults: Mapping[str, str]


def play_arm(
    root: Root,
    experiment: str,
    arm: Arm,
    *,
    agent: Model,
    python: Path,
    tasks: Sequence[str] | None = None,
    dataset: str | None = None,
    limit: int | None = None,
    workers: int = 1,
    limits: Limits | None = None,
    allow_test_source: bool = False,
    progress: Progress = lambda *_: None,
) -> Played:
    """Play the tasks that have no result yet, and say how the run stands.

    Args:
        root: AppWorld's data and experiments.
        experiment: the run's name, new, or that of the same run begun before.
        arm: method, memory, and who may see what.
        agent: the student.
        python: the interpreter of AppWorld's environment.
        tasks: their ids; or
        dataset: all of this one. With a split, only those of its test families.
        limit: only so many of them.
        workers: worlds at the same time, each a server process of some 500 MB.
        limits: of one task.
        allow_test_source: take a memory that holds runs of test tasks.
        progress: is told how many tasks have ended.

    Raises:
        ConfigError: the request contradicts itself, the memory, the data or what the folder holds.
        ClientError: the model's endpoint cannot be reached, or does not serve it.
        LeakageError, StoreError: the memory is not fit to be shown.
    """
    limits = limits or Limits()
    if arm.mode != "static":
        raise ConfigError(
            f"mode {arm.mode!r} asks at each turn of the user, and a task of AppWorld has one turn",
            next_step="use --mode static",
        )
    run = Run(root.experiment(experiment))
    with arm.open() as opened:
        names = _chosen(root, opened, tasks, dataset, limit)
        settings = Settings(
            agent=agent,
            arm=arm,
            tasks=names,
            max_steps=limits.max_steps,
            max_tokens=limits.max_tokens,
            cell_timeout=limits.cell_timeout,
            timeout=limits.timeout,
            test_source=check_sources(opened, root, allowed=allow_test_source),
            memory_content=opened.content,
            memory_seal=opened.seal,
            memory_from=opened.teachers,
        )
        with run.locked():
            run.begin(settings)
            left = standing(run).left
            key = os.environ.get("OPENAI_API_KEY")
            faults: Mapping[str, str] = {}
            if left:
                check_endpoint(agent.name, base_url=agent.base_url, api_key=key, timeout=min(limits.timeout, _PROBE))
                with ChatModel(agent.name, base_url=agent.base_url, api_key=key, timeout=limits.timeout) as model:
                    crew = _Crew(root, run, opened, model, python)
                    faults = crew.play(left, min(workers, len(left)), progress)
    return Played(run, root, standing(run), faults)


def _chosen(
    root: Root, opened: OpenArm, tasks: Sequence[str] | None, dataset: str | None, limit: int | None
) -> tuple[str, ...]:
    """The tasks that are wanted; with a split, those of its test families, whatever the protocol."""
    names = root.chosen(tasks, dataset)
    if opened.split is not None:
        test = opened.split.test
        names = tuple(name for name in names if family(name) in test)
    if not names[:limit]:
        raise ConfigError("no task is left to play", next_step="check --tasks and the split's test families")
    return names[:limit]


class _Crew:
    """The workers of one run: threads, each with a world of its own."""

    def __init__(self, root: Root, run: Run, opened: OpenArm, model: ChatModel, python: Path) -> None:
        self._root = root
        self._run = run
        self._model = model
        self._python = python
        self._stop = Event()
        self._waiting: deque[str] = deque()
        self._faults: dict[str, str] = {}
        self._ended = 0
        self._table = Table(run, opened, model, Results(run), self._stop.is_set)

    def play(self, tasks: Sequence[str], workers: int, progress: Progress) -> Mapping[str, str]:
        """Play these tasks; what spoilt some of them."""
        self._waiting.extend(tasks)
        with ExitStack() as stack:
            worlds = [self._world(number) for number in range(1, workers + 1)]
            for world in worlds:
                stack.callback(world.close)
            futures = [Future[None]() for _ in worlds]
            threads = [
                Thread(target=self._work, args=(world, future), daemon=True)
                for world, future in zip(worlds, futures, strict=True)
            ]
            stack.callback(self._join, threads)
            stack.callback(self._halt, worlds)
            for thread in threads:
                thread.start()
            waiting = set(futures)
            while waiting:
                done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                progress("tasks", self._ended, len(tasks))
                for future in done:
                    future.result()
        return dict(self._faults)

    def _world(self, number: int) -> World:
        log = self._run.path / f"server-{number}.log"
        server = Server(self._root.path, self._python, log)
        return World(server, cell_timeout=self._run.settings.cell_timeout)

    def _halt(self, worlds: Sequence[World]) -> None:
        """Begin nothing more; what is under way fails for want of a server, or ends."""
        self._stop.set()
        self._model.close()
        for world in worlds:
            world.close()

    def _join(self, threads: Sequence[Thread]) -> None:
        for thread in threads:
            thread.join(_END)

    def _work(self, world: World, future: Future[None]) -> None:
        with _told(future):
            self._play_waiting(world)

    def _play_waiting(self, world: World) -> None:
        broken = 0
        while not self._stop.is_set():
            try:
                task_id = self._waiting.popleft()
            except IndexError:
                return
            try:
                play_task(task_id, self._table, world, gradable=self._root.gradable(task_id))
            except Stopped:
                return
            except (EnvironmentGone, EnvironmentRefused) as fault:
                if self._stop.is_set():
                    return
                broken += 1
                said = world.server.last_words()
                self._faults[task_id] = f"{fault.message} ({world.server.log.name}: {said})"
                world.reset()
                if broken == _PATIENCE:
                    self._waiting.clear()
            else:
                broken = 0
                self._ended += 1


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
