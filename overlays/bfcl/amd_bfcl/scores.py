"""Score files: which tasks of a result file failed, and whether the two belong together.

A score file has the counts in its first line, then one line for each task that failed; what succeeded is not in it.
So a score file beside the wrong results makes all of them look right, and nothing is believed unless every figure fits.
Two runs of one model have the same figures; what a failed line repeats of its run tells them apart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amd.errors import ConfigError
from amd.traces import Line, Outcome, Refusal, read_jsonl
from amd_bfcl.result_files import FileName, ResultFile

__all__ = ["ScoreFile", "Tasks", "belongs_to", "disagreement", "fingerprint", "outcome", "read_score"]

_MOST_NAMED = 4


@dataclass(slots=True)
class Tasks:
    """The tasks of a result file: id -> the number of its last line and the fingerprint of the result in it.

    ``rewritten`` has the ids with several lines whose results differ; ``unreadable`` counts the lines that have no id
    to read.
    """

    last: dict[str, int] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)
    rewritten: set[str] = field(default_factory=set)
    unreadable: int = 0

    @property
    def categories(self) -> set[str]:
        """The categories of the ids."""
        return {task_id.rpartition("_")[0] for task_id in self.last}


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """A score file: its counts, the failed ids with what failed, and the categories and models that its lines name.

    ``fingerprints`` are those of the results that its failed lines repeat. ``fault`` says what is wrong with the file
    itself; empty if nothing is.
    """

    path: Path
    correct: int = 0
    total: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    categories: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    fault: str = ""


class _Header(BaseModel):
    model_config = ConfigDict(strict=True)

    correct_count: int = Field(ge=0)
    total_count: int = Field(ge=0)


class _Failed(BaseModel):
    model_config = ConfigDict(strict=True, protected_namespaces=())

    id: str
    valid: bool
    model_name: str | None = None
    test_category: str | None = None
    error: Any = None
    model_result: Any = None
    model_result_raw: Any = None

    @property
    def result(self) -> Any:  # noqa: ANN401 - any JSON value
        """The result that failed; a run that ended by force or with an error has it under another name."""
        return self.model_result if self.model_result_raw is None else self.model_result_raw

    @property
    def what(self) -> str:
        """What failed, in the evaluator's word."""
        found = self.error.get("error_type") if isinstance(self.error, Mapping) else None
        return found if isinstance(found, str) else "failed"


def fingerprint(result: object) -> str:
    """What two results of one task are compared by.

    >>> fingerprint([["Done."]]) == fingerprint([["Done."]]), fingerprint([["Done."]]) == fingerprint([["done."]])
    (True, False)
    """
    return hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()


def read_score(path: Path) -> ScoreFile:
    """A score file, whatever is in it; ``TrajectoryError`` if it is not there or cannot be opened."""
    named = FileName.of(path)
    categories = {named.category} if named else set()
    items = [item for item in read_jsonl([path]) if isinstance(item, Line | Refusal)]
    try:
        lines = list(_lines(items))
        header = _Header.model_validate(lines[0].value if lines else {})
        failed = [_Failed.model_validate(line.value) for line in lines[1:]]
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        return ScoreFile(
            path, categories=frozenset(categories), fault=f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
        )
    except _TornError as error:
        return ScoreFile(path, categories=frozenset(categories), fault=str(error))
    return ScoreFile(
        path,
        header.correct_count,
        header.total_count,
        {task.id: task.what for task in failed},
        {task.id: fingerprint(task.result) for task in failed if task.result is not None},
        frozenset(categories | {task.test_category for task in failed if task.test_category}),
        frozenset(task.model_name for task in failed if task.model_name),
        _own_fault(failed),
    )


class _TornError(Exception):
    """A line of a score file is no JSON object."""


def _lines(items: Sequence[Line | Refusal]) -> Iterator[Line]:
    for item in items:
        if isinstance(item, Refusal):
            raise _TornError(f"{item.where}: {item.detail}")
        yield item


def _own_fault(failed: Sequence[_Failed]) -> str:
    if any(task.valid for task in failed):
        return "it lists a task that did not fail"
    if len({task.id for task in failed}) < len(failed):
        return "it lists a task twice"
    return ""


def belongs_to(score: ScoreFile, files: Sequence[tuple[ResultFile, Tasks]]) -> ResultFile:
    """The one result file that an explicitly named score file scores: by place, else by category, version and model.

    Raises:
        ConfigError: It scores none of the files, or cannot be told between several.
    """
    beside = [file for file, _ in files if file.score and file.score.resolve() == score.path.resolve()]
    found = beside or [file for file, tasks in files if _may_score(score, file, tasks)]
    if len(found) == 1:
        return found[0]
    others = ", ".join(str(file.path) for file in found or [file for file, _ in files])
    raise ConfigError(
        f"the score file {score.path} (category {_listed(score.categories)}, model {_listed(score.models)}) "
        f"scores {'more than one' if found else 'none'} of: {others}",
        next_step="give the score file of one result file, and each result file with its own",
        score=score.path,
        results=[file.path for file, _ in files],
    )


def _may_score(score: ScoreFile, file: ResultFile, tasks: Tasks) -> bool:
    mine, its = FileName.of(score.path), FileName.of(file.path)
    same_version = mine is None or its is None or mine.version == its.version
    return same_version and tasks.categories == score.categories and _same_model(score, file)


def _same_model(score: ScoreFile, file: ResultFile) -> bool:
    """Whether the failed lines name the model of the directory; the harness writes ``_`` for ``/`` there, and back."""
    named = {_plain(name) for name in score.models}
    return len(named) <= 1 if file.model is None else named <= {_plain(file.model)}


def _plain(name: str) -> str:
    return name.replace("/", "_")


def disagreement(score: ScoreFile, file: ResultFile, tasks: Tasks) -> str:
    """Why a score file cannot be believed about a result file, with the figures; empty if everything fits.

    A line of the result file that cannot be read may be one of the tasks that the score file counts.
    """
    ids, failed = set(tasks.last), set(score.failed)
    missing, foreign = score.total - len(ids), failed - ids
    if score.fault:
        found = score.fault
    elif file.run and not score.path.resolve().is_relative_to(file.run.resolve()):
        found = f"it lies outside of {file.run}, whose own evaluation alone scores its results"
    elif not 0 <= missing <= tasks.unreadable:
        found = f"it counts {score.total} tasks, the results {len(ids)} and {tasks.unreadable} unreadable lines"
    elif len(foreign) > missing:
        found = f"it fails tasks that the results do not have: {_listed(foreign)}"
    elif score.correct != score.total - len(failed):
        found = f"it counts {score.correct} of {score.total} as right and lists {len(failed)} failed"
    elif tasks.categories - score.categories or len(score.categories) > 1:
        found = f"it is of {_listed(score.categories)}, the results are of {_listed(tasks.categories)}"
    elif not _same_model(score, file):
        found = f"it is of the model {_listed(score.models)}, the results are of {file.model}"
    elif others := {task_id for task_id in failed & ids if _differs(score, tasks, task_id)}:
        found = f"it scores another run, with other results for {_listed(others)}"
    else:
        return ""
    return f"{score.path}: {found}"


def _differs(score: ScoreFile, tasks: Tasks, task_id: str) -> bool:
    """Whether a failed line repeats another result than the task's."""
    return score.fingerprints.get(task_id, mine := tasks.fingerprints.get(task_id)) != mine


def _listed(names: set[str] | frozenset[str]) -> str:
    """Names for a message, the first few of many."""
    listed = sorted(names)
    return (", ".join(listed[:_MOST_NAMED]) + (", ..." if len(listed) > _MOST_NAMED else "")) or "unknown"


def outcome(score: ScoreFile | None, task_id: str, tasks: Tasks) -> Outcome:
    """How a task ended, by the score file that belongs to its results.

    Unscored without one, and where several lines say different things: the evaluator takes no such file, so nobody
    knows which of them it saw.
    """
    if score is None:
        return Outcome(None, None, "no score file")
    if task_id in score.failed:
        return Outcome(success=False, score=0.0, evidence=score.failed[task_id])
    if task_id in tasks.rewritten:
        return Outcome(None, None, "its lines differ, and the score file does not tell which one was scored")
    return Outcome(success=True, score=1.0, evidence="among the successes of its score file")
