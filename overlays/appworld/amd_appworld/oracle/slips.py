"""The mistakes that a scripted student makes before it does it right: they change nothing in the world."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

__all__ = ["with_slips"]

_TOKEN = "access_token"  # noqa: S105 - the name of an argument
_NOT_THERE = "list_"
"""AppWorld's own names begin with ``show_`` and ``search_`` where this one would be the obvious word."""


def with_slips(cells: Sequence[str], *, unknown: bool) -> tuple[str, ...]:
    """The cells with one that fails before them, or two.

    The first is a call without its access token: a 401, or a 422 where more is missing. The second, if ``unknown``,
    calls an API by a name that is not there. A solution that needs no token makes no mistake.

    >>> with_slips(["x = apis.music.show_songs(access_token=t, page_index=0)"], unknown=True)[:-1]
    ('print(apis.music.show_songs(page_index=0))', 'print(apis.music.list_songs())')
    """
    for at, cell in enumerate(cells):
        for call, app, api in _calls(cell):
            names = [keyword.arg for keyword in call.keywords]
            if _TOKEN not in names or not api.startswith(("show_", "search_")):
                continue
            kept = [
                f"{keyword.arg}={ast.unparse(keyword.value)}"
                for keyword in call.keywords
                if keyword.arg not in (None, _TOKEN) and isinstance(keyword.value, ast.Constant)
            ]
            slips = [f"print(apis.{app}.{api}({', '.join(kept)}))"]
            if unknown:
                slips.append(f"print(apis.{app}.{_NOT_THERE}{api.partition('_')[2]}())")
            return (*cells[:at], *slips, *cells[at:])
    return tuple(cells)


def _calls(cell: str) -> Iterator[tuple[ast.Call, str, str]]:
    """The calls ``apis.app.api(...)`` in a cell, in order of their place."""
    found = []
    for node in ast.walk(ast.parse(cell)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="apis"), attr=app), attr=api)):
                found.append((node, app, api))
    yield from sorted(found, key=lambda each: (each[0].lineno, each[0].col_offset))
