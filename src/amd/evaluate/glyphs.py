"""What a picture can write: the one font that matplotlib brings has no Chinese, Japanese or Korean, and no emoji.

A font of the machine could take its place, but then equal reports would give other bytes elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from matplotlib.font_manager import findfont, get_font
from matplotlib.ft2font import FT2Font

__all__ = ["FONT", "in_pictures"]

FONT: Final = "DejaVu Sans"
"""The font of every picture."""


def in_pictures(names: Sequence[str], kind: str) -> dict[str, str]:
    """How each name is written in pictures: as it is, or by its number where the font lacks a character of it.

    >>> in_pictures(["none", "基线", "λ"], "arm")
    {'none': 'none', '基线': 'arm 2', 'λ': 'λ'}
    """
    found = {}
    for number, name in enumerate(names, 1):
        label = name
        if not all(map(_has, name)):
            label = f"{kind} {number}"
            while label in names:
                label += "'"
        found[name] = label
    return found


def _has(character: str) -> bool:
    return _font().get_char_index(ord(character)) != 0


@lru_cache(maxsize=1)
def _font() -> FT2Font:
    return get_font(findfont(FONT))
