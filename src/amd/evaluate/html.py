"""A page as one HTML file that fetches nothing: pictures are inside, there is no script, and it fits a phone."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from amd.evaluate.blocks import Banner, Block, Figure, Heading, Names, Page, Paragraph, Table

__all__ = ["to_html"]

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2128; --dim: #57606a; --paper: #fff; --line: #d8dee4; --card: #f6f8fa;
  --alarm: #b42318; --alarm-paper: #fef3f2; --notice: #7a4f01; --notice-paper: #fff8e6; --shade: #1c212833 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --dim: #9da7b3; --paper: #0d1117; --line: #30363d;
  --card: #161b22; --alarm: #ff9b93; --alarm-paper: #3b1210; --notice: #f2cc60; --notice-paper: #2f2604;
  --shade: #e6edf344 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 1rem }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line) }
.banner { margin: .75rem 0; padding: .7rem 1rem; border-left: .3rem solid; border-radius: .35rem; font-weight: 600 }
.alarm { color: var(--alarm); background: var(--alarm-paper); font-size: 1.1rem }
.notice { color: var(--notice); background: var(--notice-paper) }
.table { margin: 1rem 0 .5rem; overflow-x: auto; border: 1px solid var(--line); border-radius: .5rem;
  background: linear-gradient(to left, var(--paper) 40%, transparent) right / 3rem 100% no-repeat local,
    linear-gradient(to left, var(--shade), transparent) right / 1.2rem 100% no-repeat scroll }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: .9rem; overflow-wrap: normal;
  font-variant-numeric: tabular-nums }
th, td { padding: .45rem .7rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line) }
thead th { border-top: 0; background: var(--card); vertical-align: bottom; line-height: 1.3 }
th { font-weight: 600 }
tr > :first-child { position: sticky; left: 0; min-width: 7rem; background: var(--paper) }
thead tr > :first-child { background: var(--card) }
.mark { white-space: nowrap }
.figure { text-align: right }
td.figure, td.short { white-space: nowrap }
.caption, figcaption { margin: 0 0 1.5rem; color: var(--dim); font-size: .85rem; line-height: 1.45 }
figure { margin: 1rem 0 1.5rem }
figure img { display: block; width: 100%; height: auto; max-width: 42rem; padding: .5rem; background: #fff;
  border: 1px solid var(--line); border-radius: .5rem }
figcaption { margin: .5rem 0 0 }
details { margin: .4rem 0; padding: .4rem .75rem; background: var(--card); border-radius: .35rem }
summary { cursor: pointer }
details p { margin: .5rem 0; color: var(--dim); font-size: .85rem }
""".strip()


_MARK: Final = re.compile(r"\[?\b(?:IN-SAMPLE|LEAKED)\b\]?")
_SHORT: Final = 16  # letters of a cell that stay on one line


def to_html(page: Page, pictures: Mapping[str, bytes]) -> str:
    """The page with the PNG pictures that it names.

    >>> "<h1>1 &lt; 2</h1>" in to_html(Page("1 < 2", ()), {})
    True
    """
    title = escape(page.title)
    body = "\n".join(_block(block, pictures) for block in page.blocks)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n<main>\n<h1>{_text(page.title)}</h1>\n"
        f"{body}\n</main>\n</body>\n</html>\n"
    )


def _block(block: Block, pictures: Mapping[str, bytes]) -> str:
    match block:
        case Heading():
            return f"<h2>{_text(block.text)}</h2>"
        case Paragraph():
            return f"<p>{_text(block.text)}</p>"
        case Banner():
            role = ' role="alert"' if block.kind == "alarm" else ""
            return f'<div class="banner {block.kind}"{role}>{_text(block.text)}</div>'
        case Table():
            return _table(block)
        case Figure():
            source = f"data:image/png;base64,{b64encode(pictures[block.file]).decode()}"
            return (
                f'<figure><img src="{source}" alt="{escape(block.alt)}">'
                f"<figcaption>{_text(block.caption)}</figcaption></figure>"
            )
        case Names():
            names = _text(", ".join(block.names) or "none")
            return f"<details><summary>{_text(block.summary)}</summary><p>{names}</p></details>"


def _table(table: Table) -> str:
    kinds = ["" if at in table.words else ' class="figure"' for at in range(len(table.head))]
    head = "".join(f'<th scope="col"{kind}>{_text(cell)}</th>' for cell, kind in zip(table.head, kinds, strict=True))
    rows = "\n".join(f"<tr>{_row(row, kinds)}</tr>" for row in table.rows)
    return (
        f'<div class="table" tabindex="0"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>'
        f'</div>\n<p class="caption">{_text(table.caption)}</p>'
    )


def _row(row: tuple[str, ...], kinds: Sequence[str]) -> str:
    cells = "".join(
        f"<td{kind or _words(cell)}>{_text(cell)}</td>" for cell, kind in zip(row[1:], kinds[1:], strict=True)
    )
    return f'<th scope="row">{_text(row[0])}</th>{cells}'


def _words(cell: str) -> str:
    return ' class="short"' if len(cell) <= _SHORT else ""


def _text(text: str) -> str:
    """Escaped, and no line ends within the mark of an arm or before a per cent sign.

    >>> _text("a < b [IN-SAMPLE]")
    'a &lt; b <span class="mark">[IN-SAMPLE]</span>'
    """
    return _MARK.sub(r'<span class="mark">\g<0></span>', escape(text).replace(" %", "&nbsp;%"))
