"""A run without its ``inference_log``, rebuilt from ``result``: its calls are run again on the real backends.

The answers of the model are all there; what is missing is what the tools said. A turn of the harness ends with the
first step that is no call, and only there, unless the run was forced to quit: a turn in which the decoded steps say
anything else was written by a handler with a decoder of its own, and is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amd.errors import TrajectoryError
from amd_bfcl.backends import Backend
from amd_bfcl.decode import decode_function_calling, decode_prompting
from amd_bfcl.inference_log import MOST_STEPS, LoggedStep, LoggedTurn
from amd_bfcl.tasks import Entry

__all__ = ["rebuild"]


def rebuild(result: Sequence[Sequence[Any]], reasoning: object, entry: Entry) -> list[LoggedTurn]:
    """The turns of a run: ``result`` is a list of turns, each a list of steps; ``reasoning`` is shaped alike, or none.

    Raises:
        TrajectoryError: It has more turns than the task, its steps cannot be decoded as the harness does, or a call
            cannot be replayed.
        ConfigError: The benchmark is not installed.
    """
    if len(result) > len(entry.users):
        raise TrajectoryError(f"the run has {len(result)} turns, {entry.where} has {len(entry.users)}")
    function_calling = any(isinstance(step, list) for turn in result for step in turn)
    thoughts = _Thoughts(reasoning)
    with Backend(entry) as backend:
        turns = []
        for number, (steps, user) in enumerate(zip(result, entry.users, strict=False)):
            calls = [_decode(step, function_calling=function_calling) for step in steps]
            forced = len(calls) > MOST_STEPS and all(calls)
            if not forced and not (calls and all(calls[:-1]) and not calls[-1]):
                raise TrajectoryError(
                    f"turn {number} of result does not end with its first step in words: its model's handler has a "
                    "decoder of its own",
                    next_step="read the run with its inference_log",
                )
            done = [
                LoggedStep(step, thoughts.at(number, place), tuple(these), _run(backend, these))
                for place, (step, these) in enumerate(zip(steps, calls, strict=True))
            ]
            turns.append(LoggedTurn(({"role": "user", "content": user},), tuple(done), forced))
    return turns


def _decode(step: object, *, function_calling: bool) -> list[str]:
    """The calls of a step; none where it is words."""
    if function_calling:
        return decode_function_calling(step) or []
    if not isinstance(step, str):
        raise TrajectoryError(f"a step of result is neither text nor a list but a {type(step).__name__}")
    return decode_prompting(step) or []


def _run(backend: Backend, calls: list[str]) -> tuple[str, ...]:
    return tuple(backend.execute_all([backend.checked(call) for call in calls])) if calls else ()


class _Thoughts:
    """``reasoning_content`` of a line, [[text of a step, ...] for each turn, ...]; anything else holds nothing."""

    def __init__(self, reasoning: object) -> None:
        self._turns = reasoning if isinstance(reasoning, list) else []

    def at(self, turn: int, step: int) -> str:
        """The text of a step, empty if there is none."""
        steps = self._turns[turn] if turn < len(self._turns) else None
        found = steps[step] if isinstance(steps, list) and step < len(steps) else None
        return found if isinstance(found, str) else ""
