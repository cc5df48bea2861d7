"""What a run came to, task by task, for ``amd report``: from its result lines and score files, without the harness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from amd.arms import RunResults, TaskResult, run_format
from amd.errors import ConfigError, TrajectoryError
from amd_bfcl.families import BENCHMARK, Category, category, family
from amd_bfcl.reading import survey
from amd_bfcl.report import log_of
from amd_bfcl.result_files import ResultFile
from amd_bfcl.run import Run, Settings
from amd_bfcl.scores import ScoreFile, Tasks, disagreement, outcome, read_score
from amd_bfcl.standing import Standing, standing

__all__ = ["read"]

_MOST = 10**6  # seconds or tokens of one request
_FORMAT = Settings.model_fields["format"].default


def read(path: Path) -> RunResults | None:
    """The results of a run directory of this overlay; ``None`` for any other directory.

    A step is one request to the student; seconds are what the harness measured of them.

    Raises:
        ConfigError: the settings cannot be read, or a category with results is not evaluated.
        TrajectoryError: a score file is of other results, or a line says nothing of its memory.
    """
    if run_format(path) != _FORMAT:
        return None
    run = Run(path)
    settings, stands = run.settings, standing(run)
    scored = {name: _score(run, name) for name in sorted({_category(task_id) for task_id in stands.answered})}
    terms = settings.model_dump(mode="json", include={"calling", "handler", "harness", "bfcl_eval", "tasks_sha256"})
    return RunResults(
        path=path,
        benchmark=BENCHMARK,
        student=settings.model,
        tasks=tuple(_result(run, stands, scored, task_id) for task_id in stands.wanted),
        terms=terms,
        **settings.shared(),
    )


def _category(task_id: str) -> Category:
    found = category(task_id)
    if found is None:
        raise TrajectoryError(f"{task_id!r} is no task of BFCL's multi-turn categories", task_id=task_id)
    return found


def _score(run: Run, name: Category) -> tuple[ScoreFile, Tasks]:
    """The score file of a category, which must be of the lines that are there."""
    path = run.score_file(name)
    if not path.exists():
        raise ConfigError(
            f"{run.path} has results of {name} and no scores",
            next_step=f"python -m amd_bfcl evaluate {run.path}",
            path=str(path),
        )
    file = ResultFile(run.result_file(name), model=run.settings.name, score=path, run=run.path)
    tasks = survey(file)
    score = read_score(path)
    fault = disagreement(score, file, tasks)
    if fault:
        raise TrajectoryError(fault, next_step=f"python -m amd_bfcl evaluate {run.path}")
    return score, tasks


def _result(run: Run, stands: Standing, scored: Mapping[Category, tuple[ScoreFile, Tasks]], task_id: str) -> TaskResult:
    own = family(task_id)
    if own is None:
        raise TrajectoryError(f"{run.path}: {task_id!r} is of no family of BFCL", task_id=task_id)
    if task_id not in stands.answered:
        return TaskResult(task_id, own, success=None, fault="infrastructure" if task_id in stands.errors else "missing")
    line = stands.answered[task_id]
    ended = outcome(*_of(scored, task_id))
    if ended.success is None:
        raise TrajectoryError(
            f"{run.path}: {task_id} has no score: {ended.evidence}",
            next_step=f"python -m amd_bfcl evaluate {run.path}",
            task_id=task_id,
        )
    return TaskResult(
        task_id,
        own,
        success=ended.success,
        steps=sum(len(turn) for turn in line["result"] if isinstance(turn, list)),
        seconds=_total(run, line, "latency"),
        prompt_tokens=_whole(run, line, "input_token_count"),
        completion_tokens=_whole(run, line, "output_token_count"),
        log=log_of(run, run.settings, task_id, line),
    )


def _of(scored: Mapping[Category, tuple[ScoreFile, Tasks]], task_id: str) -> tuple[ScoreFile, str, Tasks]:
    score, tasks = scored[_category(task_id)]
    return score, task_id, tasks


def _whole(run: Run, line: Mapping[str, Any], name: str) -> int | None:
    total = _total(run, line, name)
    return None if total is None else round(total)


def _total(run: Run, line: Mapping[str, Any], name: str) -> float | None:
    """The sum over turns and steps; ``None`` where the harness did not count."""
    values = list(_numbers(line.get(name)))
    if not all(0 <= value <= _MOST for value in values):
        raise TrajectoryError(
            f"{run.path}: {line['id']}: {name} holds a number that is none of a run", next_step="generate it again"
        )
    return float(sum(values)) if values else None


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, list):
        for each in value:
            yield from _numbers(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value
