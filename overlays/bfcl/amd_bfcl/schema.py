"""The benchmark's tool documents as ``ToolSpec``: its dialect of JSON Schema, and its descriptions.

The dialect names types after Python. Each is replaced, at any depth, by JSON Schema's word; everything else in a
schema (descriptions, defaults, enums, ``required``) stays as it is:

=====================================  ===========
BFCL                                   JSON Schema
=====================================  ===========
``dict``                               ``object``
``float``                              ``number``
``list``, ``tuple``                    ``array``
``bool``                               ``boolean``
the seven words of JSON Schema         unchanged
=====================================  ===========

A document's ``response``, the schema of the result, has no place in a ``ToolSpec`` and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from amd.errors import TrajectoryError
from amd.traces import ToolSpec

__all__ = ["to_description", "to_schema", "to_tool"]

_JSON_SCHEMA = ("object", "number", "integer", "array", "boolean", "string", "null")
_TYPES = {"dict": "object", "float": "number", "list": "array", "tuple": "array", "bool": "boolean"} | {
    word: word for word in _JSON_SCHEMA
}
# Every document opens with the same words about the system that its tool is part of.
_PREAMBLE = re.compile(r"\s*This tool belongs to .*?\bTool description:\s*", re.DOTALL)


def to_description(text: str) -> str:
    """A tool's own description, without the words about its system that all its siblings repeat.

    >>> to_description("This tool belongs to the ticketing system. Tool description: Close a ticket. ")
    'Close a ticket.'
    """
    return _PREAMBLE.sub("", text, count=1).strip()


def _to_type(word: object, where: str) -> str:
    if not isinstance(word, str) or word not in _TYPES:
        raise TrajectoryError(
            f"{where}: the type {word!r} is neither JSON Schema's nor known of BFCL",
            next_step="check the version of bfcl-eval",
            type=word,
        )
    return _TYPES[word]


def to_schema(schema: Mapping[str, Any], where: str = "schema") -> dict[str, Any]:
    """A schema in JSON Schema's own words, at any depth; ``TrajectoryError`` for a type that nobody knows.

    Only where a schema stands is ``type`` a keyword: a property of that name is a property.

    >>> to_schema({"type": "dict", "properties": {"type": {"type": "tuple", "items": {"type": "float"}}}})
    {'type': 'object', 'properties': {'type': {'type': 'array', 'items': {'type': 'number'}}}}
    """
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type":
            result[key] = _to_type(value, where)
        elif key == "properties" and isinstance(value, Mapping):
            result[key] = {
                name: to_schema(inner, f"{where}.{name}") if isinstance(inner, Mapping) else inner
                for name, inner in value.items()
            }
        elif key in ("items", "additionalProperties") and isinstance(value, Mapping):
            result[key] = to_schema(value, f"{where}.{key}")
        else:
            result[key] = value
    return result


def to_tool(name: str, description: str, parameters: Mapping[str, Any]) -> ToolSpec:
    """One tool document as a ``ToolSpec``."""
    return ToolSpec(name, to_description(description), to_schema(parameters, name))
