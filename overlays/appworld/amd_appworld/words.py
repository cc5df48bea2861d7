"""Which reply of the agent each cell comes from, and what the reply says beside its code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from amd.traces import strip_memory
from amd_appworld.interactions import Interaction

__all__ = ["align", "telling_values", "words_beside"]

_FENCE: Final = "```"
_PLACE: Final = "\0"
_TELLING: Final = re.compile(r"pass|pwd?\b|token|phone|mail|card|cvv|secret|profile|contact|address", re.IGNORECASE)
_LOOKED_AT: Final = 20_000
_ENDS: Final = "\"'`,:;.()[]"


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


def telling_values(code: str, output: str) -> frozenset[str]:
    r"""What a cell that deals with secrets or contacts printed and what could be one of them.

    Masking knows a secret by the key that it stands under in a call's arguments or answer. What such a cell prints
    bare belongs to no call's answer, so that nothing would know it again in the agent's words.

    >>> sorted(telling_values("print(user['password'], user['phone'])", "q7!Vault\n5550102938"))
    ['5550102938', 'q7!Vault']
    """
    if not _TELLING.search(code):
        return frozenset()
    words = (word.strip(_ENDS) for word in output[:_LOOKED_AT].split())
    return frozenset(word for word in words if _may_be_secret(word))


def _may_be_secret(word: str) -> bool:
    """No plain word and no small number."""
    if not 4 <= len(word) <= 200 or word.isdigit():
        return word.isdigit() and 7 <= len(word) <= 200
    return not (word.isalpha() and (word.islower() or word.istitle()))
