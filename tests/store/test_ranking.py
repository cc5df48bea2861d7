"""The order of candidates, against a slow second way."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from amd.store.ranking import by_cosine, by_fusion, fuse


def _rows(seed, count, width=8, distinct=4):
    """Rows of which many are equal, so that ties are common."""
    draw = np.random.default_rng(seed)
    rows = draw.standard_normal((distinct, width), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows[draw.integers(0, distinct, count)], draw.permutation(count)


def _slow(rows, asked, ids, seen, floor):
    cosines = {row: min(float(rows[row].astype(np.float64) @ asked.astype(np.float64)), 1.0) for row in seen}
    order = sorted(seen, key=lambda row: (-cosines[row], ids[row]))
    return [row for row in order if cosines[row] >= floor], cosines


@settings(deadline=None)
@given(
    seed=st.integers(0, 10_000),
    count=st.integers(1, 80),
    first=st.integers(1, 90),
    hide=st.integers(0, 3),
    floor=st.sampled_from([-np.inf, 0.0, 0.3, 0.99]),
)
def test_by_cosine_is_the_exact_order(seed, count, first, hide, floor):
    """Ties by id, no row twice, none missing, none unseen or under the floor; best and count below agree."""
    rows, ids = _rows(seed, count)
    asked = _rows(seed + 1, 1)[0][0]
    seen = [row for row in range(count) if hide == 0 or row % (hide + 1)] or [0]
    scores = np.full(count, -np.inf, np.float32)
    scores[seen] = rows[seen] @ asked
    ranking = by_cosine(scores, len(seen), rows, asked, lambda: ids, first=first, floor=floor)
    order, cosines = _slow(rows, asked, ids, seen, floor)
    assert [row for row, _ in ranking.candidates] == order
    assert abs(ranking.best - max(cosines.values())) < 1e-12
    assert ranking.below == sum(cosine < floor for cosine in cosines.values())


@settings(deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(1, 60))
def test_equal_rows_have_equal_scores_wherever_they_stand(seed, count):
    """Bit for bit: so ties are ties, and adding records changes no score."""
    rows, ids = _rows(seed, count, width=37, distinct=1)
    asked = _rows(seed + 1, 1, width=37)[0][0]
    ranking = by_cosine(rows @ asked, count, rows, asked, lambda: ids, first=1, floor=-np.inf)
    found = list(ranking.candidates)
    assert len({cosine for _, cosine in found}) == 1
    assert [ids[row] for row, _ in found] == list(range(count))


def test_no_cosine_is_beyond_1():
    """Rows are rounded to float32, and a row with itself may give a little more; here some do (the control)."""
    rows = np.concatenate([_rows(seed, 1)[0] for seed in range(40)])
    products = [float(row.astype(np.float64) @ row.astype(np.float64)) for row in rows]
    assert max(products) > 1.0
    bests = [by_cosine(rows @ row, 40, rows, row, lambda: np.arange(40), first=1, floor=-np.inf).best for row in rows]
    assert max(bests) == 1.0


def test_a_score_at_the_floor_counts():
    """The floor is inclusive, and rounding of the product does not decide."""
    rows = np.array([[0.6, 0.8], [0.8, 0.6]], np.float32)
    asked = np.array([1, 0], np.float32)
    floor = float(np.float32(0.6))
    for shift in (-1e-7, 0.0, 1e-7):
        scores = (rows @ asked + np.float32(shift)).astype(np.float32)
        ranking = by_cosine(scores, 2, rows, asked, lambda: np.arange(2), first=1, floor=floor)
        assert ranking.below == 0
        assert [row for row, _ in ranking.candidates] == [1, 0]


def test_fusion_is_reciprocal_ranks_with_k_60():
    """By hand: the lexical score lifts row 2 over row 1, a score of 0 lifts nobody."""
    cosines, lexical = np.array([0.9, 0.8, 0.7]), np.array([0, 0, 5], np.float32)
    expected = [1 / 61, 1 / 62, 1 / 63 + 1 / 61]
    order = fuse(cosines, lexical, np.arange(3)).tolist()
    assert order == sorted(range(3), key=lambda row: -expected[row]) == [2, 0, 1]


def test_fused_candidates_keep_cosine_and_floor():
    """A score stays the cosine; what is under the floor is no candidate however well its words fit."""
    rows = np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32)
    asked = np.array([1, 0], np.float32)
    words = np.array([0, 1, 9], np.float32)
    seen = np.array([0, 1, 2])
    ranking = by_fusion(rows, seen, asked, words, np.arange(3), floor=0.5)
    found = list(ranking.candidates)
    assert [row for row, _ in found] == [1, 0]
    assert np.allclose([cosine for _, cosine in found], [0.6, 1.0])
    assert (ranking.best, ranking.below) == (1.0, 1)
