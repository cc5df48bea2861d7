"""Plays a student's tasks in AppWorld, each worker in a world of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from amd.arms import RUN_SETTINGS, Arm, OpenArm
from amd.clients import ChatModel, check_endpoint
from amd.errors import ConfigError
from amd_appworld.crew import Crew, Progress
from amd_appworld.root import Root
from amd_appworld.run import Model, Run, Settings
from amd_appworld.sources import check_sources
from amd_appworld.standing import Standing, standing
from amd_appworld.student import check_mode
from amd_appworld.tasks import family

__all__ = ["Limits", "Played", "play_arm"]

_PROBE = 10.0  # seconds: a server that lists its models later than that is no server to wait for


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
    seed: int | None = None,
    draw_only: bool = False,
    temperature: float | None = None,
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
        seed: sent with each request to the model, and what random records follow from.
        draw_only: do not send it.
        temperature: of the model's answers; 0 if left out, where the endpoint lets it be chosen.
        workers: seats at the same time, each a server process of some 500 MB.
        limits: of one task.
        allow_test_source: take a memory that holds runs of test tasks.
        progress: is told how many tasks have ended.

    Raises:
        ConfigError: the request contradicts itself, the memory, the data or what the folder holds.
        ClientError: the model's endpoint cannot be reached, or does not serve it.
        LeakageError, StoreError: the memory is not fit to be shown.
    """
    limits = limits or Limits()
    check_mode(arm.mode)
    run = Run(root.experiment(experiment))
    with arm.absolute().open(seed) as opened:
        names = _chosen(root, opened, tasks, dataset, limit)
        settings = Settings(
            agent=agent,
            tasks=names,
            scenarios=root.scenarios(names),
            max_steps=limits.max_steps,
            max_tokens=limits.max_tokens,
            cell_timeout=limits.cell_timeout,
            timeout=limits.timeout,
            temperature=temperature,
            test_source=check_sources(opened, root, allowed=allow_test_source),
            draw_only=draw_only,
            **opened.facts(),
        )
        with run.locked():
            begun = (run.path / RUN_SETTINGS).exists()
            if not begun:  # a model's name that was mistyped must not stand for this run
                _check(settings)
            run.begin(settings)
            left = standing(run).left
            faults: Mapping[str, str] = {}
            if left:
                if begun:
                    _check(settings)
                with _model(settings) as model:
                    crew = Crew(root, run, opened, model, python)
                    faults = crew.play(left, min(workers, len(left)), progress)
    return Played(run, root, standing(run), faults)


def _check(settings: Settings) -> None:
    """Ask the endpoint whether it serves the model."""
    agent, timeout = settings.agent, min(settings.timeout, _PROBE)
    check_endpoint(agent.name, base_url=agent.base_url, api_key=os.environ.get("OPENAI_API_KEY"), timeout=timeout)


def _model(settings: Settings) -> ChatModel:
    """The student, asked as the run was begun."""
    return ChatModel(
        settings.agent.name,
        base_url=settings.agent.base_url,
        api_key=os.environ.get("OPENAI_API_KEY"),
        timeout=settings.timeout,
        temperature=settings.temperature,
        seed=settings.sent_seed,
    )


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
