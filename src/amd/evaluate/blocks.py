"""What a page is made of, whatever it is written in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Banner", "Block", "Figure", "Heading", "Names", "Page", "Paragraph", "Table"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A section's title."""

    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain words."""

    text: str


@dataclass(frozen=True, slots=True)
class Banner:
    """What must not be overlooked: an ``alarm`` spoils the figures, a ``notice`` says how to take them."""

    kind: Literal["alarm", "notice"]
    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head, all of one width; the first column names the row. Those not in ``words`` hold figures."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str
    words: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture beside the page: its file, what it shows to one who cannot see it, and its caption."""

    file: str
    alt: str
    caption: str


@dataclass(frozen=True, slots=True)
class Names:
    """A list of names that a reader may open."""

    summary: str
    names: tuple[str, ...]


Block = Heading | Paragraph | Banner | Table | Figure | Names


@dataclass(frozen=True, slots=True)
class Page:
    """A title and what stands below it."""

    title: str
    blocks: tuple[Block, ...]
