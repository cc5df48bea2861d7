"""Which reply of the agent each cell comes from, and what the reply says beside its code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from amd.traces import strip_memory
from amd_appworld.interactions import Interaction

__all__ = ["align", "words_beside"]

_FENCE: Final = "```"
_PLACE: Final = "\0"


def align(cells: Sequence[Interaction], replies: Sequence[str]) -> list[int] | None:
    """The number of the reply that each cell's code stands in, from 0; ``None`` if some cell's is in none.

    Reply k made cell k. Where replies were asked for again, or one made several cells, it is the next one that holds
    the code. Replies that are left over at the end ran nothing that the log kept.

    >>> cells = [Interaction("a()", ""), Interaction("b()", "")]
    >>> align(cells, ["First a()", "Then b()", "(("]), align(cells, ["a()", "no code", "b()"]), align(cells, ["a()"])
    ([0, 1], [0, 2], None)
    """
    places: list[int] = []
    several = len(cells) > len(replies)
    at = 0
    for cell in cells:
        code = cell.code.strip()
        while at < len(replies) and code not in replies[at]:
            at += 1
        if at == len(replies):
            return None
        places.append(at)
        at += 0 if several else 1
    return places


def words_beside(reply: str, code: str) -> str:
    r"""What a reply says outside its blocks of code, without memory that it repeats.

    >>> words_beside("I look.\n```python\nprint(1)\n```\nThen I wait.", "print(1)")
    'I look.\n\nThen I wait.'
    """
    before, found, after = reply.partition(code.strip()) if code.strip() else (reply, "", "")
    before, after = (part.replace("~~~", _FENCE) for part in (before, after))
    outside = f"{before}{_PLACE if found else ''}{after}".split(_FENCE)[::2]
    if found and _FENCE not in before:
        # Without a fence before it, code runs to the end of the reply.
        outside = [before]
    text, _ = strip_memory("\n\n".join(part.strip() for part in outside if part.strip()))
    return text.replace(_PLACE, "").strip()
