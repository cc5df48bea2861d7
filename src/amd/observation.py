r"""What a tool answered, as a value: JSON, or the Python literal that many a harness writes with ``str()``.

Python's own ``ast.literal_eval`` is not used: it warns about ``"C:\d"`` through a filter that all threads share, gives
sets in an order that changes with the hash seed, needs a hundred bytes for each character, and falls over deep nesting.
The reader here takes what ``repr`` and ``pprint`` write, in one pass; all else stays plain text. A backslash that no
escape follows stays as well, and so does that of ``C:\Users``, which Python would refuse.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass

from amd.json_text import JSON, MAX_DEPTH, MOST_DIGITS, check_depth, loads, replace_surrogates

__all__ = ["Observed", "parse"]

_BLANK = re.compile(r"\s*+")
_STRING = re.compile(r"""[uU]?(?:'((?:[^'\\\n]|\\[\s\S])*+)'|"((?:[^"\\\n]|\\[\s\S])*+)")""")
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*+)(\.[0-9]*+)?+|(\.[0-9]++))([eE][+-]?[0-9]++)?+(?![\w.])")
_WORD = re.compile(r"(?:True|False|None|set\(\))(?!\w)")
_WORDS: dict[str, JSON] = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
# What other languages write, and the numbers that are none.
_LENIENT_WORD = re.compile(r"(?:true|false|null|[+-]?(?:nan|inf|NaN|Infinity))(?!\w)")
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_ESCAPE = re.compile(
    r"""\\(?:(?P<char>[\n\\'"abfnrtv])|(?P<octal>[0-7]{1,3})|N\{(?P<name>[^}\\]{1,100})\}
    |x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<long>00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}))""",
    re.VERBOSE,
)
_CHARS: dict[str, str] = dict(zip("\n\\'\"abfnrtv", ("", *"\\'\"\a\b\f\n\r\t\v"), strict=True))


@dataclass(frozen=True, slots=True)
class Observed:
    """A parsed observation; ``literal`` if it was a Python literal."""

    value: JSON
    literal: bool

    def text(self) -> str:
        """The value as the kind of text that it was parsed from."""
        return repr(self.value) if self.literal else json.dumps(self.value, ensure_ascii=False)


def parse(observation: str, *, lenient: bool = False) -> Observed | None:
    """The observation as a value, or ``None`` if it is plain text, or nested too deeply to be walked through.

    Nothing is lost: a name that an object has twice holds the list of its values. Tuples and sets become lists, in the
    order of the text; keys that are no strings, their own spelling. Lone surrogates are replaced.

    With ``lenient``, for masking, more is read: ``NaN`` and the infinities (``1e999``) as what they are, integers of
    thousands of digits as text, line breaks inside strings, and ``null``, ``true`` and ``false`` in a literal.

    >>> parse('{"a": 1}'), parse("['a', ('b', None)]")
    (Observed(value={'a': 1}, literal=False), Observed(value=['a', ['b', None]], literal=True))
    >>> parse("done"), parse("{'result': mpf('2.0')}")
    (None, None)
    >>> parse("{'a': null, 'b': NaN}", lenient=True)
    Observed(value={'a': None, 'b': nan}, literal=True)
    """
    start = observation.lstrip()[:1]
    if start not in ("{", "[", '"', "("):
        return None
    literal = False
    try:
        value = loads(observation, members=_members, lenient=lenient)
    except ValueError:
        if start == '"':
            return None
        try:
            value, literal = _Literal(observation, lenient=lenient).whole(), True
        except ValueError:
            return None
    return Observed(replace_surrogates(value)[0] if "\\" in observation else value, literal)


def _members(pairs: list[tuple[str, JSON]]) -> JSON:
    """An object of its members; a name that occurs twice holds all its values."""
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    values: dict[str, list[JSON]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return {name: found[0] if len(found) == 1 else found for name, found in values.items()}


class _Literal:
    """A text and how far it was read. Each method raises ``ValueError`` where no literal goes on."""

    def __init__(self, text: str, *, lenient: bool) -> None:
        self._text = text
        self._lenient = lenient
        self._at = 0

    def whole(self) -> JSON:
        """The value that the whole text is."""
        value = self._value(0)
        self._skip()
        if self._at < len(self._text):
            raise ValueError("there is more than one value")
        check_depth(value, endless=self._lenient)
        return value

    def _skip(self) -> str:
        """The next character that is no white space; empty at the end."""
        found = _BLANK.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._text[self._at : self._at + 1]

    def _take(self, mark: str) -> bool:
        found = self._skip() == mark
        self._at += found
        return found

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return found

    def _value(self, depth: int) -> JSON:
        if depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH}")
        opened = self._skip()
        if opened in ("'", '"', ""):
            return self._string()
        if opened in _CLOSING:
            self._at += 1
            if opened == "{":
                return self._braces(depth)
            items, commas = self._items([], _CLOSING[opened], depth)
            return items[0] if opened == "(" and len(items) == 1 and not commas else items
        if number := self._match(_NUMBER):
            if any(number.groups()):
                return float(number[0])
            return number[0] if self._lenient and len(number[0]) > MOST_DIGITS else int(number[0])
        return self._word()

    def _word(self) -> JSON:
        if word := self._match(_WORD):
            return [] if word[0] == "set()" else _WORDS[word[0]]
        if self._lenient and (word := self._match(_LENIENT_WORD)):
            return _WORDS[word[0]] if word[0] in _WORDS else float(word[0])
        return self._string()

    def _items(self, items: list[JSON], end: str, depth: int) -> tuple[list[JSON], int]:
        """The items so far and those up to the closing bracket, and how many commas there were."""
        commas = int(bool(items) and self._take(","))
        while not self._take(end):
            if commas < len(items):
                raise ValueError("there is no comma")
            items.append(self._value(depth + 1))
            commas += self._take(",")
        return items, commas

    def _braces(self, depth: int) -> JSON:
        """A dictionary, or a set."""
        pairs: list[tuple[str, JSON]] = []
        while not self._take("}"):
            self._skip()
            start = self._at
            key = self._value(depth + 1)
            spelled = key if isinstance(key, str) else self._text[start : self._at]
            if not self._take(":"):
                if pairs:
                    raise ValueError("a key has no value")
                return self._items([key], "}", depth)[0]
            pairs.append((spelled, self._value(depth + 1)))
            if not self._take(",") and self._skip() != "}":
                raise ValueError("there is no comma")
        return _members(pairs)

    def _string(self) -> str:
        """A string, or several beside each other, as ``pprint`` writes a long one."""
        parts: list[str] = []
        while found := self._match(_STRING):
            inner = found[2] if found[1] is None else found[1]
            parts.append(_ESCAPE.sub(_char, inner) if "\\" in inner else inner)
            self._skip()
        if not parts:
            raise ValueError("no value")
        return "".join(parts)


def _char(match: re.Match[str]) -> str:
    kind, code = match.lastgroup, str(match[match.lastgroup or 0])
    if kind == "char":
        return _CHARS[code]
    if kind != "name":
        return chr(int(code, 8 if kind == "octal" else 16))
    try:
        return unicodedata.lookup(code)
    except KeyError as error:
        raise ValueError("no such character") from error
