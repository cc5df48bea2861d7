"""A page as Markdown."""

from __future__ import annotations

import re

from amd.evaluate.blocks import Banner, Block, Figure, Heading, Names, Page, Paragraph, Table

__all__ = ["to_markdown"]

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def to_markdown(page: Page) -> str:
    r"""The page; pictures stand beside it, and no character of a name is taken for markup.

    >>> print(to_markdown(Page("a_b", (Names("two tasks", ("t_1", "t_2")),))))
    # a\_b
    <BLANKLINE>
    **two tasks**: t\_1, t\_2
    <BLANKLINE>
    """
    return "\n\n".join([f"# {_text(page.title)}", *map(_block, page.blocks)]) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"## {_text(block.text)}"
        case Paragraph():
            return _text(block.text)
        case Banner():
            return f"> **{_text(block.text)}**"
        case Table():
            return _table(block)
        case Figure():
            return f"![{_text(block.alt)}]({block.file})\n\n*{_text(block.caption)}*"
        case Names():
            return f"**{_text(block.summary)}**: {_text(', '.join(block.names)) or 'none'}"


def _table(table: Table) -> str:
    rule = ["---" if at in table.words else "--:" for at in range(len(table.head))]
    rows = [[_text(cell) for cell in row] for row in (table.head, *table.rows)]
    lines = [rows[0], rule, *rows[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + f"\n\n*{_text(table.caption)}*"


def _text(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
