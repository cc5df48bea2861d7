"""What must not recur: the values that stood under person, contact and secret keys, and how they may be written.

Not every such value may be replaced wherever it occurs: a status, an airport code or the number 12 would tear holes
into ordinary text. Those are masked where they stand only (:func:`_is_plain`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote, quote_plus

from amd.mask.keys import TABLE_WORDS, KeyClass, is_placeholder, key_words
from amd.mask.scripts import AFTER, BEFORE, WORD

__all__ = ["Collector", "Recurrence"]

# Longer values under a person or contact key are sentences, not names or addresses.
_LONGEST = 120
_LONGEST_SECRET = 8_000
_LEAST_LENGTH = 3
# Numbers below 10,000 are everybody's.
_LEAST_PLACES = 5
# Numbers of this many digits are also found with other separators: phone and card numbers, dates.
_LEAST_DIGITS = 7

_ORDINARY = TABLE_WORDS | frozenset(
    """true false none null yes no not on off ok unknown undefined default empty missing optional required other any
    all self me test example sample demo admin administrator root guest system assistant agent bot server service
    support open opened closed close active inactive enabled disabled pending confirmed cancelled canceled completed
    complete failed success successful available unavailable ready done new old draft sent received read unread deleted
    locked unlocked valid invalid verified unverified paid unpaid expired approved rejected public private shared
    primary secondary main backup home work office personal business corporate premium basic standard gold silver
    regular credit debit visa mastercard amex paypal cash cheque check wallet transfer gift certificate voucher
    coupon balance bank bearer jwt oauth string text int integer number float boolean object array type value id ids
    list first last middle full is and or of the a an with for by to from in at method account hidden redacted masked
    friend family boss colleague mom dad brother sister wife husband""".split()
)
_COMPANY = frozenset("corp corporation inc ltd llc gmbh plc company industries solutions technologies group".split())
# Parts of a name that name nobody, and two-letter words that may start a sentence.
_NO_NAME = frozenset(
    """mr mrs ms miss mx dr prof sir jr sr ii iii iv de del della van von der den di da dos la le bin ibn al el
    an am as at be by do go he if in is it me my no of on or so to up us we""".split()
)

_CODE = re.compile(r"[A-Z]{2,3}")
_DIGITS = re.compile(r"\+?\d[\d .()/-]*\d")
_NUMBERED = re.compile(r"[^\W\d_]+(?:[_-][^\W\d_]+)*[_-](\d{5,})")
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_TOKEN = re.compile(r"[^\W_]+")
_WORD = re.compile(WORD)
_MONTHS = "January February March April May June July August September October November December".split()


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The values of one run as one pattern, longest first; group *n* has the placeholder ``placeholders[n - 1]``."""

    pattern: re.Pattern[str] | None = None
    placeholders: tuple[str, ...] = ()

    def replace(self, text: str) -> str:
        """The text with each recurring value as its placeholder."""
        return self.pattern.sub(self._placeholder, text) if self.pattern else text

    def found_in(self, text: str) -> bool:
        """Whether a value recurs in the text."""
        return self.pattern is not None and self.pattern.search(text) is not None

    def _placeholder(self, match: re.Match[str]) -> str:
        assert match.lastindex is not None
        return self.placeholders[match.lastindex - 1]


@dataclass(frozen=True, slots=True)
class _Entry:
    """The pattern of one spelling, and whether it starts with a word character."""

    pattern: str
    word: bool


@dataclass(slots=True)
class Collector:
    """Gathers values. ``vocabulary`` are the tools' own words (names, enums), which may always recur."""

    vocabulary: frozenset[str]
    _found: dict[_Entry, tuple[int, str]] = field(default_factory=dict)

    def add(self, value: str | int, key: str, kind: KeyClass, placeholder: str) -> None:
        """Take what stands under ``key``, a key of class ``kind``, if it may be replaced wherever it recurs."""
        text = str(value).strip()
        if len(text) > (_LONGEST_SECRET if kind == "secret" else _LONGEST) or is_placeholder(text):
            return
        words = key_words(key)
        if kind == "person" and ("name" in words or " " in text):
            for part in _name_parts(text):
                if part.casefold() not in self.vocabulary:
                    self._keep(re.escape(part), len(part), placeholder, exact=True)
        if not self._is_plain(text, words):
            exact = text.isalpha() and text.istitle()
            for spelling in _spellings(text, words):
                self._keep(spelling, len(text), placeholder, exact=exact)

    def add_full_name(self, first: str, last: str, placeholder: str) -> None:
        """Take a first and a last name that stand side by side, in both orders and any case."""
        for name in (f"{first} {last}", f"{last}, {first}", f"{last} {first}"):
            if first.strip() and last.strip() and not is_placeholder(first) and not is_placeholder(last):
                self._keep(_literal(name), len(name), placeholder, exact=False)

    def recurrence(self) -> Recurrence:
        """All values so far as one pattern."""
        if not self._found:
            return Recurrence()
        # Two groups, so that the search for the start of a word is made once at each place and not for each value.
        ordered = sorted(self._found.items(), key=lambda item: (not item[0].word, -item[1][0], item[0].pattern))
        words = "|".join(f"({entry.pattern})" for entry, _ in ordered if entry.word)
        others = "|".join(f"({entry.pattern})" for entry, _ in ordered if not entry.word)
        both = "|".join(part for part in (words and f"{BEFORE}(?:{words})", others) if part)
        return Recurrence(re.compile(both), tuple(placeholder for _, (_, placeholder) in ordered))

    def _keep(self, spelling: str, length: int, placeholder: str, *, exact: bool) -> None:
        bounded = spelling + (AFTER if _WORD.match(spelling[-1]) else "")
        word = spelling[0] == "(" or _WORD.match(spelling[0]) is not None
        self._found.setdefault(_Entry(bounded if exact else f"(?i:{bounded})", word), (length, placeholder))

    def _is_plain(self, text: str, words: tuple[str, ...]) -> bool:
        """Whether a value is masked where it stands and not where it recurs."""
        tokens = [token.casefold() for token in _TOKEN.findall(text)]
        if len(text) < _LEAST_LENGTH or not tokens or _CODE.fullmatch(text):
            return True
        if text.isdecimal() and len(text.lstrip("0")) < _LEAST_PLACES:
            return True
        if text.casefold() in self.vocabulary or all(token in _ORDINARY for token in tokens):
            return True
        if words == ("name",):
            return not _is_person_name(text)
        # A bare "key" is a table's as often as a lock's: only a random looking one is a secret.
        return words == ("key",) and not (any(c.isdigit() for c in text) and any(c.isalpha() for c in text))


def _is_person_name(text: str) -> bool:
    """Whether a text reads like a name: up to five words, each with a capital or a particle, and no company's."""
    parts = text.replace(",", " ").split()
    if not 1 <= len(parts) <= 5 or any(char.isdigit() for char in text):
        return False
    if any(part.casefold().strip(".") in _COMPANY for part in parts):
        return False
    return all(re.fullmatch(r"[^\W\d_][\w.'’-]*", part) for part in parts) and any(
        part[0] == part[0].upper() for part in parts
    )


def _name_parts(text: str) -> Iterator[str]:
    if not _is_person_name(text):
        return
    for part in re.split(r"[\s,]+", text):
        plain = part.casefold().strip(".")
        capitals = part[:1].isupper() and not _CODE.fullmatch(part)
        if len(plain) > 1 and capitals and plain not in _NO_NAME and plain not in _ORDINARY:
            yield part.strip(".")


def _literal(text: str) -> str:
    """A text as a pattern: any white space where it has a blank."""
    return r"\s{1,4}".join(re.escape(part) for part in text.split())


def _spellings(text: str, words: tuple[str, ...]) -> Iterable[str]:
    """The patterns by which a value is found: as it stands, normalised, percent-encoded, JSON-escaped, respaced."""
    forms = {form: None for normal in ("NFC", "NFD") for form in (text, unicodedata.normalize(normal, text))}
    for form in tuple(forms):
        encodable = form.encode("utf-8", "replace")
        forms[quote(encodable, safe="")] = forms[quote(encodable)] = forms[quote_plus(encodable)] = None
        forms[json.dumps(form)[1:-1]] = forms[json.dumps(form, ensure_ascii=False)[1:-1]] = None
    yield from dict.fromkeys(_literal(form) for form in forms)
    digits = re.sub(r"\D", "", text)
    if _DIGITS.fullmatch(text) and len(digits) >= _LEAST_DIGITS:
        yield r"[ .()/-]{0,2}".join(digits)
    if numbered := _NUMBERED.fullmatch(text):
        yield numbered[1]
    if (date := _ISO_DATE.fullmatch(text)) and not {"dob", "birth", "birthday", "birthdate"}.isdisjoint(words):
        yield from _dates(date[1], int(date[2]), int(date[3]))


def _dates(year: str, month: int, day: int) -> Iterator[str]:
    """A birth date as people write it."""
    if not 1 <= month <= 12:
        return
    name = _MONTHS[month - 1]
    named, numbered = rf"(?:{name}|{name[:3]}\.?)", rf"0?{day}(?:st|nd|rd|th)?"
    yield rf"{named}\s{numbered},?\s{year}"
    yield rf"{numbered}\s(?:of\s)?{named},?\s{year}"
    yield rf"(?:0?{day}[/.-]0?{month}|0?{month}[/.-]0?{day})[/.-]{year}"
    yield rf"{year}[/.-]0?{month}[/.-]0?{day}"
