"""Schemas without an endpoint's help, and calls by schema."""

from __future__ import annotations

from typing import Any

import pytest

from amd.clients import call_schema, read_call
from amd.clients.structured import with_schema
from amd.errors import ConfigError, ReplyError
from amd.trajectory import ToolSpec

PARAMETERS = {"type": "object", "properties": {"folder": {"type": "string"}}, "required": ["folder"]}


def branch(name: str, arguments: Any) -> dict[str, Any]:
    """One call of one tool."""
    return {
        "type": "object",
        "properties": {"name": {"const": name}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def test_one_branch_a_tool() -> None:
    """Whatever the shape that the tools come in; one without parameters takes any arguments."""
    tools = [
        {"type": "function", "function": {"name": "ls", "description": "List.", "parameters": PARAMETERS}},
        {"name": "cd", "parameters": PARAMETERS},
        ToolSpec("mv", "Move.", PARAMETERS),
        {"name": "pwd"},
        ToolSpec("wc"),
    ]
    expected = [branch(name, PARAMETERS) for name in ("ls", "cd", "mv")]
    expected += [branch(name, {"type": "object"}) for name in ("pwd", "wc")]
    assert call_schema(tools) == {"anyOf": expected}


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([], "there is no tool"),
        ([{"name": "ls"}, {"parameters": {}}], r"tools\[1\] has no name"),
        ([{"name": "ls", "parameters": "none"}], r"tools\[0\] has no name, or parameters that are no schema"),
        ([{"name": "ls", "parameters": {"properties": {"a": {"$ref": "#/$defs/A"}}}}], r"'ls' refer .*\$ref"),
    ],
)
def test_what_makes_no_schema(tools: list[dict[str, Any]], words: str) -> None:
    """Said before a server refuses it."""
    with pytest.raises(ConfigError, match=words):
        call_schema(tools)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "ls", "arguments": {"folder": "a"}}',
        '{\n"name"  :  "ls",\n"arguments": {"folder": "a"}\n}\n',
        '<think>Look.</think>\n<tool_call>{"name": "ls", "arguments": {"folder": "a"}}</tool_call>',
        "```python\n{'name': 'ls', 'arguments': {'folder': 'a'}}\n```",
    ],
)
def test_a_call_is_read(text: str) -> None:
    """As tolerantly as any reply."""
    assert read_call(text) == ("ls", {"folder": "a"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("ls(folder='a')", "prose"),
        ('{"name": "ls", "arguments": {"folder": "a', "cut"),
        ('{"name": "ls"}', "shape"),
        ('{"name": "ls", "arguments": "{}"}', "shape"),
        ('{"name": null, "arguments": {}}', "shape"),
        ('[{"name": "ls", "arguments": {}}]', "shape"),
    ],
)
def test_what_is_no_call(text: str, reason: str) -> None:
    """Refused with a reason, never half a call."""
    with pytest.raises(ReplyError) as caught:
        read_call(text)
    assert caught.value.reason == reason


def test_a_schema_in_words() -> None:
    """The last message asks for it, compactly and with its members in order; the messages that were given stay."""
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}]
    schema = {"type": "object", "properties": {"b": {}, "a": {}}}
    asking = "Answer with one JSON value of this JSON schema, and nothing else:\n"
    words = asking + '{"type":"object","properties":{"b":{},"a":{}}}'
    assert with_schema(messages, schema) == [messages[0], {"role": "user", "content": f"Q\n\n{words}"}]
    assert messages[1] == {"role": "user", "content": "Q"}
    parts = [{"type": "text", "text": "Q"}]
    assert with_schema([{"role": "user", "content": parts}], schema)[0]["content"] == [
        *parts,
        {"type": "text", "text": words},
    ]
    assert with_schema([{"role": "user", "content": None}], schema)[0]["content"] == words
