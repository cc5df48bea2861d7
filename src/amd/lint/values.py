"""Concrete values of a run in the words of a record: an id, a date, a file, a name that the user said.

A small student copies a value of somebody else's task into its next call; a placeholder it does not. So words that a
writer found should say ``<folder>``, and not the folder's name.

=========  ====================================================================================================
by shape   secrets and contacts (:mod:`amd.mask.shapes`); dates and times, paths, web addresses, file names; a word
           of a letter and three digits in a row
by run     only if the run's own records have it too: other words with digits, numbers from 100 on, codes in
           capitals; words in quotes, or with a capital letter inside a sentence, that the user wrote so; whole
           numbers from 10 on that masking kept in a call
=========  ====================================================================================================

Names of tools, of arguments and of an answer's members are no values. The rule for capital letters is made for English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from amd.lint.records import RunRecords, prose_of
from amd.mask.shapes import mask_shapes
from amd.records import Record
from amd.transcript import tool_words

__all__ = ["RunValues"]

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)(?:[a-z]{2,6})?"
_FILE = (
    r"txt|pdf|[ct]sv|md|jsonl?|ya?ml|xml|html?|log|docx?|xlsx?|pptx?|py|sh|sql|zip|tar|gz|png|jpe?g|gif|svg|mp[34]|wav"
)
# Names of formats and the like, which have numbers in them too.
_STANDARD = "utf|sha|iso|rfc|http|md|aes|rsa|base|ascii|cp|ieee|ipv"
_SHAPE = re.compile(
    rf"""https?://[^\s)"'`>,]+
    | (?<![\w.<])(?:~|\.{{1,2}}|[A-Za-z]:)?(?:[/\\][\w.-]+){{2,}}
    | (?<![\w/.-])[\w-]+(?:\.[\w-]+)*\.(?i:{_FILE})(?![\w/])
    | (?<![\w-])(?:\d{{4}}-\d\d-\d\d(?:T[\d:]+Z?)?|\d{{1,2}}/\d{{1,2}}/\d{{2,4}})(?![\w-])
    | (?<!\w)(?:{_MONTH}\.?\ \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th)?\ (?:of\ )?{_MONTH})(?!\w)
    | (?<![\w:])\d{{1,2}}:\d\d(?::\d\d)?(?![\w:])
    | (?<![\w<-])(?!(?i:{_STANDARD})[_-]?\d)[^\W\d_][\w-]*\d{{3}}[\w-]*(?![\w>])
    """,
    re.VERBOSE,
)
_SHAPELY = re.compile(r"\d|[/\\]|\.[A-Za-z]")  # each shape has one of these
_QUOTED = re.compile(
    r"""(?<!\w)(?: '([^'\n]{2,80})' | "([^"\n]{2,80})" | `([^`\n]{2,80})`
    | \u201c([^\u201d\n]{2,80})\u201d | \u2018([^\u2019\n]{2,80})\u2019 )(?!\w)""",
    re.VERBOSE,
)
_TOKEN = re.compile(r"(?<!\w)(?:\d+(?:,\d{3})*(?:\.\d+)?(?!\w)|[^\W_]\w*(?:[-.@]\w+)*)")
_PLACEHOLDER = re.compile(r"<\w{1,64}>")
_MEASURED = re.compile(r"\d+(?:st|nd|rd|th|x|[kmg]b|[km]?m|k?g|ms|[hs])", re.IGNORECASE)
_INSIDE_SENTENCE = re.compile(r"(?<=[\w,] )[^\W\d_]\w+")
# What stands behind a number that counts what the run did; ``rules`` writes such numbers itself.
_COUNTED = re.compile(r"\s+(?:times?|exchanges?|tools?|calls?|steps?|runs?|turns?)\b")
_CODE = re.compile(r"[A-Z]{3,6}")
_NO_CODES = frozenset(["API", "APIS", "CSV", "HTML", "HTTP", "HTTPS", "JSON", "NOT", "PDF", "URL", "URLS", "XML"])
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?", re.ASCII)
_LEAST_KEPT, _LEAST_NUMBER = 10, 100
_LEAST_MIXED, _LEAST_NAME = 4, 3  # characters of a word with digits, of one with a capital letter


class RunValues:
    """What the records of one run know of its values."""

    def __init__(self, run: RunRecords) -> None:
        self._run = run

    def in_prose(self, record: Record) -> Iterator[str]:
        """The concrete values in the prose of a record of the run, each once; none that stands inside another."""
        seen: list[str] = []
        for text in prose_of(record).values():
            plain = _PLACEHOLDER.sub(lambda match: " " * len(match[0]), text)
            for value in (*self._shaped(plain), *self._quoted(plain), *self._known(plain)):
                if not any(value in other for other in seen):
                    seen.append(value)
                    yield value

    def _shaped(self, text: str) -> Iterator[str]:
        masked = mask_shapes(text, self._names)
        if masked != text:
            yield _first_difference(text, masked)
        for match in _SHAPE.finditer(text) if _SHAPELY.search(text) else ():
            value = match[0].rstrip(".-")
            if value not in self._run.names:
                yield value

    def _quoted(self, text: str) -> Iterator[str]:
        for match in _QUOTED.finditer(text):
            value = next(group for group in match.groups() if group is not None).strip()
            if value and value not in self._run.names and _is_said(value, self._run.said):
                yield value

    def _known(self, text: str) -> Iterator[str]:
        spans = [match.span() for match in _TOKEN.finditer(text) if self._knows(match)]
        yield from (text[start:end] for start, end in _joined(spans, text))

    def _knows(self, match: re.Match[str]) -> bool:
        """Whether a word is a value of the run."""
        word = match[0]
        if (word.isalpha() and word.islower()) or word in self._run.names:
            return False
        plain = _plain(word)
        if _NUMBER.fullmatch(plain):
            kept = plain.isdecimal() and int(plain) >= _LEAST_KEPT and int(plain) in self._run.numbers
            large = float(plain) >= _LEAST_NUMBER and plain in self._words
            return (kept or large) and not _COUNTED.match(match.string, match.end())
        if any(char.isdecimal() for char in word):
            return len(word) >= _LEAST_MIXED and plain in self._words and not _MEASURED.fullmatch(word)
        if word.lower() in self._of_tools:
            return False
        if _CODE.fullmatch(word):
            return word not in _NO_CODES and word in self._words
        inside = _INSIDE_SENTENCE.match(match.string, match.start()) is not None
        return inside and word[0].isupper() and len(word) >= _LEAST_NAME and word in self._said_inside

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(name.casefold() for name in self._run.names)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_plain(word) for word in _TOKEN.findall(f"{self._run.said}\n{self._run.observed}"))

    @cached_property
    def _said_inside(self) -> frozenset[str]:
        return frozenset(_INSIDE_SENTENCE.findall(self._run.said))

    @cached_property
    def _of_tools(self) -> frozenset[str]:
        return frozenset(word for tool in self._run.tools for word in tool_words(tool).split())


def _first_difference(text: str, masked: str) -> str:
    """The word in which a text differs first from its masked form."""
    at = next((at for at, (one, other) in enumerate(zip(text, masked, strict=False)) if one != other), len(masked))
    start = max(text.rfind(blank, 0, at) for blank in " \n") + 1
    return (text[start:].split(maxsplit=1) or [text])[0]


def _is_said(value: str, said: str) -> bool:
    """Whether the user said it; a plain word counts only if the user put it into quotes too."""
    if value.isalpha() and value.islower():
        return any(f"{mark}{value}{mark}" in said for mark in "'\"`")
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", said) is not None


def _joined(spans: Sequence[tuple[int, int]], text: str) -> Iterator[tuple[int, int]]:
    """The spans, those with a blank between them as one: ``Las`` and ``Vegas`` are one name."""
    at = 0
    while at < len(spans):
        start, end = spans[at]
        at += 1
        while at < len(spans) and spans[at][0] == end + 1 and text[end] == " ":
            end = spans[at][1]
            at += 1
        yield start, end


def _plain(word: str) -> str:
    """A word as it is compared: a number without commas and without zeros at its end.

    >>> _plain("1,249.50"), _plain("299.0"), _plain("K67C4W")
    ('1249.5', '299', 'K67C4W')
    """
    number = word.replace(",", "")
    if not _NUMBER.fullmatch(number):
        return word
    return number.rstrip("0").rstrip(".") if "." in number else number
