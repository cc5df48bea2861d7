"""A scripted student: it plays recorded runs, answer for answer, with slips where it is told to. No model is behind it.

A :class:`Player` is a chat function for ``amd.testing.LoopbackServer``. It keeps no state: what it says follows from
the request alone, so it serves threads, and a run that was interrupted goes on where it stood. It finds its place by
the words of the user and by its own earlier messages, in function calling (the request has ``tools``) and in
prompting; memory in the messages is looked through.

>>> from amd.testing import run
>>> player = Player([run(0)])
>>> asked = {"messages": [{"role": "user", "content": run(0).task.instruction}]}
>>> player(asked)["content"]
"[cd(folder='folder_0', n=0)]"
>>> player(asked | {"tools": []})["tool_calls"][0]["function"]
{'name': 'cd', 'arguments': '{"folder": "folder_0", "n": 0}'}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from amd.errors import ConfigError, TrajectoryError
from amd.traces import Trajectory, strip_memory
from amd_bfcl.families import Category, category
from amd_bfcl.slips import Script, Slip, every_slip, script_turn

__all__ = ["Player", "Slip", "every_slip"]

Message: TypeAlias = Mapping[str, Any]

_RESULTS = "[{'role': 'tool'"


class Player:
    """Plays runs: called with the body of a chat request, it answers the assistant's next message.

    Args:
        runs: what it plays, as :func:`amd_bfcl.record.record` gives them.
        faults: task id -> its slips.

    Raises:
        ConfigError: two runs would answer the same words of the user differently (play one category at a time); or
            slips are for a task or a turn that is not there, or for one without a call to slip on.
    """

    def __init__(self, runs: Iterable[Trajectory], faults: Mapping[str, Sequence[Slip]] | None = None) -> None:
        self._plans: dict[tuple[str | None, ...], tuple[Script, str]] = {}
        self._texts: set[str] = set()
        self._words: set[str] = set()
        self._categories: set[Category | None] = set()
        unknown = dict(faults or {})
        for run in runs:
            self._categories.add(category(run.task.task_id))
            slips = unknown.pop(run.task.task_id, ())
            for turn in range(max([len(run.turns), *(slip.turn + 1 for slip in slips)])):
                self._add(run, turn, [slip for slip in slips if slip.turn == turn])
        if unknown:
            raise ConfigError(
                f"slips for {min(unknown)!r}, and no run of it", next_step="give its run, or leave its slips out"
            )

    def __call__(self, request: Message) -> dict[str, Any]:
        """The next message; ``TrajectoryError`` if no run has come as far as this request with these words."""
        messages: Sequence[Message] = request["messages"]
        users: list[str | None] = []
        words, step = "", 0
        for at, message in enumerate(messages):
            if message["role"] == "assistant":
                step += 1
            elif _is_user(message) and not self._is_example(messages[at : at + 3]):
                words = _key(_text(message))
                # Words of nobody's run are the harness's own: it speaks for the user when tools arrive.
                users.append(words if words in self._words else None)
                step = 0
        found = self._plans.get(tuple(users))
        if found is None:
            raise TrajectoryError(
                f"{self._played()}no run has a turn {len(users)} in which the user says {words!r:.80}",
                next_step="record the runs of these tasks",
            )
        plan, _ = found
        said = plan.at(step)
        if said is None:
            return {"role": "assistant", "content": plan.closing}
        if "tools" not in request:
            return {"role": "assistant", "content": said.as_text}
        place = f"call_{len(users) - 1}_{step}"
        return {"role": "assistant", "content": None, "tool_calls": said.as_tool_calls(place)}

    def _played(self) -> str:
        """Which category is played, where it is one: another one is what a request is of that nobody can answer."""
        if len(self._categories) != 1 or None in self._categories:
            return ""
        return f"this player has {min(map(str, self._categories))}; start it with -c for another category: "

    def _add(self, run: Trajectory, turn: int, slips: Sequence[Slip]) -> None:
        plan = script_turn(run, turn, slips)
        users = tuple(None if each.user is None else _key(each.user) for each in run.turns[: turn + 1])
        self._words |= {words for words in users if words}
        other, task_id = self._plans.setdefault(users, (plan, run.task.task_id))
        if other != plan:
            raise ConfigError(
                f"{task_id!r} and {run.task.task_id!r} answer the same words of the user differently in turn {turn}",
                next_step="play one category at a time, and let runs of one family slip in the same way",
            )
        self._texts |= {plan.closing, *(said.as_text for said in plan.messages if said.broken)}

    def _is_example(self, messages: Sequence[Message]) -> bool:
        """Whether the first of these messages begins an exchange that memory put there.

        The words after it are none of ours, and the user goes on without a tool's result.
        """
        if len(messages) < 3 or messages[1]["role"] != "assistant" or not _is_user(messages[2]):
            return False
        return not messages[1].get("tool_calls") and _text(messages[1]) not in self._texts


def _is_user(message: Message) -> bool:
    """Whether the user speaks; in prompting, tool results come as a user's message too."""
    return message["role"] == "user" and not _text(message).startswith(_RESULTS)


def _text(message: Message) -> str:
    """A message's text without memory; content may be a list of parts."""
    content = message.get("content") or ""
    parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    return strip_memory("".join(parts))[0]


def _key(text: str) -> str:
    """What a turn is found by."""
    return text.strip()
