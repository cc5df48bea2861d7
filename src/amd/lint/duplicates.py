"""Records that say nearly the same, and how many families agree on it.

The measure is the session's own (:class:`amd.session.agreement.Gist`): what is grouped here is what a student is shown
as one, with a count. That count is what the student's viewer may see, so it is given for each family of the group.

Nothing is compared with everything: a record meets only those with which it has some rare words in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from amd.lint.findings import Group
from amd.lint.records import Placed
from amd.records import Record
from amd.session.agreement import NEAR, Gist
from amd.tier import Tier

__all__ = ["Likeness"]

_SHARED = 4  # rare words in common: with more, more is indexed and fewer pairs are compared


@dataclass(slots=True)
class Likeness:
    """One shelf's records by what they say, taken in one after another.

    Records that name a tool are left out: each is a masked call of one tool, found only by that tool's name, and
    masking makes them alike.
    """

    tier: Tier
    _by_gist: dict[Gist, list[Placed]] = field(default_factory=dict)

    def add(self, placed: Placed) -> None:
        """Take in a record that its tier can read."""
        if placed.record.tool is None:
            self._by_gist.setdefault(Gist.of(self.tier.gist(placed.record)), []).append(placed)

    def groups(self) -> Iterator[tuple[Placed, Group]]:
        """Each group of two or more records with the first of it, to which all others are near."""
        gists = list(self._by_gist)
        for near in _stars(gists):
            members = [placed for at in near for placed in self._by_gist[gists[at]]]
            if len(members) > 1:
                yield members[0], _group([placed.record for placed in members])


def _group(records: Sequence[Record]) -> Group:
    runs = {record.source.trajectory_sha256: record.task.family for record in records}
    of_family = Counter(runs.values())
    visible = {family: len(runs) - own for family, own in sorted(of_family.items())}
    return Group(tuple(record.id for record in records), len(runs), visible)


def _stars(gists: Sequence[Gist]) -> Iterator[list[int]]:
    """A gist with all those near it that no earlier one took; each gist is in exactly one list."""
    index = _Index(gists)
    taken = bytearray(len(gists))
    for at, gist in enumerate(gists):
        if taken[at]:
            continue
        taken[at] = 1
        near = [other for other in index.candidates(at) if not taken[other] and gist.near(gists[other])]
        for other in near:
            taken[other] = 1
        yield [at, *near]


class _Index:
    """Which texts have which of their rare words in common.

    Two sets of words, of sizes n and m, that overlap by half have at least half of n, and half of m, words in common.
    Order all words by how rare they are: of these common words the ``k`` rarest stand among the first n/2 + k of
    the one set and among the first m/2 + k of the other. The other words, which most texts have, need no index.
    """

    def __init__(self, gists: Sequence[Gist]) -> None:
        counts = Counter(word for gist in gists for word in gist.words)
        rank = {word: at for at, word in enumerate(sorted(counts, key=lambda word: (counts[word], word)))}
        self._shared = np.array([min(_SHARED, ceil(NEAR * len(gist.words))) for gist in gists], np.intp)
        self._rare: list[list[int]] = []
        for gist, shared in zip(gists, self._shared, strict=True):
            words = sorted(rank[word] for word in gist.words)
            self._rare.append(words[: len(words) - ceil(NEAR * len(words)) + int(shared)])
        having: list[list[int]] = [[] for _ in rank]
        for at, words in enumerate(self._rare):
            for word in words:
                having[word].append(at)
        self._having = [np.array(each, np.intp) for each in having]

    def candidates(self, at: int) -> list[int]:
        """The texts that may be near one, in order, itself left out."""
        lists = [self._having[word] for word in self._rare[at]]
        if not lists:
            return []
        common = np.bincount(np.concatenate(lists), minlength=len(self._rare))
        enough = common >= np.minimum(self._shared[at], self._shared)
        return [int(other) for other in np.flatnonzero(enough & (common > 0)) if other != at]
