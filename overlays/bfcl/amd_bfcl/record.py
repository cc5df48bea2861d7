"""The benchmark's answer key, replayed on its own backends, as trajectories marked ``oracle``.

No model ran: the calls are ``ground_truth``, the observations are what the real backends answer. That is right for
tests, demonstrations and an upper bound, and wrong as a teacher: there is no reasoning and no recovery from an error
in it. Every trajectory says so (``source.kind``, ``source.teacher``, ``outcome.evidence``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import islice

from pydantic import BaseModel, ConfigDict, ValidationError

from amd.errors import TrajectoryError
from amd.traces import Outcome, Source, Step, ToolCall, Trajectory, Turn, is_error
from amd_bfcl.backends import Backend
from amd_bfcl.families import Category
from amd_bfcl.package import Package, find_package
from amd_bfcl.tasks import Entry, entries, known_category

__all__ = ["EVIDENCE", "TEACHER", "record"]

TEACHER = "bfcl-oracle"
EVIDENCE = "gold replay: the benchmark's answer key, run on its backends; no model ran and nothing was scored"


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True)

    id: str
    ground_truth: list[list[str]]


def record(
    category: Category | str, package: Package | None = None, *, limit: int | None = None
) -> Iterator[Trajectory]:
    """The tasks of a category (the first ``limit`` of them), replayed one after the other.

    One step for each call: the key has no steps of its own. A turn without calls keeps its place. ``ConfigError`` if
    the benchmark is not installed, ``TrajectoryError`` if an entry and its answer do not fit together.
    """
    package = package or find_package()
    category = known_category(category)
    name = f"possible_answer/BFCL_v4_{category}.json"
    pairs = zip(entries(category, package), enumerate(package.lines(name), 1), strict=True)
    for entry, (number, line) in islice(pairs, limit):
        answer = _answer(entry, line, f"{package.where(name)}:{number}")
        yield _replay(entry, answer, line, package)


def _answer(entry: Entry, line: str, where: str) -> list[list[str]]:
    try:
        answer = _Answer.model_validate(json.loads(line))
    except (ValidationError, ValueError) as error:
        raise TrajectoryError(f"{where}: no answer can be read", next_step="install bfcl-eval again") from error
    if answer.id != entry.task.task_id or len(answer.ground_truth) != len(entry.users):
        raise TrajectoryError(
            f"{entry.where} is {entry.task.task_id!r} with {len(entry.users)} turns, "
            f"{where} is {answer.id!r} with {len(answer.ground_truth)}",
            next_step="install bfcl-eval again",
        )
    return answer.ground_truth


def _replay(entry: Entry, answer: list[list[str]], line: str, package: Package) -> Trajectory:
    with Backend(entry) as backend:
        turns = tuple(
            Turn(user, tuple(_step(backend, call) for call in calls))
            for user, calls in zip(entry.users, answer, strict=True)
        )
    return Trajectory(
        task=entry.task,
        turns=turns,
        tools=entry.all_tools,
        outcome=Outcome(success=True, score=1.0, evidence=EVIDENCE),
        source=Source(
            teacher=TEACHER,
            run_id=f"bfcl-eval-{package.version}",
            path=package.where(f"BFCL_v4_{entry.category}.json"),
            sha256=hashlib.sha256(f"{entry.line}\n{line}\n".encode()).hexdigest(),
            kind="oracle",
        ),
    )


def _step(backend: Backend, call: str) -> Step:
    name, arguments = backend.parse(call)
    observation = backend.execute(call)
    return Step(calls=(ToolCall(name, arguments, observation, ok=not is_error(observation)),))
