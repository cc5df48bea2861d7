"""The floor of a shelf."""

from __future__ import annotations

import numpy as np
import pytest

from amd.store.floors import measure


def _rows(count, width=16):
    rows = np.random.default_rng(3).standard_normal((count, width), np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_quantile_of_pairs_of_different_families():
    """The 95 % quantile, over pairs of different families alone, by a slow second way."""
    rows, families = _rows(40), [f"f{n // 4}" for n in range(40)]
    pairs = [rows[i] @ rows[j] for i in range(40) for j in range(i) if families[i] != families[j]]
    floor = measure(rows, families, 0.35)
    assert floor.value == pytest.approx(np.quantile(pairs, 0.95), abs=1e-5)
    assert (floor.source, floor.pairs) == ("quantile", len(pairs))


def test_pairs_of_one_family_do_not_count():
    """Twenty copies of one key in one family must not raise the floor."""
    rows = np.concatenate([_rows(30), np.repeat(_rows(1), 20, axis=0)])
    families = [f"f{n}" for n in range(30)] + ["copies"] * 20
    assert measure(rows, families, 0.35).value < 0.9
    assert measure(rows, [f"f{n}" for n in range(50)], 0.35).value > 0.9


@pytest.mark.parametrize(("count", "source"), [(0, "constant"), (14, "constant"), (15, "quantile")])
def test_too_few_pairs_give_the_constant(count, source):
    """Fourteen keys make 91 pairs, fifteen make 105."""
    floor = measure(_rows(count), [f"f{n}" for n in range(count)], 0.35)
    assert floor.source == source
    assert (floor.value == 0.35) == (source == "constant")


def test_many_rows_are_drawn_from_and_repeat():
    """At most 200,000 pairs; the same rows always give the same floor, near the one over all pairs."""
    rows = _rows(800)
    families = [f"f{n}" for n in range(800)]
    floor = measure(rows, families, 0.35)
    every = (rows @ rows.T)[np.triu_indices(800, 1)]
    assert floor.pairs <= 200_000
    assert floor == measure(rows, families, 0.35)
    assert floor.value == pytest.approx(np.quantile(every, 0.95), abs=0.01)


def test_equal_keys_are_reached_by_an_equal_question():
    """A shelf of copies has a floor that its own key reaches."""
    row = np.array([[0.1, 0.7, 0.7071]], np.float32)
    rows = np.repeat(row / np.linalg.norm(row), 30, axis=0)
    floor = measure(rows, [f"f{n}" for n in range(30)], 0.35)
    assert 0.99 < floor.value <= float(rows[0].astype(np.float64) @ rows[0].astype(np.float64))
