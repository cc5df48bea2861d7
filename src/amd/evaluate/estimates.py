"""The arithmetic of a report, by scipy and statsmodels; the only file that imports them.

Sources: Wilson 1927 for the interval of a rate; Efron and Tibshirani 1993 for the bootstrap, with whole families drawn
(Miller 2024, "Adding Error Bars to Evals", on why); McNemar 1947 in its exact form; Holm 1979; pass^k of Yao et al.
2024, tau-bench.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import comb
from scipy.stats import binom, bootstrap
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

__all__ = [
    "ALPHA",
    "LEAST_FAMILIES",
    "POWER",
    "RESAMPLES",
    "Interval",
    "clustered_mean",
    "clustered_ratio",
    "detectable",
    "detectable_mean",
    "exact_mcnemar",
    "holm",
    "pass_hat",
    "power_of",
    "wilson",
]

ALPHA: Final = 0.05
"""Intervals are those of 1 - ALPHA, and a comparison is told from chance below it."""
POWER: Final = 0.8
"""How often a difference of the detectable size would be told from chance."""
RESAMPLES: Final = 10_000
_SAME: Final = 1e-12  # means that differ by less differ by rounding
LEAST_FAMILIES: Final = 10
"""With fewer clusters the percentile bootstrap promises far more than it keeps, and no interval is given."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and the ends of its 95 % interval; the ends are ``None`` where none can be given."""

    value: float
    low: float | None
    high: float | None


def wilson(successes: float, n: int) -> Interval:
    """A rate with Wilson's 95 % interval; ``successes`` may be a mean over several trials of each of ``n`` tasks.

    >>> rate = wilson(77, 200)
    >>> round(rate.low, 3), round(rate.high, 3)
    (0.32, 0.454)
    """
    low, high = proportion_confint(successes, n, alpha=ALPHA, method="wilson")
    return Interval(successes / n, float(low), float(high))


def clustered_mean(values: Sequence[float], clusters: Sequence[str], *, seed: int, resamples: int) -> Interval:
    """The mean of one value a task, with the interval of :func:`clustered_ratio`; there must be a task.

    >>> clustered_mean([1, 0, 0, 0, 1] * 2, [*"abcdefghij"], seed=0, resamples=999)
    Interval(value=0.4, low=0.1, high=0.7)
    >>> clustered_mean([1, 1, 0, 0], ["a", "a", "b", "b"], seed=0, resamples=999)
    Interval(value=0.5, low=None, high=None)
    """
    found = clustered_ratio(values, [1] * len(values), clusters, seed=seed, resamples=resamples)
    assert found is not None, "a mean of nothing"
    return found


def clustered_ratio(
    parts: Sequence[float], wholes: Sequence[float], clusters: Sequence[str], *, seed: int, resamples: int
) -> Interval | None:
    """The sum of ``parts`` over the sum of ``wholes``, with a 95 % percentile bootstrap interval over whole clusters.

    What is drawn again is the cluster: tasks of one family stand or fall together, and counting each for itself makes
    an interval too narrow. Fewer than ``LEAST_FAMILIES`` clusters give no interval, and neither do ratios that are the
    same in each cluster: drawn again they would only repeat themselves. A cluster without any whole says nothing of
    the ratio: it is not counted, and not drawn. ``None`` if there is no other one.

    Args:
        parts: one for each task; 0 where its whole is 0.
        wholes: as many; none below 0.
        clusters: as many.
        seed: of the draws.
        resamples: how many draws.

    >>> found = clustered_ratio([1, 0, 3] * 4, [2, 1, 5] * 4, [*"abcdefghijkl"], seed=0, resamples=999)
    >>> found.value, 0.3 < found.low < 0.5 < found.high < 0.6
    (0.5, True)
    >>> clustered_ratio([0, 0], [0, 0], ["a", "b"], seed=0, resamples=999) is None
    True
    """
    names = {name: at for at, name in enumerate(sorted(set(clusters)))}
    at = [names[name] for name in clusters]
    sums = np.bincount(at, weights=np.asarray(parts, dtype=float), minlength=len(names))
    counts = np.bincount(at, weights=np.asarray(wholes, dtype=float), minlength=len(names))
    sums, counts = sums[counts > 0], counts[counts > 0]
    if not len(counts):
        return None
    ratio = float(sums.sum() / counts.sum())
    if len(counts) < LEAST_FAMILIES or float(np.ptp(sums / counts)) < _SAME:
        return Interval(ratio, None, None)
    found = bootstrap(
        (sums, counts),
        _ratio,
        paired=True,
        vectorized=True,
        n_resamples=resamples,
        batch=max(1, 2_000_000 // len(counts)),  # bounds the memory: about 50 MB at a time
        confidence_level=1 - ALPHA,
        method="percentile",
        random_state=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(ratio, _end(found.low), _end(found.high))


def _end(end: float) -> float:
    """An end of an interval; a sum of fractions that is 0 but for their rounding does not exclude 0."""
    return 0.0 if abs(end) < _SAME else float(end)


def _ratio(sums: NDArray[np.float64], counts: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    ratio: NDArray[np.float64] = sums.sum(axis=axis) / counts.sum(axis=axis)
    return ratio


def exact_mcnemar(helped: int, harmed: int) -> float:
    """The two-sided exact p of so many tasks that only one arm and only the other one solved.

    >>> round(exact_mcnemar(1, 9), 4)
    0.0215
    """
    return float(mcnemar([[0, helped], [harmed, 0]], exact=True).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values adjusted for being several, in the order given.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    if not p_values:
        return []
    return [float(p) for p in multipletests(p_values, alpha=ALPHA, method="holm")[1]]


def pass_hat(outcomes: Sequence[tuple[int, int]], k: int) -> float:
    """How likely ``k`` trials of a task all succeed: the mean of C(c, k) / C(n, k) over (successes c, trials n >= k).

    >>> round(pass_hat([(2, 3), (3, 3), (0, 3)], 2), 3)
    0.444
    """
    successes, trials = np.asarray(outcomes).T
    return float((comb(successes, k) / comb(trials, k)).mean())


def detectable(n: int, discordance: float) -> float | None:
    """The smallest difference of two rates that exact McNemar at 5 % finds with 80 % power.

    Args:
        n: pairs.
        discordance: the share of pairs in which the two arms differ.

    ``None`` if even with all of them on one side it would not.

    >>> round(100 * detectable(200, 0.2), 1), detectable(10, 0.1)
    (9.1, None)
    """
    if discordance <= 0 or power_of(n, discordance, discordance) < POWER:
        return None
    return float(brentq(lambda difference: power_of(n, discordance, difference) - POWER, 0, discordance, xtol=1e-5))


def detectable_mean(differences: Sequence[float]) -> float | None:
    """The smallest mean difference that a paired t test at 5 % finds with 80 % power, by the spread of these.

    For differences that are no mere -1, 0 or 1: means over several trials a task. ``None`` for fewer than two of them,
    for differences that are all the same, and where it would be more than 1, which no difference of two rates is.

    >>> round(detectable_mean([0.5, -0.5] * 50), 3)
    0.142
    """
    spread = float(np.std(differences, ddof=1)) if len(differences) > 1 else 0.0
    if spread <= 0:
        return None
    found = spread * float(TTestPower().solve_power(nobs=len(differences), alpha=ALPHA, power=POWER))
    return found if found <= 1 else None


def power_of(n: int, discordance: float, difference: float) -> float:
    """The power of the two-sided exact McNemar test at 5 %, over all counts of discordant pairs that ``n`` may show."""
    counts = np.arange(n + 1)
    most = _most_of_the_fewer(n)
    share = (discordance + difference) / (2 * discordance)
    rejected = binom.cdf(most, counts, share) + binom.sf(counts - most - 1, counts, share)
    return float((binom.pmf(counts, n, discordance) * rejected).sum())


@lru_cache(maxsize=64)
def _most_of_the_fewer(n: int) -> NDArray[np.int64]:
    """For each number of discordant pairs up to ``n``: how many may stand on the smaller side at p <= 5 %; -1: none."""
    counts = np.arange(n + 1)
    quantile = binom.ppf(ALPHA / 2, counts, 0.5)  # the first with at least this much below it
    most = np.where(binom.cdf(quantile, counts, 0.5) <= ALPHA / 2, quantile, quantile - 1)
    found: NDArray[np.int64] = most.astype(np.int64)
    return found
