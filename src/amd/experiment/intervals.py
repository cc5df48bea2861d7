"""One interval for all figures of this room: a percentile bootstrap over families, which are drawn whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Interval", "family_interval"]

_DRAWS = 2000
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95 % interval.

    ``value`` is ``None`` where there is nothing to divide by, the bounds where fewer than two families stand behind it.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


def family_interval(
    parts: Sequence[float], wholes: Sequence[float], families: Sequence[str], *, seed: int = 0
) -> Interval:
    """The sum of ``parts`` over the sum of ``wholes``, with an interval clustered by family.

    Tasks of one family are no independent draws, so whole families are drawn, with replacement (2,000 times, by a
    generator that is seeded anew for each figure). A mean is a ratio whose wholes are all 1.

    Args:
        parts: one for each task.
        wholes: as many; none below 0.
        families: as many.
        seed: of the draws.

    >>> family_interval([1, 0, 1, 1], [1, 1, 1, 1], ["a", "a", "b", "c"])
    Interval(value=0.75, low=0.5, high=1.0)
    """
    names = {family: at for at, family in enumerate(sorted(set(families)))}
    sums = np.zeros((2, len(names)))
    at = [names[family] for family in families]
    np.add.at(sums[0], at, np.asarray(parts, float))
    np.add.at(sums[1], at, np.asarray(wholes, float))
    total = float(sums[1].sum())
    if not total:
        return Interval(None)
    value = float(sums[0].sum()) / total
    if len(names) < 2:
        return Interval(value)
    drawn = np.random.default_rng(seed).integers(len(names), size=(_DRAWS, len(names)))
    above, below = sums[0][drawn].sum(axis=1), sums[1][drawn].sum(axis=1)
    ratios = above[below > 0] / below[below > 0]
    low, high = np.quantile(ratios, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Interval(value, float(low), float(high))
