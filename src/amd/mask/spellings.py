"""How one value may be written: as a pattern for each way."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

__all__ = ["forms", "literal", "patterns"]

# Numbers of this many digits are also found with other separators: phone and card numbers.
_LEAST_DIGITS = 7

_NUMBER = re.compile(r"[+(]{0,2}\d[\d .()/-]*\d")
_NUMBERED = re.compile(r"[^\W\d_]+(?:[_-][^\W\d_]+)*[_-](\d{5,})")
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def literal(text: str) -> str:
    """A text as a pattern: any white space where it has a blank."""
    return r"\s{1,4}".join(re.escape(part) for part in text.split())


def forms(text: str) -> Iterable[str]:
    """A value as it stands, normalised, percent-encoded and JSON-escaped."""
    forms = dict.fromkeys((text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)))
    for form in tuple(forms):
        encodable = form.encode("utf-8", "replace")
        forms[quote(encodable, safe="")] = forms[quote(encodable)] = forms[quote_plus(encodable)] = None
        forms[json.dumps(form)[1:-1]] = forms[json.dumps(form, ensure_ascii=False)[1:-1]] = None
    return forms


def patterns(text: str, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Patterns for other ways to write a value, each with a form that any such text holds in part."""
    if (date := _ISO_DATE.fullmatch(text)) and not {"dob", "birth", "birthday", "birthdate"}.isdisjoint(words):
        yield _dates(date[1], int(date[2]), int(date[3])), date[1]
    elif _NUMBER.fullmatch(text) and sum(char.isdigit() for char in text) >= _LEAST_DIGITS:
        digits = re.sub(r"\D", "", text)
        yield r"[ .()/-]{0,2}".join(digits), digits[0]
    elif numbered := _NUMBERED.fullmatch(text):
        yield numbered[1], numbered[1]


def _dates(year: str, month: int, day: int) -> str:
    """A birth date as people write it: April 5th, 1990; 5 April 1990; 04/05/1990 or 05/04/1990; 1990/4/5."""
    name = _MONTHS[month - 1] if 1 <= month <= 12 else str(month)
    named, numbered = rf"(?:{name}|{name[:3]}\.?)", rf"0?{day}(?:st|nd|rd|th)?"
    return "|".join(
        (
            rf"{named}\s{numbered},?\s{year}",
            rf"{numbered}\s(?:of\s)?{named},?\s{year}",
            rf"(?:0?{day}[/.-]0?{month}|0?{month}[/.-]0?{day})[/.-]{year}",
            rf"{year}[/.-]0?{month}[/.-]0?{day}",
        )
    )
