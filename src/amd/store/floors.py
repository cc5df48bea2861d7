"""The floor of a shelf: the least cosine that counts, measured between keys that are about different tasks.

It keeps out what is about nothing in the memory. It does not judge whether a record is useful.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from amd.chat import Rows
from amd.store.figures import Floor

__all__ = ["measure"]

_QUANTILE = 0.95
_MOST = 200_000
_FEWEST = 100
_SEED = 20
_CHUNK = 8192
_HIGHEST = 1 - 1e-6
"""Where many keys are equal, an equal question must still reach the floor, whatever float32 makes of its length."""


def measure(rows: Rows, families: Sequence[str], constant: float) -> Floor:
    """The 95 % quantile of the cosine between rows of different families, rounded to six digits.

    All pairs are taken where there are at most 200,000, else so many drawn with a fixed seed; the order of the rows
    counts, so they are sorted first. With fewer than 100 pairs it is the embedder's ``constant``.

    >>> measure(np.eye(3, dtype=np.float32), ["a", "b", "c"], 0.35)
    Floor(value=0.35, source='constant', pairs=3)
    """
    codes = np.unique(np.array(families, dtype=object), return_inverse=True)[1] if families else np.zeros(0, int)
    first, second = _pairs(len(rows))
    different = codes[first] != codes[second]
    first, second = first[different], second[different]
    if len(first) < _FEWEST:
        return Floor(value=constant, source="constant", pairs=len(first))
    cosines = np.empty(len(first), np.float32)
    for start in range(0, len(first), _CHUNK):
        part = slice(start, start + _CHUNK)
        cosines[part] = np.einsum("ij,ij->i", rows[first[part]], rows[second[part]])
    value = min(float(np.quantile(cosines, _QUANTILE)), _HIGHEST)
    return Floor(value=max(round(value, 6), -1), source="quantile", pairs=len(first))


def _pairs(count: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    if count * (count - 1) // 2 <= _MOST:
        return np.triu_indices(count, 1)
    # The raw stream of a bit generator is the same in every release of numpy; Generator.integers is not.
    drawn = (np.random.PCG64(_SEED).random_raw(2 * _MOST) % np.uint64(count)).astype(np.intp)
    return drawn[:_MOST], drawn[_MOST:]
