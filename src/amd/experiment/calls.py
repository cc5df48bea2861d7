"""Which calls and which tools a text shows to its reader: read off the text itself, whichever tier wrote it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from json import JSONDecoder

from amd.json_text import JSON

__all__ = ["ShownCall", "calls_in", "tools_in"]

_JSON_CALL = re.compile(r'\{\s*"name"\s*:')
# A call on a line of its own, as a script or a code agent writes it; a list may number it.
_PYTHON_CALL = re.compile(r"^[ \t]*(?:\d+[.)]|[-*>])?[ \t]*(?:\w+\s*=\s*)?([A-Za-z_][\w.]*\(.*\))[ \t]*$", re.MULTILINE)
_DECODER = JSONDecoder()


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call as a text shows it: the tool, and its arguments by name."""

    tool: str
    arguments: Mapping[str, JSON]


def calls_in(text: str) -> tuple[ShownCall, ...]:
    r"""The calls in either call format of a student: JSON wherever it stands, Python on a line of its own.

    >>> for call in calls_in('Then {"name": "mv", "arguments": {"source": "<source>"}}.\n2. cd(folder="a")'):
    ...     print(call.tool, dict(call.arguments))
    mv {'source': '<source>'}
    cd {'folder': 'a'}
    """
    found = [*_json_calls(text), *_python_calls(text)]
    return tuple(call for _, call in sorted(found, key=lambda each: each[0]))


def tools_in(text: str, names: Collection[str]) -> frozenset[str]:
    """Those of the tools that a text names: by a call, in backticks, or as a word that can be nothing else.

    A name that is an ordinary word (``find``, ``sort``) must stand as code.

    >>> sorted(tools_in("Look with `find`, then sort it with post_tweet.", ["find", "sort", "post_tweet"]))
    ['find', 'post_tweet']
    """
    called = {call.tool for call in calls_in(text)}
    return frozenset(name for name in names if name in called or _names(text, name))


def _names(text: str, name: str) -> bool:
    if name not in text:
        return False
    if f"`{name}`" in text or re.search(rf"(?<![\w.]){re.escape(name)}\(", text):
        return True
    ordinary = name.isalpha() and name[1:].islower()
    return not ordinary and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None


def _json_calls(text: str) -> Iterator[tuple[int, ShownCall]]:
    for match in _JSON_CALL.finditer(text):
        try:
            value, _ = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):  # a text that only begins like a call
            continue
        name, arguments = value.get("name"), value.get("arguments")
        if isinstance(name, str) and isinstance(arguments, dict):
            yield match.start(), ShownCall(name, arguments)


def _python_calls(text: str) -> Iterator[tuple[int, ShownCall]]:
    for match in _PYTHON_CALL.finditer(text):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # a pattern such as "\d" in somebody's code
            try:
                call = ast.parse(match[1], mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):  # prose in brackets
                continue
        if isinstance(call, ast.Call):
            arguments = {each.arg: _literal(each.value) for each in call.keywords if each.arg is not None}
            yield match.start(), ShownCall(ast.unparse(call.func), arguments)


def _literal(value: ast.expr) -> JSON:
    """The value, or its source where it is an expression."""
    try:
        literal: JSON = ast.literal_eval(value)
    except ValueError:
        return ast.unparse(value)
    return literal
