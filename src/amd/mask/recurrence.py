"""What must not recur: the values that stood under person, contact and secret keys, and how they may be written.

Not every such value may be replaced wherever it occurs: a status, an airport code or the number 12 would tear holes
into ordinary text. Those are masked where they stand only (:func:`_is_plain`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from urllib.parse import quote, quote_plus

from amd.mask.keys import TABLE_WORDS, KeyClass, is_placeholder, key_words, word_set
from amd.mask.scripts import ends_word, is_word, replace_checked, starts_word

__all__ = ["Collector", "Recurrence", "Spelling"]

# Longer values under a person or contact key are sentences, not names or addresses.
_LONGEST = 120
_LONGEST_SECRET = 8_000
_LEAST_LENGTH = 3
# Numbers below 10,000 are everybody's.
_LEAST_PLACES = 5
# Numbers of this many digits are also found with other separators: phone and card numbers, dates.
_LEAST_DIGITS = 7

_ORDINARY = TABLE_WORDS | word_set(
    """true false none null yes no not on off ok unknown undefined default empty missing optional required other any
    all self me test example sample demo admin administrator root guest system assistant agent bot server service
    support open opened closed close active inactive enabled disabled pending confirmed cancelled canceled completed
    complete failed success successful available unavailable ready done new old draft sent received read unread deleted
    locked unlocked valid invalid verified unverified paid unpaid expired approved rejected public private shared
    primary secondary main backup home work office personal business corporate premium basic standard gold silver
    regular credit debit visa mastercard amex paypal cash cheque check wallet transfer gift certificate voucher
    coupon balance bank bearer jwt oauth string text int integer number float boolean object array type value id ids
    list first last middle full is and or of the a an with for by to from in at method account hidden redacted masked
    api app auth client refresh session friend family boss colleague mom dad brother sister wife husband"""
)
_COMPANY = word_set("corp corporation inc ltd llc gmbh plc company industries solutions technologies group")
# Parts of a name that name nobody, and two-letter words that may start a sentence.
_NO_NAME = word_set(
    """mr mrs ms miss mx dr prof sir jr sr ii iii iv de del della van von der den di da dos la le bin ibn al el
    an am as at be by do go he if in is it me my no of on or so to up us we"""
)

_CODE = re.compile(r"[A-Z]{2,3}")
_NUMBER = re.compile(r"\+?\d[\d .()/-]*\d")
_NUMBERED = re.compile(r"[^\W\d_]+(?:[_-][^\W\d_]+)*[_-](\d{5,})")
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_TOKEN = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to write a value: a pattern, and a ``probe`` that any text which holds it has when case-folded.

    It counts as a whole word: not inside a longer one, where it starts or ends with a word character itself.
    """

    pattern: str
    probe: str
    placeholder: str

    def end(self, match: re.Match[str]) -> int | None:
        """Where a match ends, or ``None`` if it stands inside a longer word."""
        text, start, end = match.string, match.start(), match.end()
        if is_word(text[start]) and not starts_word(text, start):
            return None
        return None if is_word(text[end - 1]) and not ends_word(text, end) else end


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The spellings of one run's values, longest first.

    Most values stand under their own key only, and a plain search for the probe is far cheaper than a pattern: so a
    pattern is compiled when a text holds its probe.
    """

    spellings: tuple[Spelling, ...] = ()

    def replace(self, text: str) -> str:
        """The text with each recurring value as its placeholder."""
        folded = text.casefold()
        for spelling in self.spellings:
            if spelling.probe in folded:
                text = replace_checked(_compiled(spelling.pattern), spelling.end, spelling.placeholder, text)
        return text


@dataclass(slots=True)
class Collector:
    """Gathers values. ``vocabulary`` are the tools' own words (names, enums), which may always recur."""

    vocabulary: frozenset[str]
    _found: dict[str, tuple[int, str, str]] = field(default_factory=dict)

    def add(self, value: str | int, key: str, kind: KeyClass, placeholder: str) -> None:
        """Take what stands under ``key``, a key of class ``kind``, if it may be replaced wherever it recurs."""
        text = str(value).strip()
        if len(text) > (_LONGEST_SECRET if kind == "secret" else _LONGEST) or is_placeholder(text):
            return
        words = key_words(key)
        if kind == "person" and ("name" in words or " " in text):
            for part in _name_parts(text):
                if part.casefold() not in self.vocabulary:
                    self._keep(re.escape(part), part, placeholder, exact=True)
        if not self._is_plain(text, words):
            exact = text.isalpha() and text.istitle()
            for form in _forms(text):
                self._keep(_literal(form), form, placeholder, exact=exact)
            for pattern, form in _patterns(text, words):
                self._keep(pattern, form, placeholder, exact=False)

    def add_full_name(self, first: str, last: str, placeholder: str) -> None:
        """Take a first and a last name that stand side by side, in both orders and any case."""
        if all(part.strip() and not is_placeholder(part) for part in (first, last)):
            for name in (f"{first} {last}", f"{last}, {first}", f"{last} {first}"):
                self._keep(_literal(name), name, placeholder, exact=False)

    def recurrence(self) -> Recurrence:
        """All values so far, longest first."""
        ordered = sorted(self._found.items(), key=lambda item: (-item[1][0], item[0]))
        found = Recurrence(tuple(Spelling(pattern, probe, name) for pattern, (_, probe, name) in ordered))
        # A value may be the name of its own key, and a placeholder must not hold what it hides.
        safe = {each.placeholder: found.replace(each.placeholder) for each in found.spellings}
        return Recurrence(
            tuple(
                each if safe[each.placeholder] == each.placeholder else replace(each, placeholder="<value>")
                for each in found.spellings
            )
        )

    def _keep(self, pattern: str, form: str, placeholder: str, *, exact: bool) -> None:
        probe = form.casefold().split()[0]
        self._found.setdefault(pattern if exact else f"(?i:{pattern})", (len(form), probe, placeholder))

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
    return all(re.fullmatch(r"[^\W\d_][\w.'\u2019-]*", part) for part in parts) and any(
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


def _forms(text: str) -> Iterable[str]:
    """A value as it stands, normalised, percent-encoded and JSON-escaped."""
    forms = dict.fromkeys((text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)))
    for form in tuple(forms):
        encodable = form.encode("utf-8", "replace")
        forms[quote(encodable, safe="")] = forms[quote(encodable)] = forms[quote_plus(encodable)] = None
        forms[json.dumps(form)[1:-1]] = forms[json.dumps(form, ensure_ascii=False)[1:-1]] = None
    return forms


def _patterns(text: str, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
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
