"""What must not recur: the values that stood under person, contact and secret keys.

Not every such value may be replaced wherever it occurs: a status, an airport code or the number 12 would tear holes
into ordinary text. Those are masked where they stand only (:func:`_is_plain`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from amd.mask.finding import Finder
from amd.mask.keys import TABLE_WORDS, KeyClass, is_placeholder, key_words, word_set
from amd.mask.shapes import mask_emails
from amd.mask.spellings import Spelling, Words, forms, other_spellings

__all__ = ["Collector", "Recurrence"]

# Longer values under a person or contact key are sentences, not names or addresses.
_LONGEST = 120
_LONGEST_SECRET = 8_000
_LEAST_LENGTH = 3
# Numbers below 10,000 are everybody's.
_LEAST_PLACES = 5

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
# A name beside one of these is a person's, however it is written; under a bare ``name`` it must read like one.
_OF_PERSONS = word_set(
    """first last middle given family full sur nick display user contact person customer sender receiver recipient payee
    payer owner author creator passenger traveler traveller guest patient employee member holder cardholder"""
)
_COMPANY = word_set("corp corporation inc ltd llc gmbh plc company industries solutions technologies group")
# Parts of a name that name nobody, and two-letter words that may start a sentence.
_NO_NAME = word_set(
    """mr mrs ms miss mx dr prof sir jr sr ii iii iv de del della van von der den di da dos la le bin ibn al el
    an am as at be by do go he if in is it me my no of on or so to up us we"""
)

_AT = re.compile(r"@|%40")
_CODE = re.compile(r"[A-Z]{2,3}")
_NUMERIC = re.compile(r"[\d .,:/()+-]+")
_TOKEN = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The spellings of one run's values; those with an ``@`` in their first word apart, as ``addresses``."""

    addresses: Finder = field(default_factory=Finder)
    others: Finder = field(default_factory=Finder)

    def replace(self, text: str) -> str:
        """The text with each recurring value as its placeholder.

        E-mails of any kind go before other values do: a user called ``jane`` must not leave ``@acme.com`` behind.
        """
        return self.others.replace(mask_emails(self.addresses.replace(text)))


@dataclass(slots=True)
class Collector:
    """Gathers values. ``vocabulary`` are the tools' own words (names, enums), which may always recur."""

    vocabulary: frozenset[str]
    _found: dict[Spelling, str] = field(default_factory=dict)

    def add(self, value: str | int, key: str, kind: KeyClass, placeholder: str) -> None:
        """Take what stands under ``key``, a key of class ``kind``, if it may be replaced wherever it recurs."""
        text = str(value).strip()
        if len(text) > (_LONGEST_SECRET if kind == "secret" else _LONGEST) or is_placeholder(text):
            return
        words = key_words(key)
        if kind == "person" and ("name" in words or " " in text):
            for part in _name_parts(text):
                if part.casefold() not in self.vocabulary:
                    self._found.setdefault(Words(part, exact=True), placeholder)
        if not self._is_plain(text, words):
            exact = text.isalpha() and text.istitle()
            for form in forms(text):
                self._found.setdefault(Words(form, exact=exact), placeholder)
            for spelling in other_spellings(text, words):
                self._found.setdefault(spelling, placeholder)

    def add_full_name(self, first: str, last: str, placeholder: str) -> None:
        """Take a first and a last name that stand side by side, in both orders and any case."""
        if all(part.strip() and not is_placeholder(part) for part in (first, last)):
            for name in (f"{first} {last}", f"{last}, {first}", f"{last} {first}"):
                self._found.setdefault(Words(name), placeholder)

    def recurrence(self, without: Collector | None = None) -> Recurrence:
        """All values so far, longest first; ``without`` those that another collector has."""
        known = without._found if without else {}  # noqa: SLF001 - of its own kind
        new = ((spelling, name) for spelling, name in self._found.items() if spelling not in known)
        found = sorted(new, key=lambda item: item[0].order)
        # A value may be the name of its own key, and a placeholder must not hold what it hides.
        whole = Finder(found)
        safe = {name for name in set(self._found.values()) if not whole.holds(name)}
        named = [(spelling, name if name in safe else "<value>") for spelling, name in found]
        addresses = [item for item in named if isinstance(item[0], Words) and _AT.search(item[0].pieces[0])]
        others = [item for item in named if not (isinstance(item[0], Words) and _AT.search(item[0].pieces[0]))]
        return Recurrence(Finder(addresses), Finder(others))

    def _is_plain(self, text: str, words: tuple[str, ...]) -> bool:
        """Whether a value is masked where it stands and not where it recurs."""
        tokens = [token.casefold() for token in _TOKEN.findall(text)]
        if len(text) < _LEAST_LENGTH or not tokens or _CODE.fullmatch(text):
            return True
        if _NUMERIC.fullmatch(text) and sum(char.isdigit() for char in text.lstrip("0")) < _LEAST_PLACES:
            return True
        if text.casefold() in self.vocabulary or all(token in _ORDINARY for token in tokens):
            return True
        if "name" in words and _OF_PERSONS.isdisjoint(words):
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
