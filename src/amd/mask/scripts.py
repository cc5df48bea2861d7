"""Character classes for text in any script.

Japanese, Chinese, Korean and Thai are written without blanks, so an e-mail or a name in such a sentence has letters
right beside it. A *word character* here is a letter, digit or underscore of a script that does put blanks between
words; between these scripts and the others there is a word boundary.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import TypeAlias

__all__ = ["AFTER", "UNSPACED", "WORD", "Pattern", "ends_word", "is_word", "lazily", "replace_checked", "starts_word"]

Pattern: TypeAlias = "Callable[[], re.Pattern[str]]"
"""Gives a pattern that is compiled when it is first asked for."""

_RANGES = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)

UNSPACED = f"[{_RANGES}]"
"""One character of a script without blanks."""

WORD = rf"[^\W{_RANGES}]"
"""One word character of any other script."""

AFTER = rf"(?!{WORD})"
"""The end of a word."""


def lazily(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> Pattern:
    """A pattern to be compiled when first needed: together these take 50 ms, and most sessions need hardly one.

    >>> lazily("a+")().findall("aaba")
    ['aa', 'a']
    """
    return cache(partial(re.compile, pattern, flags))


_WORD = lazily(WORD)
# Behind a percent code or a JSON escape, kept as text, a word begins although a letter or digit stands before it.
_START = lazily(rf"(?<!{WORD})|(?<=%[0-9A-Fa-f]{{2}})|(?<=\\[bfnrt])|(?<=\\u[0-9A-Fa-f]{{4}})")


def is_word(char: str) -> bool:
    """Whether a character is a word character of a script with blanks."""
    return _WORD().match(char) is not None


def starts_word(text: str, place: int) -> bool:
    """Whether no word character stands before ``place``.

    >>> [starts_word(text, text.index("tess")) for text in ("by tess", "%20tess", "名tess", "untessa")]
    [True, True, True, False]
    """
    return _START().match(text, place) is not None


def ends_word(text: str, place: int) -> bool:
    """Whether no word character stands at ``place``."""
    return _WORD().match(text, place) is None


def replace_checked(
    pattern: re.Pattern[str], end_of: Callable[[re.Match[str]], int | None], placeholder: str, text: str
) -> str:
    """Replace each match up to the end that ``end_of`` gives; where it gives none, look again one place further."""
    pieces: list[str] = []
    copied = at = 0
    while match := pattern.search(text, at):
        end = end_of(match)
        if end is None:
            at = match.start() + 1
            continue
        pieces += text[copied : match.start()], placeholder
        copied = at = end
    return "".join([*pieces, text[copied:]])
