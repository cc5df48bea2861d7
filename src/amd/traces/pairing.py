"""Calls and their results: which belongs to which, or the reason why that cannot be told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from amd.errors import TrajectoryError
from amd.json_text import JSON
from amd.trajectory import Step, ToolCall

__all__ = ["CallRequest", "CallResult", "DraftStep", "pair"]


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A call as an assistant message asks for it."""

    name: str
    arguments: Mapping[str, JSON]
    call_id: str | None


@dataclass(frozen=True, slots=True)
class CallResult:
    """A tool message: its text, the id and the tool's name if it has them, and where it stands."""

    text: str
    call_id: str | None
    name: str | None
    where: str


@dataclass(slots=True)
class DraftStep:
    """An assistant message and the results that came for its calls."""

    where: str
    text: str
    calls: list[CallRequest]
    results: list[CallResult] = field(default_factory=list)


def pair(draft: DraftStep, think: Collection[str], failed: Callable[[str], bool]) -> Step:
    """The step of an assistant message, the thoughts of ``think`` tools moved from its calls into its text.

    Raises:
        TrajectoryError: Calls and results differ in number, in their ids or, without ids, in their tools.
    """
    texts, calls = [draft.text], []
    for call, observation in zip(draft.calls, _observations(draft), strict=True):
        if call.name in think:
            texts += [value for value in call.arguments.values() if isinstance(value, str)]
        else:
            calls.append(ToolCall(call.name, call.arguments, observation, not failed(observation), call.call_id))
    return Step("\n".join(filter(None, texts)), tuple(calls))


def _observations(draft: DraftStep) -> list[str]:
    """The results of a message's calls, in the order of the calls."""
    calls, results = draft.calls, draft.results
    if len(calls) != len(results):
        raise TrajectoryError(f"{draft.where} has {len(calls)} calls and {len(results)} results")
    if any(result.call_id is not None for result in results):
        return _by_id(draft)
    for call, result in zip(calls, results, strict=True):
        if result.name not in (None, "", call.name):
            raise TrajectoryError(
                f"{result.where} is a result of {result.name!r} without an id, where {call.name!r} comes next"
            )
    return [result.text for result in results]


def _by_id(draft: DraftStep) -> list[str]:
    results = {result.call_id: result.text for result in draft.results}
    wanted = [call.call_id for call in draft.calls]
    if None in wanted or len(set(wanted)) < len(wanted) or set(wanted) != set(results):
        raise TrajectoryError(f"{draft.where}: the ids of its calls are {wanted}, those of the results {list(results)}")
    return [results[call_id] for call_id in wanted]
