"""Schemas without an endpoint's help: one in the words of a prompt, and a tool call as an answer of a schema.

Many a server accepts ``tools`` and does not show them to the model, or lets it answer as it likes. A schema with one
branch a tool gives a call that can be read from any server that keeps to schemas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amd.chat import Message
from amd.clients.replies import parse_reply
from amd.errors import ConfigError, ReplyError
from amd.json_text import JSON, dumps
from amd.trajectory import ToolSpec

__all__ = ["call_schema", "read_call", "with_schema"]

_ASKS = "Answer with one JSON value of this JSON schema, and nothing else:"


def call_schema(tools: Sequence[ToolSpec | Mapping[str, Any]]) -> dict[str, JSON]:
    """The schema of one call of one of the tools: ``{"name": ..., "arguments": ...}``.

    Args:
        tools: as ``ToolSpec``, or as OpenAI functions with or without the outer ``{"type": "function", ...}``.

    Raises:
        ConfigError: there is no tool, one has no name, or its arguments refer to a part of their own schema: inside
            another schema such a reference leads nowhere.

    >>> schema = call_schema([{"name": "ls", "parameters": {"type": "object", "properties": {}}}])
    >>> schema["anyOf"][0]["properties"]["name"]
    {'const': 'ls'}
    """
    if not tools:
        raise ConfigError("there is no tool to call", next_step="offer at least one")
    return {"anyOf": [_branch(tool, at) for at, tool in enumerate(tools)]}


def _branch(tool: ToolSpec | Mapping[str, Any], at: int) -> JSON:
    given: Mapping[str, Any] = (
        {"name": tool.name, "parameters": tool.parameters} if isinstance(tool, ToolSpec) else tool
    )
    function = given.get("function", given)
    name, parameters = function.get("name"), function.get("parameters") or {"type": "object"}
    if not isinstance(name, str) or not isinstance(parameters, Mapping):
        raise ConfigError(f"tools[{at}] has no name, or parameters that are no schema", next_step="correct the tool")
    if b'"$ref":' in dumps(parameters):
        raise ConfigError(
            f"the arguments of the tool {name!r} refer to a part of their own schema ($ref)",
            next_step="write that part out where it is used",
            tool=name,
        )
    return {
        "type": "object",
        "properties": {"name": {"const": name}, "arguments": parameters},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def read_call(text: str) -> tuple[str, Mapping[str, JSON]]:
    """The name and the arguments of a call that a model wrote by :func:`call_schema`.

    Nothing is checked against the tools: whether one of that name exists is told by whoever runs it.

    Raises:
        ReplyError: it is no such call.

    >>> read_call('I look first. {"name": "ls", "arguments": {"folder": "reports"}}')
    ('ls', {'folder': 'reports'})
    """
    value = parse_reply(text)
    if isinstance(value, Mapping):
        name, arguments = value.get("name"), value.get("arguments")
        if isinstance(name, str) and isinstance(arguments, Mapping):
            return name, arguments
    raise ReplyError('a call is {"name": TEXT, "arguments": OBJECT}, and this is none', reason="shape")


def with_schema(messages: Sequence[Message], schema: Mapping[str, JSON]) -> list[Message]:
    r"""The messages, the last of which asks for JSON of the schema in words.

    >>> with_schema([{"role": "user", "content": "Is ice cold?"}], {"type": "boolean"})[-1]["content"].split("\n")[-1]
    '{"type":"boolean"}'
    """
    *earlier, last = messages
    words = f"{_ASKS}\n{dumps(schema, sort_keys=False).decode()}"
    content = last.get("content")
    asking = [*content, {"type": "text", "text": words}] if isinstance(content, list) else f"{content or ''}\n\n{words}"
    return [*earlier, {**last, "content": asking.strip() if isinstance(asking, str) else asking}]
