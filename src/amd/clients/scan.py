r"""Where in a model's answer its JSON is: past thoughts, fences and words, one value and never a part of one.

One pass over the text. Outside a value, quotes mean nothing and thoughts are skipped; inside one, from a bracket to the
bracket that closes it, only strings and brackets count. What opens as a value and cannot be read ends the search, so
that no part of a broken answer is taken for the answer.
"""

from __future__ import annotations

import re
from typing import Literal

from amd.errors import ReplyError
from amd.json_text import JSON, MAX_DEPTH, check_depth, loads
from amd.observation import parse

__all__ = ["find_value", "unique"]

_NAMES = "think|thinking|thought|reasoning"
_OPENS = rf"<(?:{_NAMES})>|\[THINK\]"
_CLOSES = rf"</(?:{_NAMES})>|\[/THINK\]"
_END_OF_THOUGHT = re.compile(_CLOSES, re.IGNORECASE)
# A bracket counts only before what can begin a member: most brackets in prose and code do not.
_START = re.compile(
    rf"""(?P<thought>{_OPENS})|(?P<end>{_CLOSES})|\{{(?=\s*+["'}}])|\[(?=\s*+[\[\]{{"'\dtfnTFN-])""", re.IGNORECASE
)
# Inside a value: strings as a whole (between single quotes on one line), brackets, commas before a bracket, and what
# no value can hold: a quote that opens no string, the end of a thought.
_TOKEN = re.compile(
    rf""""(?:[^"\\]|\\.)*+"|'(?:[^'\\\n]|\\[^\n])*+'|(?P<open>[\[{{])|(?P<close>[\]}}])
    |(?P<comma>,(?=\s*+[\]}}]))|(?P<stop>["']|{_CLOSES})""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_WORD = re.compile(r"\S")
_AFTER = re.compile(r"[\s`]*+\Z")
_CLOSING = {"[": "]", "{": "}"}
# What one answer may cost, so that none takes longer than its length allows.
_MOST_TRIED = 1000  # things in brackets; an answer with more of them is none
_MOST_FAULTS = 5  # in what turns out to be a thought


def find_value(text: str) -> JSON:
    """The one object or array in the text.

    Thoughts between tags are no part of it; neither is what stands before the end of a thought that was opened in the
    prompt. After a thought that never ends, only JSON at the very end is the answer. Numbers in brackets (``[1]``) are
    references where there is anything else. The same value twice is one.

    Raises:
        ReplyError: nothing, no JSON, JSON that breaks off or cannot be read, or two values that differ.
    """
    scan = _Scan(text)
    at = faults = 0
    while mark := _START.search(text, at):
        try:
            at = scan.step(mark)
        except ReplyError:
            # Nothing of it counts if it was a thought.
            end, faults = _END_OF_THOUGHT.search(text, mark.end()), faults + 1
            if end is None or faults > _MOST_FAULTS:
                raise
            at = end.start()
    return scan.result()


class _Scan:
    """What was found so far."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._forget(0)

    def _forget(self, at: int) -> None:
        """Begin anew: what was found before was a thought."""
        self._begin = at
        self._end = at
        self._thinking = False
        self._tried = 0
        self._answers: list[JSON] = []
        self._references: list[JSON] = []

    def step(self, mark: re.Match[str]) -> int:
        """Take the thought or the value that begins at the mark; where to go on."""
        if mark["end"]:
            self._forget(mark.end())
            return mark.end()
        if mark["thought"]:
            return self._skip(mark)
        self._tried += 1
        if self._tried > _MOST_TRIED:
            raise _error("prose", f"the reply has more than {_MOST_TRIED} things in brackets")
        end, commas = self._extent(mark.start())
        self._take(mark.start(), end, commas)
        return end

    def _skip(self, mark: re.Match[str]) -> int:
        """Where the thought ends, or where it begins if it never ends."""
        closed = None if self._thinking else _END_OF_THOUGHT.search(self._text, mark.end())
        if closed is None:
            self._forget(mark.end())
            self._thinking = True
            return mark.end()
        word = _WORD.search(self._text, self._begin)
        if word is None or word.start() == mark.start():
            self._begin = closed.end()
        return closed.end()

    def _extent(self, start: int) -> tuple[int, list[int]]:
        """Where the value ends, and its commas that stand before a bracket."""
        closing: list[str] = []
        commas: list[int] = []
        at = start
        while token := _TOKEN.search(self._text, at):
            at = token.end()
            if token["open"]:
                closing.append(_CLOSING[token[0]])
                if len(closing) > MAX_DEPTH:
                    raise _error("shape", f"the reply is nested deeper than {MAX_DEPTH}")
            elif token["close"]:
                if token[0] != closing.pop():
                    raise _unreadable()
                if not closing:
                    return at, commas
            elif token["comma"]:
                commas.append(token.start())
            elif token["stop"]:
                if token[0] != '"' and self._text.find("\n", at) >= 0:
                    raise _unreadable()
                break
        raise _error("cut", "the reply breaks off in the middle")

    def _take(self, start: int, end: int, commas: list[int]) -> None:
        text = self._text[start:end]
        try:
            value = _read(_without(text, [comma - start for comma in commas]))
        except ValueError as error:
            if '"' in text or "{" in text:
                raise _unreadable(f": {error}") from error
            return  # [1-3] is no attempt at JSON
        found = self._references if _is_reference(value) else self._answers
        if value not in found:
            found.append(value)
        if len(self._answers) > 1:
            raise _error("shape", "the reply has more than one JSON value; give one")
        self._end = end

    def result(self) -> JSON:
        """The one value that was found."""
        found = self._answers or self._references
        if len(found) == 1 and not (self._thinking and not _AFTER.match(self._text, self._end)):
            return found[0]
        if self._thinking:
            raise _error("cut", "the reply breaks off in the middle of a thought")
        if not _WORD.search(self._text, self._begin):
            raise _error("empty", "the reply is empty")
        raise _error("prose", "the reply has no JSON")


def _read(text: str) -> JSON:
    """A whole value: JSON or a Python literal.

    Raises:
        ValueError: it is neither, or holds a number that JSON does not know.
    """
    try:
        value = loads(text, members=unique, lenient=True)
    except ValueError:
        observed = parse(text, lenient=True)
        if observed is None:
            raise
        value = observed.value
    check_depth(value)
    return value


def unique(pairs: list[tuple[str, JSON]]) -> JSON:
    """An object of its members. One that has a name twice contradicts itself."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _error("shape", "the reply has an object with the same name twice")
    return members


def _without(text: str, places: list[int]) -> str:
    """The text without the characters at those places."""
    parts, begin = [], 0
    for place in places:
        parts.append(text[begin:place])
        begin = place + 1
    return "".join([*parts, text[begin:]])


def _is_reference(value: JSON) -> bool:
    return isinstance(value, list) and all(isinstance(item, int | float) for item in value)


def _unreadable(why: str = "") -> ReplyError:
    return _error("shape", f"the reply has JSON that cannot be read{why}")


def _error(reason: Literal["empty", "prose", "cut", "shape"], message: str) -> ReplyError:
    return ReplyError(message, reason=reason)
