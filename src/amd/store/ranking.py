"""The order of a search's candidates: exact, the same on every machine, ties broken by record id.

A matrix product sums in an order that depends on where a row stands, so equal rows may differ in their last bits.
It only finds the candidates; those are scored again, each by itself in float64, and ordered by that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from amd.chat import Rows

__all__ = ["Ranking", "by_cosine", "by_draw", "by_fusion"]

Scores = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_BLUR = 1e-5
"""More than a float32 product of unit rows can be off (width 1,536: about 2e-6)."""

_GROWTH = 32  # how many times more candidates are ordered when those at hand were all passed over
_RRF = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates (place, cosine) in order, none under the floor; the best cosine; how many were under the floor."""

    candidates: Iterator[tuple[int, float]]
    best: float
    below: int


def by_cosine(
    scores: npt.NDArray[np.float32],
    seen: int,
    rows: Rows,
    asked: Rows,
    ids: Callable[[], Places],
    *,
    first: int,
    floor: float,
) -> Ranking:
    """The order by cosine of the ``seen`` rows (one at least) that have a finite score.

    Only as many are ordered as are taken, the ``first`` ones to begin with. ``ids`` gives each row's rank by record id.
    """
    wide = asked.astype(np.float64)
    places, cosines = _top(scores, first, rows, wide, ids)

    def walk() -> Iterator[tuple[int, float]]:
        near, exact, done, size = places, cosines, 0, first
        while done < len(near):
            for place, cosine in zip(near[done:size].tolist(), exact[done:size].tolist(), strict=True):
                if cosine < floor:
                    return
                yield place, cosine
            done, size = size, size * _GROWTH
            near, exact = _top(scores, size, rows, wide, ids)

    return Ranking(walk(), float(cosines[0]), _count_below(scores, seen, floor, rows, wide))


def _top(
    scores: npt.NDArray[np.float32], size: int, rows: Rows, asked: Scores, ids: Callable[[], Places]
) -> tuple[Places, Scores]:
    """The best ``size`` places and a few more, with exact cosines, in order; all that are finite if there are fewer."""
    if size == 1:
        cut = scores.item(scores.argmax())
    else:
        cut = np.partition(scores, -size).item(-size) if size < len(scores) else -np.inf
    near = (scores >= max(cut - 2 * _BLUR, _LEAST)).nonzero()[0]
    cosines = exact_cosines(rows, near, asked)
    if len(near) > 1:
        order = np.lexsort((ids()[near], -cosines))
        near, cosines = near[order], cosines[order]
    return near, cosines


_LEAST = -2.0
"""Under every cosine, over the -inf of a row that is not seen."""


def exact_cosines(rows: Rows, places: Places, asked: Scores) -> Scores:
    """The cosines of the rows at ``places``, each summed by itself in float64; rounded rows give none beyond 1."""
    found = np.array([asked.dot(rows[place]) for place in places.tolist()], np.float64)
    return np.clip(found, -1.0, 1.0)


def _count_below(scores: npt.NDArray[np.float32], seen: int, floor: float, rows: Rows, asked: Scores) -> int:
    """How many of the ``seen`` finite scores are under the floor, by their exact cosine."""
    if floor <= _LEAST:
        return 0
    surely, maybe = np.count_nonzero(scores < floor - _BLUR), np.count_nonzero(scores < floor + _BLUR)
    if surely < maybe:
        doubtful = np.flatnonzero((scores >= floor - _BLUR) & (scores < floor + _BLUR))
        surely += int(np.count_nonzero(exact_cosines(rows, doubtful, asked) < floor))
    return int(surely) - (len(scores) - seen)


def by_fusion(
    rows: Rows, seen: Places, asked: Rows, lexical: npt.NDArray[np.float32], ids: Places, *, floor: float
) -> Ranking:
    """The order of the rows ``seen`` by reciprocal rank fusion of their cosine with another score of every row."""
    cosines = exact_cosines(rows, seen, asked.astype(np.float64))
    order = fuse(cosines, lexical[seen], ids[seen])
    order = order[cosines[order] >= floor]
    return Ranking(
        zip(seen[order].tolist(), cosines[order].tolist(), strict=True),
        float(cosines.max()),
        int(np.count_nonzero(cosines < floor)),
    )


def by_draw(rows: Rows, seen: Places, asked: Rows, names: npt.NDArray[np.bytes_], seed: str) -> Ranking:
    """The rows ``seen`` in an order that the seed draws: that of the hashes of the seed and each record's id.

    So what is hidden, or comes to be there, does not change the order of the others. A score stays the cosine.
    """
    cosines = exact_cosines(rows, seen, asked.astype(np.float64))
    drawn = [hashlib.sha256(seed.encode() + names[place]).digest() for place in seen.tolist()]
    order = sorted(range(len(seen)), key=drawn.__getitem__)
    places = zip(seen[order].tolist(), cosines[order].tolist(), strict=True)
    return Ranking(places, float(cosines.max()), 0)


def fuse(cosines: Scores, lexical: npt.NDArray[np.float32], ids: Places) -> Places:
    """The order of places by reciprocal rank fusion of two scores; a lexical score of 0 has no rank.

    >>> order = fuse(np.array([0.9, 0.8, 0.1]), np.array([0, 2, 1], np.float32), np.array([0, 1, 2]))
    >>> order.tolist()
    [1, 2, 0]
    """
    fused = 1 / (_RRF + _ranks(cosines, ids))
    fused += np.where(lexical > 0, 1 / (_RRF + _ranks(lexical, ids)), 0)
    return np.lexsort((ids, -fused))


def _ranks(scores: npt.NDArray[np.floating], ids: Places) -> Places:
    """The rank of each place from 1, the highest score first."""
    ranks = np.empty(len(scores), np.intp)
    ranks[np.lexsort((ids, -scores))] = np.arange(1, len(scores) + 1)
    return ranks
