"""How tasks ended: the evaluations of an experiment, or the report beside a single task.

AppWorld's own evaluation of a dataset needs every task of it, so that a run of some tasks has reports alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amd.errors import TrajectoryError
from amd.traces import Outcome
from amd_appworld.files import bytes_of

__all__ = ["EVALUATIONS", "Evaluations", "Verdict", "outcome_of", "read_evaluations", "read_report"]

EVALUATIONS: Final = "evaluations"
REPORT: Final = Path("evaluation", "report.md")

_REPORT = re.compile(
    r"Num Passed Tests : (?P<passed>[0-9]{1,6})\s*\nNum Failed Tests : (?P<failed>[0-9]{1,6})\s*\n"
    r"Num Total {1,2}Tests : (?P<total>[0-9]{1,6})\s*(?:\n|\Z)"
)


class _Verdict(BaseModel):
    """One task of an evaluation; older files call the success ``passes_fully``."""

    model_config = ConfigDict(extra="ignore", strict=True)

    success: bool | None = None
    passes_fully: bool | None = None
    num_tests: int | None = Field(None, ge=0)
    passes: list[Any] | None = None
    failures: list[Any] | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a task succeeded, how many of its tests passed, and how many there were (``None``: not told)."""

    success: bool
    passed: int | None = None
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Evaluations:
    """The verdicts of an experiment by task. ``disputed`` are tasks that two files judge differently.

    ``unreadable`` counts files, and entries of files, that cannot be read: their tasks have no verdict here.
    """

    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    disputed: frozenset[str] = frozenset()
    unreadable: int = 0


def read_evaluations(experiment: Path) -> Evaluations:
    """The evaluations that lie in an experiment's folder; none if there is none."""
    folder = experiment / EVALUATIONS
    verdicts: dict[str, Verdict] = {}
    disputed: set[str] = set()
    unreadable = 0
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        individual = _individual(path)
        if individual is None:
            unreadable += 1
            continue
        for task_id, value in individual.items():
            verdict = _verdict(value)
            if verdict is None:
                unreadable += 1
            elif verdicts.setdefault(task_id, verdict).success != verdict.success:
                disputed.add(task_id)
    return Evaluations(verdicts, frozenset(disputed), unreadable)


def _individual(path: Path) -> Mapping[str, Any] | None:
    try:
        value = json.loads(bytes_of(path), object_pairs_hook=_once)
    except (OSError, ValueError, RecursionError):
        return None
    individual = value.get("individual") if isinstance(value, dict) else None
    return individual if isinstance(individual, dict) else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; ``ValueError`` if it has a name twice: which of the two counts, nobody can say."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands there twice")
    return found


def _verdict(value: object) -> Verdict | None:
    """A task's verdict, unless its own counts contradict it."""
    try:
        found = _Verdict.model_validate(value)
    except ValidationError:
        return None
    success = found.passes_fully if found.success is None else found.success
    if success is None or (success and found.failures) or found.passes_fully not in (None, success):
        return None
    passed = None if found.passes is None else len(found.passes)
    if found.num_tests is not None and passed is not None and success is not (passed == found.num_tests > 0):
        return None
    return Verdict(success, passed, found.num_tests)


def read_report(task: Path) -> Verdict | None:
    """The verdict of the report in a task's folder; ``None`` if there is none.

    Raises:
        TrajectoryError: It is no report, or its counts do not add up.
    """
    path = task / REPORT
    try:
        text = bytes_of(path).decode("utf-8", "replace")
    except OSError:
        return None
    match = _REPORT.search(text)
    if match is None:
        raise TrajectoryError(f"{path} is no report of an evaluation", next_step="evaluate the task again", path=path)
    passed, failed, total = (int(match[name]) for name in ("passed", "failed", "total"))
    if passed + failed != total:
        raise TrajectoryError(
            f"{path}: {passed} passed and {failed} failed, of {total} tests",
            next_step="evaluate the task again",
            path=path,
        )
    return Verdict(failed == 0 and total > 0, passed, total)


def outcome_of(verdict: Verdict | None) -> Outcome:
    """The outcome of a run. The score is the share of its tests that passed, where their number is told."""
    if verdict is None:
        return Outcome(None, None, "no evaluation has it, and no report lies beside it")
    score = None
    if verdict.passed is not None and verdict.total:
        score = verdict.passed / verdict.total
    evidence = "" if score is None else f"{verdict.passed} of {verdict.total} tests passed"
    return Outcome(verdict.success, score, evidence)
