"""A scripted agent and a scripted user for ToolSandbox behind an OpenAI-compatible endpoint. No model is behind them.

A :class:`Player` is a chat function for ``amd.testing.LoopbackServer``. It keeps no state: what it says follows from
the request alone, so it serves threads, and a run that was interrupted can be played again. No request names its
scenario: the agent's script is found by the user's first words, by the tools that are offered, whose names may be
scrambled, and by what the user answers. Memory in the messages is looked through.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from amd.arms import Message
from amd.errors import TrajectoryError
from amd.traces import strip_memory
from amd_toolsandbox.oracle.calls import calls_of
from amd_toolsandbox.oracle.goals import Said, Sheet
from amd_toolsandbox.oracle.script import CLOSING, QUESTION, SORRY, Answer, Move, play

__all__ = ["AGENT", "USER", "Player"]

AGENT, USER = "toolsandbox-oracle", "scripted-user"
"""The names of the two models; every model that is not the user is the agent."""

GO_ON = "Please go on."


class Player:
    """Called with the body of a chat request, it answers the assistant's next message, for the agent and for the user.

    Args:
        sheets: the answer keys that are played.
        scrambled: a tool's real name -> its name where names are scrambled.
        user_model: the name of the user's model.

    >>> sheet = Sheet("greet", "Say hello", "", frozenset(), (Said("Hello."),))
    >>> Player([sheet])({"model": "any", "messages": [{"role": "user", "content": "Say hello"}]})["content"]
    'Hello.'
    """

    def __init__(
        self, sheets: Iterable[Sheet], scrambled: Mapping[str, str] | None = None, *, user_model: str = USER
    ) -> None:
        # The one with the most goals first: of several that fit, it says the most.
        self.sheets = tuple(sorted(sheets, key=lambda sheet: (-len(sheet.goals), sheet.base)))
        self._scrambled = scrambled or {}
        self._user_model = user_model
        words = {goal.text for sheet in self.sheets for goal in sheet.goals if isinstance(goal, Said)}
        own = (re.escape(text.strip()) for text in (QUESTION, SORRY, CLOSING, *words))
        self._own_words = re.compile("|".join(own).replace(r"\{days\}", r"\S+"))

    def __call__(self, request: Message) -> dict[str, Any]:
        """The next message; ``TrajectoryError`` if no script is for these words, tools and answers."""
        if request["model"] == self._user_model:
            return _rendered(self._user_move(request), {}, "user")
        messages, first = self._conversation(request["messages"])
        names = self._offered(request.get("tools") or ())
        answers = list(_answers(messages))
        script = play(self._sheet(first, names, answers))
        move = next(script)
        for step, came in enumerate(answers, start=1):
            if len(came) != (1 if isinstance(move, str) else len(move)):
                raise TrajectoryError(
                    f"{len(came)} answers came to {move!r:.80}, message {step} to {first!r:.80}",
                    next_step="send the whole conversation",
                )
            move = script.send(came)
        return _rendered(move, names, f"call_{len(answers)}")

    def _offered(self, tools: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """Real name -> offered name, of the tools of a request."""
        real = {shown: name for name, shown in self._scrambled.items()}
        shown = [tool["function"]["name"] for tool in tools]
        return {real.get(name, name): name for name in shown}

    def _conversation(self, messages: Sequence[Message]) -> tuple[Sequence[Message], str]:
        """The messages from the user's first words on, and these words; without the examples that memory put there."""
        own: list[Message] = []
        at = 0
        while at < len(messages):
            if self._is_example(messages[at : at + 3]):
                at += 2
            else:
                own.append(messages[at])
                at += 1
        users = [at for at, message in enumerate(own) if message["role"] == "user"]
        return (own[users[0] :], _text(own[users[0]])) if users else ((), "")

    def _is_example(self, messages: Sequence[Message]) -> bool:
        """Whether the first of these messages begins an exchange that memory put there: its answer is none of ours."""
        if [message["role"] for message in messages] != ["user", "assistant", "user"]:
            return False
        return not messages[1].get("tool_calls") and not self._own_words.fullmatch(_text(messages[1]))

    def _sheet(self, first: str, names: Mapping[str, str], answers: Sequence[Sequence[Answer]]) -> Sheet:
        """The sheet that begins so, needs nothing that is not offered, and fits what the user answered."""
        fit = [
            sheet
            for sheet in self.sheets
            if sheet.first == first and all(tool in names for goal in sheet.goals for tool, _ in calls_of(goal))
        ]
        told = answers[0][0].text if answers and answers[0] else None
        fit = [sheet for sheet in fit if not sheet.asks or told in (None, sheet.answer)]
        if not fit:
            raise TrajectoryError(
                f"no script begins with {first!r:.80} and these tools: {', '.join(sorted(names))}",
                next_step="play one of the bases that are listed at the start",
            )
        return fit[0]

    def _user_move(self, request: Message) -> Move:
        """The answer to the agent's question; else the end of the conversation, if its tool is offered."""
        texts = [_text(message) for message in request["messages"]]
        here = [sheet for sheet in self.sheets if sheet.brief.strip() in texts and sheet.first in texts]
        words = texts[-1]
        if here and words == QUESTION:
            return here[0].answer
        said = [goal.text for goal in here[0].goals if isinstance(goal, Said)] if here else []
        if words in said[:-1]:
            return GO_ON
        return [("end_conversation", {})] if request.get("tools") else "Thank you."


def _answers(messages: Sequence[Message]) -> Iterator[tuple[Answer, ...]]:
    """What came to each of the assistant's messages, as it came: results of parallel calls may be permuted."""
    said = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    for at, end in pairwise([*said, len(messages)]):
        role = "tool" if messages[at].get("tool_calls") else "user"
        yield tuple(Answer(_text(message)) for message in messages[at + 1 : end] if message["role"] == role)


def _text(message: Message) -> str:
    """A message's text without memory; content may be a list of parts."""
    content = message.get("content") or ""
    parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    return strip_memory("".join(parts))[0].strip()


def _rendered(move: Move, names: Mapping[str, str], place: str) -> dict[str, Any]:
    """A move as the assistant's message."""
    if isinstance(move, str):
        return {"role": "assistant", "content": move}
    calls = []
    for at, (tool, arguments) in enumerate(move):
        function = {"name": names.get(tool, tool), "arguments": json.dumps(arguments, ensure_ascii=False)}
        calls.append({"id": f"{place}_{at}", "type": "function", "function": function})
    return {"role": "assistant", "content": None, "tool_calls": calls}
