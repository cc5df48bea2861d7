"""JSON as text: one strict way in and one canonical way out.

Ordinary libraries disagree at the edges that a memory of other people's runs meets: integers beyond 64 bits,
``NaN``, lone surrogates, line separators inside strings. Here integers keep their digits, ``NaN`` and the
infinities are refused, and lone surrogates are replaced and counted. Hashes are taken over :func:`dumps`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn, TypeAlias

__all__ = ["JSON", "digest", "dumps", "loads", "replace_surrogates"]

JSON: TypeAlias = "bool | int | float | str | list[JSON] | Mapping[str, JSON] | None"

_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def loads(text: str | bytes) -> JSON:
    """Parse one JSON value; ``ValueError`` for anything else, ``NaN`` and the infinities included.

    >>> loads('{"n": 123456789012345678901234567890}')
    {'n': 123456789012345678901234567890}
    """
    value: JSON = json.loads(text, parse_constant=_refuse)
    return value


def dumps(value: object, *, sort_keys: bool = True) -> bytes:
    """The canonical bytes of a value: sorted keys, no spaces, UTF-8, no ``NaN``; slotted dataclasses as objects.

    Without ``sort_keys`` members keep their order, which people and students read arguments in.

    Lone surrogates, which UTF-8 cannot hold, must have been replaced (:func:`replace_surrogates`).

    >>> dumps({"b": 1, "a": "é"}).decode()
    '{"a":"é","b":1}'
    """
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=sort_keys, separators=(",", ":"), default=_members
    ).encode()


def _members(value: Any) -> dict[str, object]:  # noqa: ANN401 - whatever json does not know
    """A slotted dataclass as an object; ``dataclasses.asdict`` copies every value and takes ten times as long."""
    if not is_dataclass(value):
        raise TypeError(f"{type(value).__name__} is not JSON")
    return {field.name: getattr(value, field.name) for field in fields(value)}


def digest(value: object) -> str:
    """The sha256, in hexadecimal, of bytes or of a value's canonical bytes."""
    return hashlib.sha256(value if isinstance(value, bytes) else dumps(value)).hexdigest()


def replace_surrogates(value: JSON) -> tuple[JSON, int]:
    r"""The value with each lone surrogate replaced by U+FFFD, and how many there were.

    >>> replace_surrogates({"text": "bad \ud83d"})
    ({'text': 'bad �'}, 1)
    """
    if isinstance(value, str):
        return _SURROGATE.subn(_REPLACEMENT, value)
    count = 0
    if isinstance(value, list):
        items: list[JSON] = []
        for item in value:
            clean, found = replace_surrogates(item)
            items.append(clean)
            count += found
        return items, count
    if isinstance(value, Mapping):
        members: dict[str, JSON] = {}
        for key, item in value.items():
            clean_key, found = _SURROGATE.subn(_REPLACEMENT, key)
            clean, inside = replace_surrogates(item)
            members[clean_key] = clean
            count += found + inside
        return members, count
    return value, 0
