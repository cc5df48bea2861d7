"""Each statistic against a published worked example, and by simulation where none says enough."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amd.evaluate.estimates import (
    clustered_mean,
    clustered_ratio,
    detectable,
    detectable_mean,
    exact_mcnemar,
    holm,
    pass_hat,
    power_of,
    wilson,
)

# Newcombe 1998, "Two-sided confidence intervals for the single proportion", Stat. Med. 17, table I, method 3.
NEWCOMBE = [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]


@pytest.mark.parametrize(("successes", "n", "low", "high"), NEWCOMBE)
def test_wilson_is_newcombes_method_3(successes, n, low, high):
    """Table I of Newcombe 1998, to its four digits."""
    found = wilson(successes, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)
    assert found.value == successes / n


def test_wilson_takes_means_over_trials():
    """The width follows the number of tasks: three trials each of ten tasks are not thirty tasks."""
    tasks, trials = wilson(5.0, 10), wilson(15, 30)
    assert tasks.high - tasks.low > trials.high - trials.low


def test_mcnemar_is_the_example_of_armitage_and_berry():
    """Two media for culturing tuberculosis, 12 against 2 discordant specimens: exact P = 0.0129 (1994, p. 127)."""
    assert round(exact_mcnemar(12, 2), 4) == round(exact_mcnemar(2, 12), 4) == 0.0129
    assert exact_mcnemar(0, 0) == 1.0


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_twice_the_tail_of_a_fair_coin(helped, harmed):
    """The definition, in whole numbers."""
    n, few = helped + harmed, min(helped, harmed)
    tail = sum(comb(n, k) for k in range(few + 1)) / 2**n
    assert exact_mcnemar(helped, harmed) == pytest.approx(min(1.0, 2 * tail))


def test_holm_is_the_usual_example():
    """Four p values: .005 and .01 are told from chance at 5 %, .03 and .04 are not (Holm 1979's rule)."""
    assert [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005])] == [0.03, 0.06, 0.06, 0.02]
    assert holm([]) == []
    assert holm([0.2]) == [0.2]


@settings(max_examples=25)  # statsmodels collects garbage at each call, which takes its time
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_never_lowers_a_p_and_keeps_their_order(values):
    """Nothing looks surer for being compared with others."""
    found = holm(values)
    assert all(after >= before for before, after in zip(values, found, strict=True))
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [found[at] for at in order] == sorted(found)


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=5), min_size=1, max_size=6), st.integers(1, 3))
def test_pass_hat_is_the_share_of_draws_that_all_succeed(tasks, k):
    """C(c, k) / C(n, k) of Yao et al. 2024 (tau-bench), against every draw of k trials one by one."""
    shares = [np.mean([all(drawn) for drawn in combinations(trials, k)]) for trials in tasks]
    assert pass_hat([(sum(trials), len(trials)) for trials in tasks], k) == pytest.approx(float(np.mean(shares)))


def brute_power(n, discordance, difference):
    """The power of exact McNemar from its definition, without a library."""
    total, share = 0.0, (discordance + difference) / (2 * discordance)
    for pairs in range(n + 1):
        weight = comb(n, pairs) * discordance**pairs * (1 - discordance) ** (n - pairs)
        for one in range(pairs + 1):
            if 2 * sum(comb(pairs, k) for k in range(min(one, pairs - one) + 1)) <= 0.05 * 2**pairs:
                total += weight * comb(pairs, one) * share**one * (1 - share) ** (pairs - one)
    return total


@pytest.mark.parametrize(("n", "discordance", "difference"), [(20, 0.5, 0.4), (50, 0.3, 0.22), (40, 0.8, 0.0)])
def test_power_is_that_of_the_definition(n, discordance, difference):
    """Over all counts of discordant pairs, each with its own rejection region."""
    assert power_of(n, discordance, difference) == pytest.approx(brute_power(n, discordance, difference))


def test_the_detectable_difference_is_found_four_times_in_five():
    """By simulation; 1,000 trials of 100 pairs with 30 % discordance."""
    difference = detectable(100, 0.3)
    assert difference == pytest.approx(0.16, abs=0.005)
    draws = np.random.default_rng(7).multinomial(100, [0.15 + difference / 2, 0.15 - difference / 2, 0.7], size=1000)
    found = [exact_mcnemar(int(helped), int(harmed)) <= 0.05 for helped, harmed, _ in draws]
    assert np.mean(found) == pytest.approx(0.8, abs=0.04)


def test_what_cannot_be_detected_is_not():
    """Too few pairs, or none that differ."""
    assert detectable(5, 1.0) is None
    assert detectable(100, 0.0) is None
    assert detectable(6, 1.0) is not None
    assert detectable_mean([0.5]) is None
    assert detectable_mean([0.25, 0.25]) is None
    assert detectable_mean([0.5, 1.0]) is None


@given(st.lists(st.sampled_from([-1, -0.5, 0, 0.5, 1]), min_size=2, max_size=12))
@settings(max_examples=30)
def test_no_detectable_difference_is_beyond_all_rates(differences):
    """At most 100 points; with so many tasks that it is less, it is told (the control)."""
    found = detectable_mean(differences)
    assert found is None or 0 < found <= 1
    assert detectable_mean([*differences, 0.5, -0.5] * 40) is not None


def test_the_detectable_mean_is_the_usual_rule():
    """(1.96 + 0.84) standard errors for many tasks."""
    differences = list(np.random.default_rng(1).normal(0, 1, 2000))
    assert detectable_mean(differences) == pytest.approx(2.8016 * np.std(differences, ddof=1) / 2000**0.5, rel=0.01)


def covered(clusters_of, *, rounds=200):
    """How often the interval holds the true mean, 0, of differences whose families stand or fall together."""
    hits = 0
    for number in range(rounds):
        draw = np.random.default_rng(number)
        shared = np.repeat(draw.choice([-1.0, 0.0, 1.0], 30), 6)
        differences = np.where(draw.random(180) < 0.8, shared, draw.choice([-1.0, 0.0, 1.0], 180))
        found = clustered_mean(list(differences), clusters_of, seed=number, resamples=400)
        hits += found.low <= 0 <= found.high
    return hits / rounds


def test_the_clustered_interval_holds_what_it_promises():
    """30 families of 6 tasks: whole families drawn, 95 % is about 95 %; tasks drawn alone, far less (the control)."""
    assert covered([f"family {at // 6}" for at in range(180)]) >= 0.90
    assert covered([f"task {at}" for at in range(180)]) <= 0.75


def test_the_bootstrap_is_seeded_and_blind_to_order():
    """The same seed gives the same ends, in whatever order tasks come; without anything to draw there are none."""
    values, clusters = [1.0, 0.0, -1.0, 1.0, 0.5, 0.0] * 2, [*"abcdefghijaa"]
    first = clustered_mean(values, clusters, seed=3, resamples=500)
    assert first == clustered_mean(values[::-1], clusters[::-1], seed=3, resamples=500)
    assert first != clustered_mean(values, clusters, seed=4, resamples=500)
    assert clustered_mean([1.0, 0.0], ["a", "a"], seed=0, resamples=500).low is None
    assert clustered_mean([0.5] * 12, clusters, seed=0, resamples=500).high is None
    assert clustered_mean([1.0, 0.0] * 10, [*"aabbccddeeffgghhiijj"], seed=0, resamples=500).low is None


@pytest.mark.parametrize(("families", "known"), [(1, False), (2, False), (9, False), (10, True), (11, True)])
def test_few_families_have_no_interval(families, known):
    """From ten on there is one."""
    values = [float(at % 2) for at in range(families)]
    found = clustered_mean(values, [f"f{at}" for at in range(families)], seed=0, resamples=200)
    assert (found.low is not None, found.high is not None) == (known, known)
    assert found.value == pytest.approx(sum(values) / families)


def test_a_ratio_is_that_of_the_sums():
    """Whole clusters are drawn, parts with their wholes; a mean is the ratio whose wholes are all 1."""
    parts, wholes, clusters = [1.0, 0.0, 3.0] * 8, [2.0, 1.0, 5.0] * 8, [f"f{at}" for at in range(12)] * 2
    found = clustered_ratio(parts, wholes, clusters, seed=3, resamples=500)
    assert found.value == pytest.approx(sum(parts) / sum(wholes))
    assert 0 < found.low < found.value < found.high < 1
    scaled = clustered_ratio(
        [7 * part for part in parts], [7 * whole for whole in wholes], clusters, seed=3, resamples=500
    )
    assert (scaled.low, scaled.high) == pytest.approx((found.low, found.high))
    means = clustered_ratio(parts, [1] * 24, clusters, seed=3, resamples=500)
    assert means == clustered_mean(parts, clusters, seed=3, resamples=500)


def test_a_ratio_of_nothing_is_none():
    """No value without a whole; a cluster without one is not among the ten that an interval needs."""
    assert clustered_ratio([], [], [], seed=0, resamples=200) is None
    assert clustered_ratio([0, 0], [0, 0], ["a", "b"], seed=0, resamples=200) is None
    parts, wholes, clusters = [1.0, 0.0] * 5, [1.0] * 10, [*"abcdefghij"]
    known = clustered_ratio(parts, wholes, clusters, seed=0, resamples=200)
    few = clustered_ratio([*parts[:9], 0.0], [*wholes[:9], 0.0], clusters, seed=0, resamples=200)
    assert (known.low is None, few.low, few.value) == (False, None, 5 / 9)
    alike = clustered_ratio([2.0, 4.0] * 6, [4.0, 8.0] * 6, [f"f{at}" for at in range(12)], seed=0, resamples=200)
    assert (alike.value, alike.low) == (0.5, None)


def called_results(families, of_each, *, rounds=200):
    """How often no effect is called a result where families stand or fall together.

    By a percentile interval over however few families, and by ``clustered_mean`` and McNemar's p together.
    """
    by_interval = by_both = 0
    names = [f"f{at // of_each}" for at in range(families * of_each)]
    for number in range(rounds):
        draw = np.random.default_rng(number)
        lean = np.repeat(draw.normal(0, 0.3, families), of_each)
        values = np.sign(lean + draw.normal(0, 0.5, len(names))) * (draw.random(len(names)) < 0.2)
        means = values.reshape(families, of_each).mean(axis=1)
        low, high = np.quantile(means[draw.integers(0, families, (400, families))].mean(axis=1), [0.025, 0.975])
        by_interval += not low <= 0 <= high
        found = clustered_mean(list(values), names, seed=number, resamples=400)
        outside = found.low is not None and not found.low <= 0 <= found.high
        by_both += outside and exact_mcnemar(int((values > 0).sum()), int((values < 0).sum())) < 0.05
    return by_interval / rounds, by_both / rounds


@pytest.mark.parametrize(("families", "of_each"), [(2, 20), (3, 20), (5, 20)])
def test_the_interval_alone_calls_chance_a_result(families, of_each):
    """No effect and few families: the interval alone errs far more often than 5 %, it and p together do not."""
    by_interval, by_both = called_results(families, of_each)
    assert by_interval > 0.09
    assert by_both <= 0.05


def test_an_end_that_is_0_but_for_rounding_is_0():
    """0.1 + 0.2 - 0.3 is above 0 for a machine, and no reason to call a difference a result; 0.01 is one (control)."""
    families = [str(at // 3) for at in range(36)]
    for third, excludes in ((-0.3, False), (-0.27, True)):
        values = [0.1, 0.2, third] * 11 + [1.0, 0.0, 0.0]
        assert sum(values[:3]) > 0
        found = clustered_mean(values, families, seed=0, resamples=999)
        assert (found.low > 0, found.high > 0) == (excludes, True)
