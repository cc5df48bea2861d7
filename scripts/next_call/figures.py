"""What answers are worth: right tool, argument keys, whole call, and paired differences between arms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from amd.json_text import JSON

__all__ = ["MEASURES", "Call", "Interval", "Score", "judge", "paired"]

MEASURES = ("tool", "keys", "whole")
DRAWS = 10_000

Call = tuple[str, Mapping[str, JSON] | None]
"""A tool's name and its arguments; ``None`` where they never came to an end."""


@dataclass(frozen=True, slots=True)
class Score:
    """One answer against the right call.

    ``tool``: 1 if the tool is right. ``keys``: the F1 of the arguments' names if the tool is right, else 0.
    ``whole``: 1 if the arguments are equal too.
    """

    tool: float = 0.0
    keys: float = 0.0
    whole: float = 0.0


def judge(call: Call | None, name: str, right: Mapping[str, JSON]) -> Score:
    """The score of a call against the right tool's name and the right arguments; none at all is wrong.

    >>> right = {"source": "a", "destination": "b"}
    >>> judge(("mv", {"source": "a"}), "mv", right)
    Score(tool=1.0, keys=0.6666666666666666, whole=0.0)
    >>> judge(("mv", right), "mv", right), judge(("mv", None), "mv", right)
    (Score(tool=1.0, keys=1.0, whole=1.0), Score(tool=1.0, keys=0.0, whole=0.0))
    >>> judge(("cp", right), "mv", right) == judge(None, "mv", right) == Score()
    True
    """
    if call is None or call[0] != name:
        return Score()
    arguments = call[1]
    if arguments is None:
        return Score(tool=1.0)
    shared, both = len(arguments.keys() & right.keys()), len(arguments) + len(right)
    return Score(1.0, 2 * shared / both if both else 1.0, float(arguments == right))


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


def paired(ours: Sequence[float], theirs: Sequence[float], families: Sequence[str], seed: int) -> Interval:
    """The mean of ours minus theirs over the same items; families are drawn again with all their items.

    A percentile bootstrap of 10,000 seeded draws.

    >>> paired([1, 1, 1, 1], [0, 0, 0, 0], ["a", "a", "b", "c"], seed=1)
    Interval(mean=1.0, low=1.0, high=1.0)
    """
    difference = np.subtract(ours, theirs, dtype=np.float64)
    names, place = np.unique(families, return_inverse=True)
    sums, counts = np.bincount(place, weights=difference), np.bincount(place)
    drawn = np.random.default_rng(seed).integers(0, len(names), (DRAWS, len(names)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(difference.mean()), float(low), float(high))
