r"""What a tool answered, as masking sees it: everything that can be read as values is, however it is written.

A key tells what its value is, so a text that nobody can parse would keep what stands under its keys. Therefore more is
read here than elsewhere: ``NaN`` and numbers without end, JSON behind a byte order mark or between fences, a value on
each line. What still cannot be read, such as the beginning of a long answer, is searched for its quoted keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from amd.mask.keys import KeyClass, is_data_key, key_class, slug
from amd.observation import Observed, parse

__all__ = ["mask_named", "named_values", "pieces"]

_OPENING = re.compile(r"""[\[{("'`]""")
# A byte order mark, or a fence with the name of its language.
_FENCE = re.compile("(\ufeff|```[\\w-]*)")
_KEY = re.compile(r"""(?P<quote>\\{0,8}["'])(?P<key>[^"'\\\n]{1,64})(?P=quote)\s{0,8}+:\s{0,8}+""")
_VALUE = re.compile(
    r"""(?P<open>\\{0,8}["'])(?P<closed>(?:(?!(?P=open))(?:\\[\s\S]|[^\\]))*+)(?P=open)
    |(?P<cut>\\{0,8}["'][^\n]*+)
    |(?P<list>\[[^\[\]{}]*+(?:\]|\Z))
    |(?P<bare>[^\s,\[\]{}()"'\\]++)""",
    re.VERBOSE,
)
_ITEM = re.compile(r"""\\{0,8}["']([^"'\\]++)(?:\\{0,8}["'])?+|([^\s,\[\]"'\\]++)""")
_KEPT = frozenset(("", "null", "none", "true", "false", "undefined"))


def pieces(text: str) -> Iterator[tuple[str, Observed | None]]:
    r"""The text in pieces, each with what it says, or with ``None`` if it is plain text.

    >>> [(piece, said and said.value) for piece, said in pieces('ok\n{"a": 1}\n{"a": 2}')]
    [('ok\n', None), ('{"a": 1}', {'a': 1}), ('\n', None), ('{"a": 2}', {'a': 2})]
    """
    if not _OPENING.search(text):
        yield text, None
        return
    if (whole := parse(text, lenient=True)) is not None:
        yield text, whole
        return
    plain = ""
    for piece, said in _parts(text):
        if said is None:
            plain += piece
            continue
        if plain:
            yield plain, None
        plain = ""
        yield piece, said
    if plain:
        yield plain, None


def _parts(text: str) -> Iterator[tuple[str, Observed | None]]:
    """What stands between fences, and each line of what is no single value."""
    parts = _FENCE.split(text)
    for part in parts:
        said = _structure(part) if len(parts) > 1 else None
        if said is not None or "\n" not in part:
            yield part, said
            continue
        for line in re.split("(\n)", part):
            yield line, _structure(line)


def _structure(text: str) -> Observed | None:
    """An object or a list; a quoted word in the middle of a text is none."""
    said = parse(text, lenient=True)
    return None if said is None or not isinstance(said.value, dict | list) else said


def named_values(text: str) -> Iterator[tuple[str, KeyClass, str]]:
    """The quoted person, contact and secret keys of a text that cannot be parsed: key, class and value of each.

    >>> list(named_values('{"id": 7, "user": {"name": "Tess Quill", "pin": 4821, "city": "Ulm", "pho'))
    [('name', 'person', 'Tess Quill'), ('pin', 'secret', '4821')]
    """
    for name, kind, found in _named(text):
        if found["list"] is not None:
            yield from ((name["key"], kind, quoted or bare) for quoted, bare in _ITEM.findall(found["list"]))
        elif found["closed"] is not None:
            said = parse(f'"{found["closed"]}"')
            yield name["key"], kind, found["closed"] if said is None else str(said.value)
        else:
            yield name["key"], kind, found[0].lstrip("\\\"'")


def mask_named(text: str) -> str:
    """The text with what stands under those keys as ``<key>``.

    >>> mask_named('{"name": "Tess Quill", "rating": 4, "note": "her')
    '{"name": "<name>", "rating": 4, "note": "her'
    """
    made: list[str] = []
    copied = 0
    for name, _, found in _named(text):
        masked = f"{name['quote']}<{slug(name['key'])}>{name['quote']}"
        made += text[copied : found.start()], masked if found["list"] is None else f"[{masked}]"
        copied = found.end()
    return "".join([*made, text[copied:]])


def _named(text: str) -> Iterator[tuple[re.Match[str], KeyClass, re.Match[str]]]:
    """Each key that tells what its value is, with its class, and the value."""
    at = 0
    while name := _KEY.search(text, at):
        at = name.end()
        kind = None if is_data_key(name["key"]) else key_class(name["key"])
        found = _VALUE.match(text, at) if kind is not None else None
        if kind is None or found is None or found[0].strip("\\\"'[] \n").casefold() in _KEPT:
            continue
        yield name, kind, found
        at = found.end()
