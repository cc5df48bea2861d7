"""The order of a search's candidates: exact, the same on every machine, ties broken by record id.

A matrix product sums in an order that depends on where a row stands, so equal rows may differ in their last bits.
It only finds the candidates; those are scored again, each by itself in float64, and ordered by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from amd.chat import Rows

__all__ = ["count_below", "exact_cosines", "fuse", "ranked"]

Scores = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_BLUR = 1e-5
"""More than a float32 product of unit rows can be off (width 1,536: about 2e-6)."""

_GROWTH = 32  # how many times more candidates are ordered when those at hand were all passed over
_RRF = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""


def exact_cosines(rows: Rows, places: Places, asked: Rows) -> Scores:
    """The cosines of the rows at ``places``, each summed by itself in float64."""
    wide = asked.astype(np.float64)
    return np.array([np.dot(rows[place].astype(np.float64), wide) for place in places], np.float64)


def ranked(
    scores: npt.NDArray[np.float32], seen: int, first: int, exact: Callable[[Places], Scores], ids: Callable[[], Places]
) -> Iterator[tuple[int, float]]:
    """The places of the ``seen`` finite scores with their exact cosines, best first.

    Only as many are ordered as are taken: ``first`` to begin with. ``ids`` gives each place's rank by record id.
    """
    done, size = 0, min(first, seen)
    while done < seen:
        cut = scores[scores.argmax()] if size == 1 else np.partition(scores, -size)[-size]
        near = (scores >= cut - 2 * _BLUR).nonzero()[0]
        cosines = exact(near)
        if len(near) > 1:
            order = np.lexsort((ids()[near], -cosines))
            near, cosines = near[order], cosines[order]
        for place in range(done, size):
            yield int(near[place]), float(cosines[place])
        done, size = size, min(size * _GROWTH, seen)


def count_below(scores: npt.NDArray[np.float32], seen: int, floor: float, exact: Callable[[Places], Scores]) -> int:
    """How many of the ``seen`` finite scores are under the floor, by their exact cosine."""
    unseen = len(scores) - seen
    surely, maybe = np.count_nonzero(scores < floor - _BLUR), np.count_nonzero(scores < floor + _BLUR)
    if surely == maybe:
        return int(surely) - unseen
    doubtful = np.flatnonzero((scores >= floor - _BLUR) & (scores < floor + _BLUR))
    return int(surely + np.count_nonzero(exact(doubtful) < floor)) - unseen


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
