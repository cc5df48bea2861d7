"""Small runs whose calls hold what must not recur."""

from __future__ import annotations

import pytest

from amd.trajectory import Outcome, Source, Step, Task, ToolCall, Trajectory, Turn, is_error


@pytest.fixture
def make_run():
    """A run of one turn: the user's text and (text, tool, arguments, observation) for each step."""

    def make(user, *steps, tools=None, task_id="t1"):
        made = tuple(
            Step(text, (ToolCall(tool, arguments, observation, not is_error(observation)),))
            for text, tool, arguments, observation in steps
        )
        return Trajectory(
            Task("demo", task_id, "family-1", user),
            (Turn(user, made),),
            tools,
            Outcome(True, 1.0),
            Source("teacher", "run-1", "runs.jsonl", "0" * 64),
        )

    return make
