"""Finding many values in a text at once.

A run may have thousands of values and a text thousands of words, so the text is not searched for each value: its words
are looked up. Each value is filed under its rarest word, and compared only where that word stands. Numbers, which may
be written with any separators, are looked up by their digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from amd.mask.scripts import UNSPACED, WORD, ends_word, is_word, lazily, starts_word
from amd.mask.spellings import BirthDate, Number, Spelling, Words

__all__ = ["Finder", "folded"]

_TOKEN = lazily(rf"{WORD}++|{UNSPACED}")
# Behind one of these a word begins although a letter or digit stands before it (see amd.mask.scripts).
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}|\\[bfnrt]|\\u[0-9A-Fa-f]{4}")
_DIGITS = re.compile(r"\d(?:[ .()/-]{0,2}\d)*+")
# White space between two words of a value, at most; and a year's place in the longest date, "29th of September, 1990".
_MOST_BLANKS = 4
_MOST_PASSES = 20
_DATE_LENGTH = 24


class Finder:
    """Spellings with their placeholders, in the order in which they come first where they overlap."""

    def __init__(self, spellings: Sequence[tuple[Spelling, str]] = ()) -> None:
        self._spellings = tuple((_folded(spelling), name) for spelling, name in spellings)
        self._placeholders = re.compile("|".join(re.escape(name) for name in sorted({name for _, name in spellings})))
        # token -> (place in the order, how far before the token the spelling may start)
        self._by_token: dict[str, list[tuple[int, range]]] = {}
        self._by_digits: dict[str, int] = {}
        words = [_words_of(spelling) for spelling, _ in self._spellings]
        shared = Counter(token for offsets in words for token in offsets)
        for place, ((spelling, _), offsets) in enumerate(zip(self._spellings, words, strict=True)):
            if isinstance(spelling, Number):
                self._by_digits.setdefault(spelling.digits, place)
            elif offsets:
                token = min(offsets, key=lambda each: shared[each])
                self._by_token.setdefault(token, []).append((place, offsets[token]))
        self._lengths = sorted({len(digits) for digits in self._by_digits})

    def replace(self, text: str) -> str:
        """The text with each spelling as its placeholder.

        A spelling counts as a whole word: not inside a longer one, where it starts or ends with a word character
        itself. It is looked for until none is left, since a placeholder uncovers the start of a word; across a
        placeholder it is not. What has no letter, digit or underscore is not looked for. A text that does not
        settle becomes ``<value>`` as a whole.

        >>> Finder([(Words("tess_quill"), "<user_id>"), (Words("Will", exact=True), "<name>")]).replace(
        ...     "Will you ask TESS_QUILL? tess_quill_2 will."
        ... )
        '<name> you ask <user_id>? tess_quill_2 will.'
        """
        for _ in range(_MOST_PASSES):
            spans = self._spans(text)
            if not spans:
                return text
            text = _cut(text, spans)
        return "<value>"

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        """What is to be replaced: no two overlap, and none a placeholder that stands already."""
        found = self._found(text)
        taken = bytearray(len(text))
        spans: list[tuple[int, int, str]] = []
        for match in self._placeholders.finditer(text) if found else ():
            taken[match.start() : match.end()] = b"\1" * len(match[0])
        for place, start, end in found:
            if taken.find(1, start, end) < 0:
                taken[start:end] = b"\1" * (end - start)
                spans.append((start, end, self._spellings[place][1]))
        return sorted(spans)

    def holds(self, text: str) -> bool:
        """Whether a text has any of the spellings."""
        return bool(self._found(text))

    def _found(self, text: str) -> list[tuple[int, int, int]]:
        """Place in the order, start and end of each spelling in the text, in that order."""
        found: set[tuple[int, int, int]] = set()
        shadow, places = folded(text)
        if self._by_token:
            found.update(self._words_in(shadow))
        if self._by_digits:
            found.update(self._numbers_in(shadow))
        return sorted((place, places[start], places[end - 1] + 1) for place, start, end in found)

    def _words_in(self, text: str) -> Iterator[tuple[int, int, int]]:
        """The spellings that are filed under a word of the text."""
        texts = [text]
        if "%" in text or "\\" in text:
            texts.append(_ESCAPE.sub(lambda escape: " " * len(escape[0]), text))
        for version in texts:
            for token in _TOKEN().finditer(version):
                for place, offsets in self._by_token.get(token[0].casefold(), ()):
                    spelling = self._spellings[place][0]
                    assert not isinstance(spelling, Number)
                    for offset in offsets:
                        start = token.start() - offset
                        end = spelling.end(text, start) if start >= 0 else None
                        if end is not None and _is_whole(text, start, end):
                            yield place, start, end

    def _numbers_in(self, text: str) -> Iterator[tuple[int, int, int]]:
        """The numbers, however their digits are separated."""
        for run in _DIGITS.finditer(text):
            places = [at for at in range(run.start(), run.end()) if text[at].isdecimal()]
            digits = "".join(text[at] for at in places)
            for length in self._lengths:
                for first in range(len(digits) - length + 1):
                    place = self._by_digits.get(digits[first : first + length])
                    start, end = places[first], places[first + length - 1] + 1
                    if place is not None and _is_whole(text, start, end):
                        yield place, start, end


def folded(text: str) -> tuple[str, Sequence[int]]:
    """The text as it is compared, and for each of its characters the place in the text that it comes from.

    Compatibility forms (full-width letters) are their ordinary ones, ``ß`` and its like are what they are in capitals,
    and what nobody sees (zero-width characters, soft hyphens) is left out.

    >>> folded("wei\N{LATIN SMALL LETTER SHARP S}")
    ('weiss', [0, 1, 2, 3, 3])
    """
    if text.isascii():
        return text, range(len(text))
    seen: list[str] = []
    places: list[int] = []
    for at, character in enumerate(text):
        letters = character if character.isascii() else _letters(character)
        seen.append(letters)
        places += [at] * len(letters)
    return "".join(seen), places


@lru_cache(maxsize=4096)
def _letters(character: str) -> str:
    letters = "".join(
        letter if len(letter.casefold()) == 1 else letter.casefold()
        for letter in unicodedata.normalize("NFKC", character)
    )
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Cf")


def _folded(spelling: Spelling) -> Spelling:
    if isinstance(spelling, Words) and not spelling.form.isascii():
        return replace(spelling, form=folded(spelling.form)[0])
    return spelling


def _words_of(spelling: Spelling) -> dict[str, range]:
    """The words that any text with this spelling has, each with how far before it the spelling may start."""
    if isinstance(spelling, BirthDate):
        return {spelling.year: range(_DATE_LENGTH)}
    found: dict[str, range] = {}
    before = 0
    for number, piece in enumerate(spelling.pieces if isinstance(spelling, Words) else ()):
        for token in _TOKEN().finditer(piece):
            least = before + number + token.start()
            found.setdefault(token[0].casefold(), range(least, least + number * (_MOST_BLANKS - 1) + 1))
        before += len(piece)
    return found


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no longer word or decimal number holds what stands between two places."""
    if is_word(text[start]) and not starts_word(text, start):
        return False
    if is_word(text[end - 1]) and not ends_word(text, end):
        return False
    return not _is_part_of_decimal(text, start, end)


def _is_part_of_decimal(text: str, start: int, end: int) -> bool:
    """Whether a whole number is the front or the back of a decimal one: 14821 is not in 14821.5."""
    front = text[end - 1].isdigit() and text[end : end + 1] == "." and text[end + 1 : end + 2].isdigit()
    back = text[start].isdigit() and start > 1 and text[start - 1] == "." and text[start - 2].isdigit()
    return front or back


def _cut(text: str, spans: Sequence[tuple[int, int, str]]) -> str:
    pieces: list[str] = []
    copied = 0
    for start, end, placeholder in spans:
        pieces += text[copied:start], placeholder
        copied = end
    return "".join([*pieces, text[copied:]])
