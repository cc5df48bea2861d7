"""Embedding rows as a checked ``.npy`` file."""

from __future__ import annotations

import io

import numpy as np
import pytest

from amd.errors import RowsDoNotMatch, StoreError, WidthDoesNotMatch
from amd.store.matrix import check_rows, matrix_bytes, read_matrix

UNIT = np.eye(3, 4, dtype=np.float32)


def _text(rows):
    return b"".join(bytes(part) for part in matrix_bytes(rows))


def _saved(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("rows", [UNIT, UNIT[:0], np.zeros((0, 0), np.float32)], ids=["three", "none", "no width"])
def test_round_trip_and_numpy_reads_it(rows):
    """The same rows come back, and ``np.load`` agrees."""
    text = _text(rows)
    found = read_matrix(text, "here", rows=len(rows), width=rows.shape[1])
    assert np.array_equal(found, rows)
    assert np.array_equal(np.load(io.BytesIO(text)), rows)
    assert not found.flags.writeable


def test_count_and_width_are_named():
    """Both values are in the message and in the fields."""
    with pytest.raises(RowsDoNotMatch, match="3 rows for 2 records") as rows:
        read_matrix(_text(UNIT), "here", rows=2, width=4)
    assert (rows.value.fields["records"], rows.value.fields["rows"]) == (2, 3)
    with pytest.raises(WidthDoesNotMatch, match="expected 5") as width:
        read_matrix(_text(UNIT), "here", rows=3, width=5)
    assert (width.value.fields["expected"], width.value.fields["found"]) == (5, 4)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        pytest.param(b"no matrix", r"no \.npy file", id="no npy"),
        pytest.param(_saved(UNIT.astype(np.float64)), "<f8", id="float64"),
        pytest.param(_saved(np.asfortranarray(UNIT)), "fortran_order=True", id="columns first"),
        pytest.param(_saved(UNIT[0]), "two dimensions", id="one row"),
        pytest.param(_text(UNIT)[:-1], "bytes of rows", id="cut"),
        pytest.param(_text(UNIT) + b"x", "bytes of rows", id="longer"),
    ],
)
def test_other_files_are_refused(text, what):
    """Typed, and the file is named."""
    with pytest.raises(StoreError, match=what) as caught:
        read_matrix(text, "here", rows=3, width=4)
    assert "here" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "what"), [(np.nan, "not finite"), (np.inf, "not finite"), (1.002, "length 1.002"), (0.0, "length 0")]
)
def test_a_bad_row_is_named(value, what):
    """Not a number, infinite, too long or empty: the first such row is named."""
    rows = UNIT.copy()
    check_rows(rows, "here")
    rows[1] *= 0
    rows[1, 1] = value
    with pytest.raises(StoreError, match=f"row 1 is {what}"):
        check_rows(rows, "here")
    rows[1, 1] = 1.0005  # within the tolerance
    check_rows(rows, "here")
