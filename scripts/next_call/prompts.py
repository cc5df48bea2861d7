"""What a student is asked: one request for each item and arm, for a call by schema."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import amd
from amd.chat import Message
from amd.clients import call_schema
from amd.json_text import JSON, digest
from amd.trajectory import ToolSpec
from amd.transcript import excerpt
from next_call.arms import Shown
from next_call.items import Item, generator

__all__ = ["MOST_TOKENS", "Request", "offer", "request"]

TOOLS = 12
"""How many tools an item offers; more where the turn and the records name more."""

MOST_TOKENS = 128
"""Of an answer: the longest right call of the benchmark's turns takes about as many."""

_SYSTEM = """You solve the user's task with tools. The tools are:
{tools}

Answer with the next call alone, as JSON: {{"name": TOOL, "arguments": {{NAME: VALUE}}}}"""
_DESCRIPTION = 120  # characters
_SENTENCE_END = re.compile(r"(?<=\w\w[.!?])\s")


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, and the digest that its answer is kept by."""

    item: Item
    arm: str
    messages: tuple[Message, ...]
    schema: Mapping[str, JSON]

    def sha256(self, model: str) -> str:
        """The digest of all that an answer follows from."""
        asked: dict[str, JSON] = {
            "model": model,
            "messages": [dict(message) for message in self.messages],
            "schema": self.schema,
            "max_tokens": MOST_TOKENS,
        }
        return digest(asked)


def offer(item: Item, named: Collection[str], seed: int) -> tuple[ToolSpec, ...]:
    """The tools that an item offers in every arm: those of its turn, those that any arm's records name, and others.

    The others are drawn from the task's own tools until there are twelve. All stand in the order of the task.
    """
    names = [tool.name for tool in item.tools]
    needed = {*named, *(call.name for call in item.calls)}
    others = [name for name in names if name not in needed]
    drawn = generator(seed, item.name, "tools").permutation(others)[: max(TOOLS - len(needed), 0)]
    chosen = needed.union(map(str, drawn))
    return tuple(tool for tool in item.tools if tool.name in chosen)


def request(item: Item, arm: str, shown: Shown, tools: Sequence[ToolSpec]) -> Request:
    """The request of one arm: the tools in the system message, the memory before it and before the turn."""
    system: Message = {"role": "system", "content": _SYSTEM.format(tools="\n".join(map(signature, tools)))}
    user: Message = {"role": "user", "content": item.text}
    messages = (*amd.prepend_memory([system], shown.task), *amd.prepend_turn([user], shown.turn))
    return Request(item, arm, messages, call_schema(tools))


def signature(tool: ToolSpec) -> str:
    """A tool on one line: its arguments with their types, those that may be left out with a question mark.

    >>> folder = {"type": "string"}
    >>> schema = {"properties": {"folder": folder, "deep": {"type": "boolean"}}, "required": ["folder"]}
    >>> signature(ToolSpec("ls", "List a folder. Hidden files are left out.", schema))
    '- ls(folder: string, deep?: boolean): List a folder.'
    """
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    known = properties if isinstance(properties, Mapping) else {}
    needed = required if isinstance(required, list) else []
    arguments = ", ".join(
        f"{name}{'' if name in needed else '?'}: {value.get('type', 'any') if isinstance(value, Mapping) else 'any'}"
        for name, value in known.items()
    )
    return f"- {tool.name}({arguments}): {excerpt(_SENTENCE_END.split(tool.description.strip())[0], _DESCRIPTION)}"
