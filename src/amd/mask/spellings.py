"""How one value may be written, and where such a spelling ends in a text."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import quote, quote_plus

__all__ = ["BirthDate", "Number", "Spelling", "Words", "forms", "other_spellings"]

# Numbers of this many digits are also found with other separators: phone and card numbers.
_LEAST_DIGITS = 7

_BLANK = re.compile(r"\s{1,4}")
_NUMBER = re.compile(r"[+(]{0,2}\d[\d .()/-]*\d")
_NUMBERED = re.compile(r"[^\W\d_]+(?:[_-][^\W\d_]+)*[_-](\d{5,})")
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class Words:
    """The value as it stands, in any case unless ``exact``, with any white space where it has a blank."""

    form: str
    exact: bool = False

    @property
    def pieces(self) -> list[str]:
        """The words between white space."""
        return self.form.split()

    @property
    def order(self) -> tuple[int, bool, str]:
        """By length, the longest first."""
        return -len(self.form), self.exact, self.form

    def end(self, text: str, start: int) -> int | None:
        """Where the spelling that starts at ``start`` ends, or ``None`` if there is none.

        >>> Words("Tess Quill").end("by TESS  quill", 3), Words("Tess", exact=True).end("by TESS", 3)
        (14, None)
        """
        at = start
        for number, piece in enumerate(self.pieces):
            if number:
                blank = _BLANK.match(text, at)
                if blank is None:
                    return None
                at = blank.end()
            found = text[at : at + len(piece)]
            if found != piece and (self.exact or found.casefold() != piece.casefold()):
                return None
            at += len(found)
        return at


@dataclass(frozen=True, slots=True)
class Number:
    """A long number's digits, with up to two separators between any two of them."""

    digits: str

    @property
    def order(self) -> tuple[int, bool, str]:
        """After all words."""
        return -1, False, self.digits


@dataclass(frozen=True, slots=True)
class BirthDate:
    """A date as people write it: April 5th, 1990; 5 April 1990; 04/05/1990 or 05/04/1990; 1990/4/5."""

    year: str
    month: int
    day: int

    @property
    def order(self) -> tuple[int, bool, str]:
        """After words that are longer than a year."""
        return -len(self.year), False, f"{self.year}-{self.month:02d}-{self.day:02d}"

    def end(self, text: str, start: int) -> int | None:
        """Where the spelling that starts at ``start`` ends, or ``None`` if there is none.

        >>> BirthDate("1990", 4, 5).end("born on 5th of April, 1990.", 8)
        26
        """
        found = _date_pattern(self.year, self.month, self.day).match(text, start)
        return found.end() if found else None


Spelling: TypeAlias = Words | Number | BirthDate
"""One way to write a value."""


def forms(text: str) -> Iterable[str]:
    """A value as it stands, normalised, percent-encoded and JSON-escaped."""
    forms = dict.fromkeys((text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)))
    for form in tuple(forms):
        encodable = form.encode("utf-8", "replace")
        forms[quote(encodable, safe="")] = forms[quote(encodable)] = forms[quote_plus(encodable)] = None
        forms[json.dumps(form)[1:-1]] = forms[json.dumps(form, ensure_ascii=False)[1:-1]] = None
    return forms


def other_spellings(text: str, words: tuple[str, ...]) -> Iterator[Spelling]:
    """Other ways to write a value that stands under a key of these words."""
    if (date := _ISO_DATE.fullmatch(text)) and not {"dob", "birth", "birthday", "birthdate"}.isdisjoint(words):
        yield BirthDate(date[1], int(date[2]), int(date[3]))
    elif _NUMBER.fullmatch(text) and sum(char.isdigit() for char in text) >= _LEAST_DIGITS:
        yield Number(re.sub(r"\D", "", text))
    elif numbered := _NUMBERED.fullmatch(text):
        yield Words(numbered[1])


@lru_cache(maxsize=4096)
def _date_pattern(year: str, month: int, day: int) -> re.Pattern[str]:
    name = _MONTHS[month - 1] if 1 <= month <= 12 else str(month)
    named, numbered = rf"(?:{name}|{name[:3]}\.?)", rf"0?{day}(?:st|nd|rd|th)?"
    return re.compile(
        "|".join(
            (
                rf"{named}\s{numbered},?\s{year}",
                rf"{numbered}\s(?:of\s)?{named},?\s{year}",
                rf"(?:0?{day}[/.-]0?{month}|0?{month}[/.-]0?{day})[/.-]{year}",
                rf"{year}[/.-]0?{month}[/.-]0?{day}",
            )
        ),
        re.IGNORECASE,
    )
