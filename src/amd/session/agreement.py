"""Which of the records found say the same: they collapse into one, which tells how many agree.

The measure is lexical: two texts are near duplicates if their content words overlap by half (Jaccard), and if both
or neither of them negates. It is meant to err towards keeping two records apart: a contradiction must never
vanish behind the advice that it contradicts. Records are never merged in the store, only here, among those that
the viewer may see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from amd.records import Record
from amd.tier import Hit

__all__ = ["NEAR", "Gist", "collapse"]

NEAR = 0.5
"""The least Jaccard overlap of content words at which two texts are near duplicates."""

_WORD = re.compile(r"\w+(?:['\N{RIGHT SINGLE QUOTATION MARK}]\w+)?")
# Only words that carry nothing: articles, copulas and the commonest prepositions and conjunctions.
_STOP_WORDS = frozenset(
    [
        *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "into", "is", "it", "its", "of", "on"),
        *("or", "that", "the", "then", "to", "with"),
    ]
)
_NEGATIONS = frozenset(["not", "never", "no", "cannot", "without", "avoid"])


@dataclass(frozen=True, slots=True)
class Gist:
    """What a text says, as far as words show it.

    >>> Gist.of("Check the folder with pwd.").near(Gist.of("check folder, then pwd!"))
    True
    >>> Gist.of("check with pwd").near(Gist.of("do not check with pwd"))
    False
    """

    words: frozenset[str]
    negated: bool

    @classmethod
    def of(cls, text: str) -> Gist:
        """The gist of a text."""
        words = frozenset(_WORD.findall(text.casefold()))
        negated = any(
            word in _NEGATIONS or word.endswith(("n't", "n\N{RIGHT SINGLE QUOTATION MARK}t")) for word in words
        )
        return cls(words - _STOP_WORDS, negated)

    def near(self, other: Gist) -> bool:
        """Whether the two are near duplicates; a text without content words is near nothing."""
        shared = len(self.words & other.words)
        return self.negated == other.negated and shared >= NEAR * len(self.words | other.words) > 0


def collapse(neighbours: Sequence[Hit], gist: Callable[[Record], str], k: int) -> tuple[tuple[Hit, ...], int]:
    """The best ``k`` of the neighbours (best first) that say different things, and how many fell to them.

    The support of each is how many runs agree with it, its own included: two segments of one run are one voice.
    """
    gists = [Gist.of(gist(hit.record)) for hit in neighbours]
    chosen: list[int] = []
    for at in range(len(neighbours)):
        if len(chosen) == k:
            break
        if not any(gists[at].near(gists[earlier]) for earlier in chosen):
            chosen.append(at)
    agreeing = {at: [n for n in range(len(neighbours)) if n == at or gists[n].near(gists[at])] for at in chosen}
    fallen = {n for group in agreeing.values() for n in group} - set(chosen)
    supports = {
        at: len({neighbours[n].record.source.trajectory_sha256 for n in group}) for at, group in agreeing.items()
    }
    return tuple(replace(neighbours[at], support=supports[at]) for at in chosen), len(fallen)
