"""Made-up runs with a shape that is easy to count: three turns of three calls give 1, 3 and 9 records."""

from __future__ import annotations

from collections.abc import Callable

from amd.json_text import JSON, digest, dumps
from amd.trajectory import Outcome, Source, Step, Task, ToolCall, ToolSpec, Trajectory, Turn, is_error

__all__ = ["openai_chat", "run"]

_CYCLE = ("cd", "mv", "wc")
_DESCRIPTIONS = {
    "cd": "Enter the given folder.",
    "mv": "Move a file into the given folder.",
    "wc": "Count the words of the files in the given folder.",
    "pwd": "Show the current working directory.",
}
_PARAMETERS: dict[str, JSON] = {
    "type": "object",
    "properties": {"folder": {"type": "string", "description": "The folder's name."}},
    "required": ["folder"],
}


def _observe(turn: int, step: int) -> str:
    return dumps({"current_working_directory": f"t{turn}s{step} {'x' * 200}"}).decode()


def run(
    i: int,
    turns: int = 3,
    calls: int = 3,
    *,
    benchmark: str = "made-up",
    success: bool | None = True,
    observe: Callable[[int, int], str] = _observe,
) -> Trajectory:
    """The run of task ``multi_turn_base_{i}``: each turn moves a report and counts a word, then says so.

    Args:
        i: the task's number; its family is ``multi_turn_{i}``.
        turns: how many turns.
        calls: how many calls in each turn, one a step, in the order cd, mv, wc, again from cd.
        benchmark: its name.
        success: how the run was scored; ``None`` is unscored.
        observe: (turn, step) -> what the tool answers.

    >>> [len(turn.calls) for turn in run(0).turns], run(0).task.instruction
    ([3, 3, 3], 'Turn 0 of task 0: move report_0.txt into folder_0 and count word_0')
    """
    task_id = f"multi_turn_base_{i}"
    done = tuple(
        Turn(
            f"Turn {turn} of task {i}: move report_{i}.txt into folder_{i} and count word_{7 * i + turn}",
            (*(_step(i, turn, step, observe(turn, step)) for step in range(calls)), Step(f"Done with turn {turn}.")),
        )
        for turn in range(turns)
    )
    return Trajectory(
        task=Task(benchmark, task_id, f"multi_turn_{i}", done[0].user or ""),
        turns=done,
        tools=tuple(ToolSpec(name, description, _PARAMETERS) for name, description in _DESCRIPTIONS.items()),
        outcome=Outcome(success, None if success is None else float(success)),
        source=Source("made-up-teacher", "run-1", f"{task_id}.json", digest(task_id.encode())),
    )


def _step(i: int, turn: int, step: int, observation: str) -> Step:
    arguments: dict[str, JSON] = {"folder": f"folder_{i}", "n": step}
    name = _CYCLE[step % len(_CYCLE)]
    return Step(calls=(ToolCall(name, arguments, observation, not is_error(observation), f"call_{turn}_{step}"),))


def openai_chat(trajectory: Trajectory) -> dict[str, JSON]:
    """A trajectory as one entry of the format ``openai-chat``: messages, tools, task, family and score.

    >>> [message["role"] for message in openai_chat(run(0, turns=1, calls=1))["messages"]]
    ['user', 'assistant', 'tool', 'assistant']
    """
    messages: list[JSON] = []
    for turn in trajectory.turns:
        if turn.user is not None:
            messages.append({"role": "user", "content": turn.user})
        for step in turn.steps:
            messages.extend(_messages(step))
    entry: dict[str, JSON] = {
        "task_id": trajectory.task.task_id,
        "family": trajectory.task.family,
        "benchmark": trajectory.task.benchmark,
        "score": trajectory.outcome.score,
        "messages": messages,
    }
    if trajectory.tools is not None:
        entry["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
            }
            for tool in trajectory.tools
        ]
    return entry


def _messages(step: Step) -> list[JSON]:
    """A step as the assistant's message and the tools' answers."""
    said: dict[str, JSON] = {"role": "assistant", "content": step.text or None}
    if step.calls:
        said["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": dumps(call.arguments).decode()},
            }
            for call in step.calls
        ]
    answers: list[JSON] = [
        {"role": "tool", "tool_call_id": call.call_id, "name": call.name, "content": call.observation}
        for call in step.calls
    ]
    return [said, *answers]
