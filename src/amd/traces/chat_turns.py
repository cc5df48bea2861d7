"""From OpenAI chat messages to turns: each call with its own result, or the reason why that cannot be told.

Text is never a call. Results are paired by ``tool_call_id``; where no result has an id, by order, inside one
assistant message and only if the counts agree. Nothing else is guessed: a run that leaves a question is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from amd.errors import TrajectoryError
from amd.inject import strip_memory
from amd.json_text import JSON, check_depth, dumps
from amd.traces.lines import parse
from amd.traces.pairing import CallRequest, CallResult, DraftStep, pair
from amd.trajectory import ToolSpec, Turn, is_error

__all__ = ["THINK_TOOLS", "Conversation", "read_conversation", "read_tools"]

THINK_TOOLS = frozenset({"think"})
"""Tools that only record a thought and change nothing."""

# A line of ``amd-trajectory/1`` holds arguments eight levels down, and must be read back.
_ARGUMENTS_DEPTH = 64

_THINK_TAG = re.compile(r"</?think>")


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of a run, whether memory of ours was in its prompt, and what is worth a count (``Note``).

    >>> chat = read_conversation([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Good day"}])
    >>> [turn.user for turn in chat.turns], chat.memory_assisted, chat.notes["parts_without_text"]
    (['Hello'], False, 0)
    """

    turns: tuple[Turn, ...]
    memory_assisted: bool
    notes: Mapping[str, int]


@dataclass(slots=True)
class _DraftTurn:
    user: str | None
    steps: list[DraftStep] = field(default_factory=list)


def read_conversation(
    messages: JSON, *, think: Collection[str] = THINK_TOOLS, failed: Callable[[str], bool] = is_error
) -> Conversation:
    """The turns of a list of chat messages.

    System messages are dropped. Memory that ``amd`` injected is stripped from system, user and tool messages. A call
    of a tool in ``think`` is no tool call: its argument becomes text of the step. The tags ``<think>`` are removed
    from the agent's text and what stands between them is kept. ``failed`` judges an observation.

    Raises:
        TrajectoryError: The messages break the chat format, or calls and results cannot be paired.

    >>> chat = [
    ...     {"role": "user", "content": "Where am I?"},
    ...     {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "pwd", "arguments": "{}"}}]},
    ...     {"role": "tool", "tool_call_id": "a", "content": "/home"},
    ... ]
    >>> [(call.name, call.observation) for call in read_conversation(chat).turns[0].calls]
    [('pwd', '/home')]
    """
    reading = _Reading()
    for number, message in enumerate(_list_of_objects(messages, "the messages"), 1):
        reading.add(message, f"message {number}")
    turns = tuple(Turn(turn.user, tuple(pair(draft, think, failed) for draft in turn.steps)) for turn in reading.turns)
    return Conversation(turns, reading.memory_assisted, reading.notes)


def read_tools(tools: JSON) -> tuple[ToolSpec, ...] | None:
    """The offered tools of a ``tools`` list, each bare or under ``function``; ``None`` (unknown) for ``null``.

    Raises:
        TrajectoryError: It is no list of tools with names.

    >>> read_tools([{"type": "function", "function": {"name": "pwd", "description": "Shows the folder."}}])
    (ToolSpec(name='pwd', description='Shows the folder.', parameters={}),)
    """
    if tools is None:
        return None
    return tuple(
        _tool(tool.get("function", tool), f"tool {number}")
        for number, tool in enumerate(_list_of_objects(tools, "the tools"), 1)
    )


def _tool(tool: JSON, where: str) -> ToolSpec:
    if not isinstance(tool, Mapping):
        raise TrajectoryError(f"{where} is no object")
    description, parameters = tool.get("description") or "", tool.get("parameters") or {}
    if not isinstance(description, str) or not isinstance(parameters, Mapping):
        raise TrajectoryError(f"{where} has no text as description or no object as parameters")
    return ToolSpec(_name(tool, where), description, parameters)


class _Reading:
    """The turns so far. Each ``add`` takes one message."""

    def __init__(self) -> None:
        self.turns: list[_DraftTurn] = []
        self.memory_assisted = False
        self.notes: Counter[str] = Counter()

    def add(self, message: Mapping[str, JSON], where: str) -> None:
        """Take the next message; ``TrajectoryError`` if its role is unknown or it stands in the wrong place."""
        role = message.get("role")
        if role in ("system", "developer"):
            self._text(message, where, may_hold_memory=True)
        elif role == "user":
            text = self._text(message, where, may_hold_memory=True)
            self.turns.append(_DraftTurn(None if message.get("content") is None else text))
        elif role == "assistant":
            if not self.turns:
                self.turns.append(_DraftTurn(None))
            text = _without_think_tags(self._text(message, where, may_hold_memory=False))
            self.turns[-1].steps.append(DraftStep(where, text, self._calls(message, where)))
        elif role in ("tool", "function"):
            self._add_result(message, where)
        else:
            raise TrajectoryError(f"{where} has the role {role!r}")

    def _add_result(self, message: Mapping[str, JSON], where: str) -> None:
        """Hand a result to the last assistant message of the turn that has calls."""
        asked = next((draft for draft in reversed(self.turns[-1].steps if self.turns else []) if draft.calls), None)
        if asked is None:
            raise TrajectoryError(f"{where} is a result, and its turn has no call before it")
        content, name = message.get("content"), message.get("name")
        # A harness may log a result as a JSON value instead of its text.
        pieces = _pieces(content) or [dumps(content).decode()]
        text = self._join(pieces, may_hold_memory=True)
        asked.results.append(
            CallResult(text, _id(message, "tool_call_id"), name if isinstance(name, str) else None, where)
        )

    def _text(self, message: Mapping[str, JSON], where: str, *, may_hold_memory: bool) -> str:
        pieces = _pieces(message.get("content"))
        if pieces is None:
            raise TrajectoryError(f"{where} has a content that is neither text nor a list of parts")
        return self._join(pieces, may_hold_memory=may_hold_memory)

    def _join(self, pieces: Sequence[JSON], *, may_hold_memory: bool) -> str:
        """The pieces on lines of their own, without memory of ours; pieces that are no text are counted."""
        texts = [piece for piece in pieces if isinstance(piece, str)]
        self.notes["parts_without_text"] += len(pieces) - len(texts)
        if may_hold_memory:
            stripped = [strip_memory(text) for text in texts]
            self.memory_assisted |= any(found for _, found in stripped)
            texts = [text for text, _ in stripped]
        return "\n".join(filter(None, texts))

    def _calls(self, message: Mapping[str, JSON], where: str) -> list[CallRequest]:
        """The calls of an assistant message; ``function_call`` is the older spelling of a single one."""
        listed = message.get("tool_calls")
        older = message.get("function_call")
        if listed is None and older is not None:
            listed = [{"function": older}]
        return [] if listed is None else [self._call(call, where) for call in _list_of_objects(listed, where)]

    def _call(self, call: Mapping[str, JSON], where: str) -> CallRequest:
        function = call.get("function", call)
        if not isinstance(function, Mapping):
            raise TrajectoryError(f"{where} has a call without a function")
        name, arguments = _name(function, f"a call in {where}"), function.get("arguments")
        if isinstance(arguments, str):
            try:
                arguments, replaced = parse(arguments)
            except ValueError as error:
                raise TrajectoryError(f"{where}: the arguments of call {name!r} are not JSON: {error}") from error
            self.notes["replaced_surrogates"] += replaced
        if not isinstance(arguments, Mapping):
            raise TrajectoryError(
                f"{where}: the arguments of call {name!r} are no JSON object but a {type(arguments).__name__}"
            )
        try:
            check_depth(arguments, _ARGUMENTS_DEPTH)
        except ValueError as error:
            raise TrajectoryError(f"{where}: the arguments of call {name!r} are {error}") from error
        return CallRequest(name, arguments, _id(call, "id"))


def _without_think_tags(text: str) -> str:
    plain, found = _THINK_TAG.subn("", text)
    return plain.strip() if found else text


def _pieces(content: JSON) -> list[JSON] | None:
    """The text of a content, or of each of its parts (``None`` for a part without); ``None`` for any other value."""
    if content is None or isinstance(content, str):
        return [content or ""]
    if isinstance(content, list) and all(_is_part(part) for part in content):
        return [part.get("text") for part in content if isinstance(part, Mapping)]
    return None


def _is_part(value: JSON) -> bool:
    """Whether it is a part of a content: it has a type, and a member of that name or a text."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("type"), str)
        and (value["type"] in value or isinstance(value.get("text"), str))
    )


def _list_of_objects(value: JSON, what: str) -> Sequence[Mapping[str, JSON]]:
    if not isinstance(value, list):
        raise TrajectoryError(f"{what}: a list is needed, not a {type(value).__name__}")
    objects = [item for item in value if isinstance(item, Mapping)]
    if len(objects) < len(value):
        raise TrajectoryError(f"{what}: {len(value) - len(objects)} of {len(value)} entries are no objects")
    return objects


def _name(function: Mapping[str, JSON], where: str) -> str:
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise TrajectoryError(f"{where} has no name")
    return name


def _id(message: Mapping[str, JSON], key: str) -> str | None:
    """The id of a call or of a result; an empty one is none."""
    found = message.get(key)
    return str(found) if isinstance(found, str | int) and found != "" else None
