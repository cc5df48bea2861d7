"""``inference_log``: what the harness wrote down of a run, turn by turn and step by step.

A turn of the log is an object with ``begin_of_turn_query`` and ``step_0``, ``step_1``, ...; between turns stand lists
with the backends' state, which are passed over. A step is a list of entries: the model's answer (``assistant``), what
became of its decoding (``handler_log``) and one result (``tool``) for each decoded call, in their order. The result
has no name and no id: the i-th belongs to the i-th decoded call, and a step in which the counts differ cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from amd.errors import TrajectoryError

__all__ = ["MOST_STEPS", "LoggedStep", "LoggedTurn", "read_log"]

MOST_STEPS = 20
"""Steps with calls that a turn may have; the harness ends the run after one more."""

_STEP = re.compile(r"step_(0|[1-9][0-9]*)")
_FORCED = "forced to quit"


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """One answer of the model.

    ``content`` is as the model's handler gives it: text, a list of texts, or a list of calls. ``calls`` are the decoded
    calls, each with its result in ``observations``.
    """

    content: Any
    reasoning: str
    calls: tuple[str, ...]
    observations: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    """The messages that open a turn, its steps, and whether the harness ended the run in it."""

    query: tuple[Mapping[str, Any], ...]
    steps: tuple[LoggedStep, ...]
    forced: bool = False


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True)

    role: str
    content: Any = None
    reasoning: str | None = Field(None, alias="reasoning_content")
    decoded: list[str] | None = Field(None, alias="model_response_decoded")


_ENTRIES = TypeAdapter(list[_Entry])
_QUERY = TypeAdapter(list[dict[str, Any]])


def read_log(log: object) -> list[LoggedTurn]:
    """The turns of an ``inference_log``; empty where it is missing or holds no turn, so that it must be rebuilt.

    Raises:
        TrajectoryError: It is no log, or calls and results differ in number.
    """
    if log is None:
        return []
    if not isinstance(log, list):
        raise TrajectoryError(f"inference_log is no list but a {type(log).__name__}")
    turns = [turn for turn in log if isinstance(turn, Mapping)]
    return [_turn(turn, f"turn {number}") for number, turn in enumerate(turns)]


def _turn(turn: Mapping[str, Any], where: str) -> LoggedTurn:
    numbers = sorted(int(match[1]) for match in map(_STEP.fullmatch, turn) if match)
    if "begin_of_turn_query" not in turn or numbers != list(range(len(numbers))):
        raise TrajectoryError(f"{where} of inference_log has no query, or lacks one of its steps")
    forced = False
    steps = []
    try:
        query = _QUERY.validate_python(turn["begin_of_turn_query"])
        for number in numbers:
            entries = _ENTRIES.validate_python(turn[f"step_{number}"])
            forced |= any(entry.role == "handler_log" and _FORCED in str(entry.content) for entry in entries)
            steps.append(_step(entries, f"{where}, step {number}"))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise TrajectoryError(
            f"{where} of inference_log: {'.'.join(map(str, fault['loc']))}: {fault['msg']}"
        ) from error
    return LoggedTurn(tuple(query), tuple(steps), forced or _endless(steps))


def _endless(steps: list[LoggedStep]) -> bool:
    """Whether the turn went beyond what the harness allows: a last step in words after 20 with calls is allowed."""
    return len(steps) > MOST_STEPS and bool(steps[-1].calls)


def _step(entries: list[_Entry], where: str) -> LoggedStep:
    answers = [entry for entry in entries if entry.role == "assistant"]
    if len(answers) != 1:
        raise TrajectoryError(f"{where} has {len(answers)} answers of the model instead of one")
    decoded = next((entry.decoded for entry in entries if entry.role == "handler_log" and entry.decoded), [])
    calls = () if decoded == [""] else tuple(decoded)
    results = tuple(entry.content for entry in entries if entry.role == "tool")
    if len(calls) != len(results):
        raise TrajectoryError(f"{where} has {len(calls)} decoded calls and {len(results)} results")
    return LoggedStep(answers[0].content, answers[0].reasoning or "", calls, results)
