"""How scenarios ended: the harness's summary, written at the very end of a run, or the one that ``rescore`` writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amd import errors
from amd.traces import Outcome

__all__ = ["INFRASTRUCTURE", "OURS", "RESCORED", "SUMMARY", "Score", "Scores", "outcome", "read_scores"]

SUMMARY: Final = "result_summary.json"
RESCORED: Final = "amd-rescore.json"
"""What ``rescore`` writes beside it, in the same shape, for a run that lost its own."""

INFRASTRUCTURE: Final = frozenset(
    {
        "APIConnectionError",
        "APITimeoutError",
        "AuthenticationError",
        "ClientError",
        "InternalServerError",
        "NotFoundError",
        "PermissionDeniedError",
        "RateLimitError",
        "RetryError",
    }
)
"""Exceptions that ended a scenario and say nothing of the agent: its endpoint or the user's failed."""

OURS: Final = frozenset(errors.__all__) - INFRASTRUCTURE
"""Exceptions of our own agent: they say nothing of the model either, and must not pass for its answer."""


class Score(BaseModel):
    """How one scenario ended. A scenario without minefields has a ``minefield_similarity`` of 0.

    ``turn_count`` counts messages; the harness gives its limit for a scenario that an exception ended.
    """

    model_config = ConfigDict(strict=True, frozen=True, allow_inf_nan=False)

    name: str
    exception_type: str | None
    similarity: float = Field(ge=0, le=1 + 1e-9)  # a mean of similarities may be a rounding error beyond 1
    minefield_similarity: float = Field(ge=0)
    turn_count: int | None = Field(None, ge=0)

    @property
    def infrastructure(self) -> bool:
        """Whether a service failed, or our own part, and not the model."""
        return self.exception_type in INFRASTRUCTURE | OURS


class _Summary(BaseModel):
    model_config = ConfigDict(strict=True)

    per_scenario_results: list[Any]


@dataclass(frozen=True, slots=True)
class Scores:
    """The rows of a summary by scenario, what is worth a count, and why a scenario may have none."""

    rows: Mapping[str, Score] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)
    missing: str = ""


def read_scores(folder: Path) -> Scores:
    """The scores of one of the harness's folders; of none of its scenarios if nothing there can be read.

    The harness's own summary comes first. Rows that cannot be read, and two rows of one scenario that differ, score
    nothing.
    """
    notes: Counter[str] = Counter()
    missing = f"no {SUMMARY}"
    for name in (SUMMARY, RESCORED):
        path = folder / name
        if not path.exists():
            continue
        try:
            summary = _Summary.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            notes["unreadable_summary"] += 1
            missing = f"{path} cannot be read"
        else:
            return Scores(_rows(summary.per_scenario_results, notes), notes, f"{path} has no row of it")
    return Scores({}, notes, missing)


def _rows(values: list[Any], notes: Counter[str]) -> dict[str, Score]:
    rows: dict[str, Score] = {}
    differing: set[str] = set()
    for value in values:
        try:
            row = Score.model_validate(value)
        except ValidationError:
            notes["unreadable_summary_row"] += 1
            continue
        if rows.setdefault(row.name, row) != row:
            differing.add(row.name)
    notes["differing_summary_rows"] += len(differing)
    return {name: row for name, row in rows.items() if name not in differing}


def outcome(score: Score | None, success_score: float, missing: str) -> Outcome:
    """How a scenario ended; ``missing`` says why nobody scored it.

    The evidence leaves the threshold out: a run that succeeds with two of them keeps its hash.
    """
    if score is None:
        return Outcome(None, None, missing)
    parts = [f"similarity {score.similarity:g}"]
    if score.exception_type is not None:
        parts.append(score.exception_type)
    if score.minefield_similarity > 0:
        parts.append(f"minefield {score.minefield_similarity:g}")
    success = score.exception_type is None and score.minefield_similarity == 0 and score.similarity >= success_score
    return Outcome(success, score.similarity, ", ".join(parts))
