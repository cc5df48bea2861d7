"""Whether a hint would have repaired a recorded error: the run itself knows the call that did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from amd.evidence import Repair, find_evidence
from amd.experiment.calls import ShownCall, calls_in
from amd.json_text import JSON
from amd.session import Session
from amd.tier import FailedCall
from amd.trajectory import ToolCall, Trajectory

__all__ = ["ErrorHint", "Kind", "RecordedError", "hints_for", "recorded_errors"]

Kind = Literal["names", "values", "between", "again"]
"""What repaired the call: other argument names; other values; another call in between; nothing but calling again."""


@dataclass(frozen=True, slots=True)
class RecordedError:
    """A failed call of a run, the first of its tool and class, and the good call that mended it later.

    ``number`` counts the calls of the run from 1. ``between`` has the tools of the good calls before a repair that
    changed no argument.
    """

    task_id: str
    family: str
    number: int
    error_class: str
    kind: Kind
    failed: FailedCall
    repaired: ToolCall
    changed: tuple[str, ...]
    between: frozenset[str]


@dataclass(frozen=True, slots=True)
class ErrorHint:
    """What a hint to one recorded error had: any text, an example of the tool, one that would have repaired it."""

    task_id: str
    family: str
    tool: str
    error_class: str
    kind: Kind
    shown: bool
    example: bool
    repairs: bool
    tokens: int


def recorded_errors(run: Trajectory) -> tuple[RecordedError, ...]:
    """The errors of a run whose repair is known (``amd.evidence``), one for each tool and class of error."""
    calls = run.calls
    said = [(turn.user or "", step.text) for turn in run.turns for step in turn.steps for _ in step.calls]
    found: dict[tuple[str, str], RecordedError] = {}
    for repair in find_evidence(run).repairs:
        if repair.repaired is not None:
            failed = calls[repair.failed - 1]
            error = _recorded(run, repair, calls[repair.failed - 1 : repair.repaired], *said[repair.failed - 1])
            found.setdefault((failed.name, repair.error_class), error)
    return tuple(found.values())


def _recorded(run: Trajectory, repair: Repair, calls: Sequence[ToolCall], user: str, text: str) -> RecordedError:
    failed, *others, repaired = calls
    between = frozenset(call.name for call in others if call.ok) if not repair.changed else frozenset()
    return RecordedError(
        run.task.task_id,
        run.task.family,
        repair.failed,
        repair.error_class,
        _kind(failed.arguments, repaired.arguments, repair.changed, between),
        FailedCall(failed.name, failed.arguments, failed.observation, text, user, place=repair.failed),
        repaired,
        repair.changed,
        between,
    )


def _kind(
    before: Mapping[str, JSON], after: Mapping[str, JSON], changed: Sequence[str], between: frozenset[str]
) -> Kind:
    if changed:
        return "names" if set(before) != set(after) else "values"
    return "between" if between else "again"


def hints_for(session: Session, errors: Sequence[RecordedError]) -> Iterator[ErrorHint]:
    """Ask the session after each error, in order, as a student's harness would."""
    for error in errors:
        before = len(session.exposures)
        text = session.after_error(error.failed).text
        calls = calls_in(text)
        own = [call for call in calls if call.tool == error.failed.tool]
        yield ErrorHint(
            error.task_id,
            error.family,
            error.failed.tool,
            error.error_class,
            error.kind,
            shown=bool(text),
            example=bool(own),
            repairs=_repairs(error, own, calls),
            tokens=sum(exposure.tokens for exposure in session.exposures[before:]),
        )


def _repairs(error: RecordedError, own: Sequence[ShownCall], calls: Sequence[ShownCall]) -> bool:
    """Whether an example shows what the repair needed.

    Other names: a call of the tool with exactly the names of the repaired call; its values are the task's own
    business. Other values: a call that has each of them, which masking mostly hides. Calls in between: one of their
    tools.
    """
    after = error.repaired.arguments
    if error.kind == "names":
        return any(set(call.arguments) == set(after) for call in own)
    if error.kind == "values":
        return any(
            all(name in call.arguments and call.arguments[name] == after[name] for name in error.changed)
            for call in own
        )
    return any(call.tool in error.between for call in calls)
