"""The calls in a cell of an agent's code, read off its syntax tree; nothing of it is run."""

from __future__ import annotations

from typing import Final

from amd_appworld.cells import Cell, CodeCall
from amd_appworld.names import Names, parsed
from amd_appworld.walking import Walk

__all__ = ["Cell", "CodeCall", "Names", "calls_in", "read_cell"]

_MOST_CALLS: Final = 1_000
"""A cell's further calls are left out: the environment answers 1,000 requests a cell."""


def calls_in(code: str) -> tuple[CodeCall, ...]:
    r"""The calls of a cell that knows no earlier one, an argument's own calls before it.

    >>> [(call.api, call.arguments) for call in calls_in("song = apis.music\nsong.play(song_id=3, loud=volume)")]
    [('music.play', {'song_id': 3, 'loud': '<loud>'})]
    """
    return read_cell(code).calls


def read_cell(code: str, before: Names | None = None) -> Cell:
    """A cell that follows others, whose names it knows. A text that is no program has no calls.

    >>> first = read_cell("play = apis.music.play")
    >>> [call.api for call in read_cell("print(play(song_id=1))", first.names).calls]
    ['music.play']
    """
    before = before or Names()
    tree = parsed(code)
    if tree is None:
        return Cell(names=before, parsed=False)
    walk = Walk(before)
    try:
        walk.body(tree.body)
    except RecursionError:  # a chain of operators may be longer than Python's stack
        return Cell(names=before, parsed=False)
    calls = tuple(walk.calls[:_MOST_CALLS])
    return Cell(calls, Names(dict(walk.names)), walk.prints, parsed=True, catches=walk.catches)
