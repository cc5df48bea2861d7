"""A call that a record shows, held against the schema that its tool has now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from amd.json_text import JSON, dumps
from amd.mask.keys import is_placeholder
from amd.trajectory import ToolSpec

__all__ = ["Found", "Kind", "contradicted"]

Kind = Literal["removed", "unknown", "required", "enum", "type", "schema"]
"""What is contradicted; ``amd drift --help`` says each in a line."""

Found = tuple[Kind, str, str, str]
"""The kind, the tool, the argument (empty: the whole tool), and what is contradicted in words."""

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (Mapping,),
    "null": (type(None),),
}


def contradicted(spec: ToolSpec, arguments: Mapping[str, JSON]) -> Iterator[Found]:
    """What a tool's schema says otherwise than a call that a record shows; nothing where it names no properties.

    Placeholders of masked values are not judged, nor are types that JSON schema does not know, as BFCL's ``float``.

    >>> tool = ToolSpec("water", "", {"properties": {"bed": {"type": "integer"}}, "required": ["bed", "litres"]})
    >>> [what for *_, what in contradicted(tool, {"bed": "north", "minutes": 5})]
    ['bed of water is integer, not "north"', 'water has no argument minutes', 'water needs litres']
    """
    properties, required = spec.parameters.get("properties"), spec.parameters.get("required")
    if not isinstance(properties, Mapping):
        return
    open_ended = spec.parameters.get("additionalProperties") not in (None, False)
    for name, value in arguments.items():
        about = properties.get(name)
        if name in properties:
            if isinstance(about, Mapping) and not (isinstance(value, str) and is_placeholder(value)):
                yield from _value(spec.name, name, value, about)
        elif not open_ended:
            yield "unknown", spec.name, name, f"{spec.name} has no argument {name}"
    for needed in required if isinstance(required, list) else ():
        if isinstance(needed, str) and needed not in arguments:
            yield "required", spec.name, needed, f"{spec.name} needs {needed}"


def _value(tool: str, name: str, value: JSON, about: Mapping[str, JSON]) -> Iterator[Found]:
    """What the schema says of a value that masking kept."""
    choices, types = about.get("enum"), about.get("type")
    if isinstance(choices, list) and value not in choices:
        yield "enum", tool, name, f"{name} of {tool} is none of its choices: {dumps(value).decode()}"
    allowed = [types] if isinstance(types, str) else types if isinstance(types, list) else []
    known = [_TYPES[each] for each in allowed if isinstance(each, str) and each in _TYPES]
    if known and len(known) == len(allowed) and not any(_is_one(value, each) for each in known):
        yield "type", tool, name, f"{name} of {tool} is {', '.join(map(str, allowed))}, not {dumps(value).decode()}"


def _is_one(value: JSON, types: tuple[type, ...]) -> bool:
    """Whether a value is of one of the types; in Python a truth value is a whole number, in JSON it is none."""
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))
