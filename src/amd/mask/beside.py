"""A run that may be written to a file: what it held beside its calls is neither listed there nor left in its texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from amd.json_text import JSON
from amd.mask.recurrence import Recurrence
from amd.mask.run_values import recurrence_beside, words_of
from amd.trajectory import Step, ToolCall, Trajectory, Turn

__all__ = ["without_beside"]


def without_beside(run: Trajectory) -> Trajectory:
    """The run with placeholders for the values that only ``run.beside`` tells of, and with nothing beside it.

    Who reads the file can no longer know these values from others, so they go before it is written. A value that
    stands in a call under its own key stays, there and elsewhere: whoever reads the run finds it by that key.
    """
    if not run.beside:
        return run
    known = recurrence_beside(run, {tool.name: words_of(tool) for tool in run.tools or ()})
    task = replace(run.task, instruction=known.replace(run.task.instruction))
    return replace(run, task=task, turns=tuple(_turn(turn, known) for turn in run.turns), beside=())


def _turn(turn: Turn, known: Recurrence) -> Turn:
    user = None if turn.user is None else known.replace(turn.user)
    return Turn(user, tuple(_step(step, known) for step in turn.steps))


def _step(step: Step, known: Recurrence) -> Step:
    return Step(known.replace(step.text), tuple(_call(call, known) for call in step.calls))


def _call(call: ToolCall, known: Recurrence) -> ToolCall:
    arguments = {name: _value(value, known) for name, value in call.arguments.items()}
    return replace(call, arguments=arguments, observation=known.replace(call.observation))


def _value(value: JSON, known: Recurrence) -> JSON:
    if isinstance(value, Mapping):
        return {known.replace(name): _value(item, known) for name, item in value.items()}
    if isinstance(value, list):
        return [_value(item, known) for item in value]
    if isinstance(value, str):
        return known.replace(value)
    if isinstance(value, int) and not isinstance(value, bool):
        written = known.replace(str(value))
        return value if written == str(value) else written
    return value
