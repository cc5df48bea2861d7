"""What a hint for a failed call may and may not say."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from math import isfinite

from amd.json_text import JSON
from amd.mask.keys import is_placeholder
from amd.quoting import neutralise
from amd.session.offer import Offer

__all__ = ["FailedValues", "nearest_tools", "placeholder_note", "placeholders_in", "unknown_tool_note"]

_NEAREST = 3
_LEAST_LENGTH = 4
_LEAST_NUMBER = 1000
_DEPTH = 64
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_HEX = "[0-9a-fA-F]"
_ESCAPE = re.compile(
    rf"\\(?:(?P<digits>u{_HEX}{{4}}|x{_HEX}{{2}}|U000{_HEX}{{5}}|U0010{_HEX}{{4}})|(?P<letter>.))", re.DOTALL
)
_CONTROLS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def nearest_tools(name: str, names: Collection[str]) -> tuple[str, ...]:
    """The offered names nearest to one that is not offered, best first, at most three (``difflib``, any case).

    >>> nearest_tools("List_File", ["ls", "list_files", "send"])
    ('list_files',)
    """
    by_lower = {offered.lower(): offered for offered in names}
    return tuple(by_lower[match] for match in get_close_matches(name.lower(), by_lower, n=_NEAREST))


def unknown_tool_note(names: Collection[str]) -> str:
    """What to say about a tool that does not exist; the failed name itself is not repeated."""
    return f"There is no such tool here. The offered tools with the nearest names: {', '.join(names)}."


def placeholders_in(arguments: Mapping[str, JSON]) -> tuple[str, ...]:
    """The placeholders of masked values that stand in a call's arguments as values, at any depth, each once.

    >>> placeholders_in({"files": ["a.txt", "<file_name>"], "text": "a <b> c"})
    ('<file_name>',)
    """
    values = (value.strip() for value in _leaves(arguments) if isinstance(value, str))
    return tuple(dict.fromkeys(value for value in values if is_placeholder(value)))


def placeholder_note(placeholders: Collection[str]) -> str:
    """What to say about a call in which placeholders were copied out of an example."""
    stands = "stands for a value that was" if len(placeholders) == 1 else "stand for values that were"
    return f"{', '.join(placeholders)} {stands} left out of the notes: write the values of your own task instead."


@dataclass(frozen=True, slots=True)
class FailedValues:
    """The argument values of a failed call that a hint must not repeat.

    A model that reads its own failed values again repeats them. Counted are strings of four characters or more and
    numbers of a thousand or more, at any depth, unless the schema of an offered tool has the same value. A placeholder
    that the student copied out of a masked example is no value of its own.
    """

    strings: frozenset[str]
    numbers: frozenset[Decimal]

    @classmethod
    def of(cls, arguments: Mapping[str, JSON], offer: Offer) -> FailedValues:
        """The values of one call's arguments."""
        known = set(offer.names)
        for spec in (offer.specs or {}).values():
            known |= {str(value) for value in _leaves(spec.parameters, keys=True)}
        values = [value for value in _leaves(arguments) if str(value).strip() not in known]
        strings = (value.strip() for value in values if isinstance(value, str) and not is_placeholder(value.strip()))
        numbers = (
            Decimal(str(value)).copy_abs()
            for value in values
            if isinstance(value, int) or (isinstance(value, float) and isfinite(value))
        )
        return cls(
            frozenset(value for value in strings if len(value) >= _LEAST_LENGTH),
            frozenset(value for value in numbers if value >= _LEAST_NUMBER),
        )

    def repeated_in(self, text: str) -> bool:
        """Whether the text holds one of the values, in any case, quoted as JSON or Python would, or as a number.

        >>> values = FailedValues.of({"symbol": "ZZZZ", "shares": 12446}, Offer(None, None))
        >>> [values.repeated_in(text) for text in ("get(symbol='zzzz')", "12,446 shares", "get(symbol='AAPL')")]
        [True, True, False]
        """
        found = {Decimal(number.replace(",", "")) for number in _NUMBER.findall(text)}
        if self.numbers & found:
            return True
        texts = (text.casefold(), _unescaped(text).casefold())
        values = {spelling.casefold() for value in self.strings for spelling in (value, neutralise(value))}
        return any(_stands_in(value, folded) for value in values for folded in texts)


def _leaves(value: JSON, *, keys: bool = False, depth: int = 0) -> Iterator[str | int | float]:
    """Strings and numbers, and the keys of objects if asked for; a model's arguments may be nested without end."""
    if depth > _DEPTH:
        return
    if isinstance(value, Mapping):
        for key, member in value.items():
            if keys:
                yield key
            yield from _leaves(member, keys=keys, depth=depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, keys=keys, depth=depth + 1)
    elif isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield value


def _unescaped(text: str) -> str:
    """The text with the escapes of JSON and Python strings undone."""

    def character(match: re.Match[str]) -> str:
        digits = match["digits"]
        return chr(int(digits[1:], 16)) if digits else _CONTROLS.get(match["letter"], match["letter"])

    # JSON may write one character as two surrogates.
    return _ESCAPE.sub(character, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _stands_in(value: str, text: str) -> bool:
    """Whether the value stands in the text as words of its own: ``test`` does not stand in ``latest``."""
    before = r"(?<!\w)" if value[0].isalnum() else ""
    after = r"(?!\w)" if value[-1].isalnum() else ""
    return re.search(f"{before}{re.escape(value)}{after}", text) is not None
