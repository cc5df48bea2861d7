"""A model's reply as a shape: the schema it is asked for by, the text read with patience, the value taken with none.

Reading is tolerant, for small models dress up what they say. Fitting is strict: what is kept of a reply was in it,
whole and of the right type, or the reply is refused with words that can be shown to the model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from amd.clients.scan import find_value, unique
from amd.errors import ReplyError
from amd.json_text import JSON, loads, replace_surrogates

__all__ = ["fit_reply", "parse_reply", "reply_schema"]

R = TypeVar("R")

_SCALARS = {str: ("string", "text"), int: ("integer", "a whole number"), bool: ("boolean", "true or false")}
"""The JSON type of each kind, and what a model is told."""
_LONGEST_SHOWN = 60  # characters of a value in a message


def parse_reply(text: str) -> JSON:
    r"""The JSON value in a model's answer. Lone surrogates are replaced.

    JSON alone is taken as it is. Else the one object or array in the answer counts: past thoughts between tags, past a
    thought that never ends if JSON ends the answer, between fences, in the midst of words; with commas before closing
    brackets, line breaks in strings, in single quotes or as a Python literal.

    Raises:
        ReplyError: ``empty``, ``prose``, ``cut``, or ``shape``: several values, ``NaN`` or an infinity, a name twice in
            one object, nesting beyond 100, or what only looks like JSON. Nothing else, whatever the text; the time it
            takes grows with the length of the text alone.

    >>> parse_reply("<think>Two or three?</think> Here it is: ```json\n{'steps': [1, 2,],}\n```")
    {'steps': [1, 2]}
    """
    if not text.strip():
        raise ReplyError("the reply is empty", reason="empty")
    try:
        value = loads(text, members=unique)
    except ValueError:
        value = find_value(text)
    return replace_surrogates(value)[0]


def reply_schema(kind: type) -> dict[str, JSON]:
    """The JSON schema of a frozen dataclass of ``str``, ``int``, ``bool``, ``tuple[X, ...]`` and such dataclasses.

    Nothing refers to another part, members stand in the order of the fields, all of them are required (those with a
    default too, so that a model does not pass over them), and no other is allowed.

    Raises:
        TypeError: a kind that a reply cannot have.

    >>> @dataclass(frozen=True)
    ... class Labels:
    ...     labels: tuple[str, ...]
    >>> reply_schema(Labels)["properties"]
    {'labels': {'type': 'array', 'items': {'type': 'string'}}}
    """
    if kind in _SCALARS:
        return {"type": _SCALARS[kind][0]}
    if item := _item(kind):
        return {"type": "array", "items": reply_schema(item)}
    members = _members(kind)
    return {
        "type": "object",
        "properties": {member.name: reply_schema(member.kind) for member in members},
        "required": [member.name for member in members],
        "additionalProperties": False,
    }


def fit_reply(value: JSON, kind: type[R]) -> R:
    """The value as an instance of the kind, all of it or nothing.

    Nothing is converted, except that a float without a fraction is a whole number. A bare list is taken for the one
    member of a kind whose only member is a list. A member with a default may be missing. Members that the kind does not
    know are passed over, for nothing of them is kept; but not while one of its own is missing, which they may be under
    another name.

    Raises:
        ReplyError: ``shape``, with the member at fault.
        TypeError: a kind that a reply cannot have.

    >>> @dataclass(frozen=True)
    ... class Range:
    ...     first: int
    ...     last: int
    >>> fit_reply({"first": 1, "last": 3.0}, Range)
    Range(first=1, last=3)
    >>> fit_reply({"first": 1, "last": 2.9}, Range)
    Traceback (most recent call last):
    amd.errors.ReplyError: last must be a whole number, not 2.9
    """
    return cast("R", _fit(value, kind, ""))


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    kind: Any
    required: bool


@lru_cache(maxsize=256)
def _members(kind: type) -> tuple[_Member, ...]:
    if not is_dataclass(kind):
        raise TypeError(f"{kind!r} is no kind of reply")
    hints = get_type_hints(kind)
    return tuple(
        _Member(field.name, hints[field.name], field.default is MISSING and field.default_factory is MISSING)
        for field in fields(kind)
    )


def _item(kind: Any) -> Any:  # noqa: ANN401 - a type, or what stands for one in an annotation
    """The kind of a tuple's items, or ``None`` where the kind is no tuple of any length."""
    arguments = get_args(kind) if get_origin(kind) is tuple else ()
    return arguments[0] if len(arguments) == 2 and arguments[1] is ... else None


def _fit(value: JSON, kind: Any, path: str) -> Any:  # noqa: ANN401 - as many types as a reply has
    if kind in _SCALARS:
        return _scalar(value, kind, path)
    if item := _item(kind):
        if not isinstance(value, list | tuple):
            raise _unfit(value, "a list", path)
        return tuple(_fit(part, item, f"{path}[{at}]") for at, part in enumerate(value))
    members = _members(kind)
    if isinstance(value, list | tuple) and len(members) == 1 and _item(members[0].kind):
        value = {members[0].name: value}
    if not isinstance(value, Mapping):
        raise _unfit(value, f"an object with {', '.join(member.name for member in members)}", path)
    return kind(
        **{
            member.name: _fit(value[member.name], member.kind, _below(path, member.name))
            for member in _present(value, members, path)
        }
    )


def _present(value: Mapping[str, JSON], members: Sequence[_Member], path: str) -> list[_Member]:
    """The members that the object has."""
    known = {member.name for member in members}
    strange = [name for name in value if name not in known]
    for member in members:
        if member.name not in value and (member.required or strange):
            raise _unfit(value, f"an object with {member.name}", path)
    return [member for member in members if member.name in value]


def _scalar(value: JSON, kind: type, path: str) -> JSON:
    if type(value) is kind:
        return value
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    raise _unfit(value, _SCALARS[kind][1], path)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _unfit(value: JSON, expected: str, path: str) -> ReplyError:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."
    return ReplyError(f"{path or 'the reply'} must be {expected}, not {shown}", reason="shape", path=path)
