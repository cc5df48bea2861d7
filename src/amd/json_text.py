"""JSON as text: one strict way in and one canonical way out.

Ordinary libraries disagree at the edges that a memory of other people's runs meets: integers beyond 64 bits,
``NaN``, lone surrogates, line separators inside strings, nesting without end. Here integers keep their digits; ``NaN``,
the infinities and what is nested too deeply to be walked through are refused, always by a ``ValueError``; and lone
surrogates are replaced and counted. Hashes are taken over :func:`dumps`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn, TypeAlias

__all__ = ["JSON", "MAX_DEPTH", "MOST_DIGITS", "check_depth", "digest", "dumps", "loads", "replace_surrogates"]

JSON: TypeAlias = "bool | int | float | str | list[JSON] | Mapping[str, JSON] | None"

MAX_DEPTH = 100
"""Objects and arrays inside each other: runs stay far below, and Python's own recursion limit far above."""

MOST_DIGITS = 4300
"""Python makes no integer of more digits from a text."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= MOST_DIGITS else digits


def loads(
    text: str | bytes, *, members: Callable[[list[tuple[str, JSON]]], JSON] | None = None, lenient: bool = False
) -> JSON:
    """Parse one JSON value; ``members`` makes each object of its members, to see the same name twice.

    ``lenient`` reads what many a writer takes for JSON: ``NaN``, the infinities and ``1e999`` as floats, integers of
    more digits than Python takes as text, and line breaks inside strings. Such a value may not go through
    :func:`dumps`.

    Raises:
        ValueError: It is not JSON, holds ``NaN`` or a number beyond all bounds, or is nested deeper than ``MAX_DEPTH``.

    >>> loads('{"n": 123456789012345678901234567890}')
    {'n': 123456789012345678901234567890}
    """
    try:
        value: JSON = json.loads(
            text,
            strict=not lenient,
            parse_constant=float if lenient else _refuse,
            parse_int=_integer if lenient else None,
            object_pairs_hook=members,
        )
    except RecursionError as error:
        raise _too_deep(MAX_DEPTH) from error
    check_depth(value, endless=lenient)
    return value


def check_depth(value: JSON, most: int = MAX_DEPTH, *, endless: bool = False) -> None:
    """Refuse endless numbers (``1e999``), unless ``endless``, and nesting beyond ``most``: level by level.

    Raises:
        ValueError: Either is found.
    """
    level = [value]
    for _ in range(most + 1):
        below: list[JSON] = []
        for item in level:
            if not endless and isinstance(item, float) and not math.isfinite(item):
                raise ValueError("a number is beyond the range of JSON")
            if isinstance(item, Mapping):
                below += item.values()
            elif isinstance(item, list):
                below += item
        if not below:
            return
        level = below
    raise _too_deep(most)


def _too_deep(most: int) -> ValueError:
    return ValueError(f"nested deeper than {most}")


def dumps(value: object, *, sort_keys: bool = True) -> bytes:
    """The canonical bytes of a value: sorted keys, no spaces, UTF-8, no ``NaN``; slotted dataclasses as objects.

    Without ``sort_keys`` members keep their order, which people and students read arguments in.

    Raises:
        ValueError: JSON cannot hold it: ``NaN``, an object of Python's, nesting without end; or UTF-8 cannot: a lone
            surrogate, which must have been replaced (:func:`replace_surrogates`).

    >>> dumps({"b": 1, "a": "é"}).decode()
    '{"a":"é","b":1}'
    """
    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, sort_keys=sort_keys, separators=(",", ":"), default=_members
        )
        return text.encode()
    except UnicodeEncodeError as error:
        code = ord(error.object[error.start])
        raise ValueError(f"lone surrogate U+{code:04X}: it is half a character, and no file can hold it") from error
    except RecursionError as error:
        raise ValueError("nested too deeply to be written") from error
    except TypeError as error:
        raise ValueError(f"not JSON: {error}") from error


def _members(value: Any) -> dict[str, object]:  # noqa: ANN401 - whatever json does not know
    """A slotted dataclass as an object; ``dataclasses.asdict`` copies every value and takes ten times as long."""
    if isinstance(value, Mapping):
        return dict(value)
    if not is_dataclass(value):
        raise TypeError(f"{type(value).__name__} is not JSON")
    return {field.name: getattr(value, field.name) for field in fields(value)}


def digest(value: object) -> str:
    """The sha256, in hexadecimal, of bytes or of a value's canonical bytes."""
    return hashlib.sha256(value if isinstance(value, bytes) else dumps(value)).hexdigest()


def replace_surrogates(value: JSON) -> tuple[JSON, int]:
    r"""The value with each lone surrogate replaced by U+FFFD, and how many there were.

    Raises:
        ValueError: The value is nested too deeply to be walked through; nothing that :func:`loads` gives is.

    >>> replace_surrogates({"text": "bad \ud83d"})
    ({'text': 'bad �'}, 1)
    """
    try:
        return _replaced(value)
    except RecursionError as error:
        raise ValueError("nested too deeply to be written") from error


def _replaced(value: JSON) -> tuple[JSON, int]:
    if isinstance(value, str):
        return _SURROGATE.subn(_REPLACEMENT, value)
    count = 0
    if isinstance(value, list):
        items: list[JSON] = []
        for item in value:
            clean, found = _replaced(item)
            items.append(clean)
            count += found
        return items, count
    if isinstance(value, Mapping):
        members: dict[str, JSON] = {}
        for key, item in value.items():
            clean_key, found = _SURROGATE.subn(_REPLACEMENT, key)
            clean, inside = _replaced(item)
            members[clean_key] = clean
            count += found + inside
        return members, count
    return value, 0
