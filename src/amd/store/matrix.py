"""The embedding rows of a shelf as a ``.npy`` file, checked row by row: their number, width, values and length."""

from __future__ import annotations

import io
import mmap
import re

import numpy as np

from amd.chat import Rows
from amd.errors import RowsDoNotMatch, StoreError, WidthDoesNotMatch

__all__ = ["check_rows", "matrix_bytes", "read_matrix"]

_UNIT = 1e-3
"""How far from 1 the length of a row may be: float16 weights of a service stay within it, a sum of rows does not."""

_DTYPE = np.dtype("<f4")
_REPAIR = "run: amd check on the memory, then amd reindex"
_MAGIC = b"\x93NUMPY\x01\x00"
# numpy's own reader evaluates a faulty header as Python, which raises whatever the tokenizer raises.
_HEAD = re.compile(
    re.escape(_MAGIC)
    + rb"(..)\{'descr': '([^']{1,20})', 'fortran_order': (True|False), 'shape': \((\d{1,15}), (\d{1,15})\), \} *\n",
    re.DOTALL,
)
_CHUNK = 8192  # rows checked at once, so that a big matrix is not copied


def matrix_bytes(rows: Rows) -> list[bytes | memoryview]:
    """The parts of the ``.npy`` file (format 1.0) of float32 rows."""
    matrix = np.ascontiguousarray(rows, _DTYPE)
    head = io.BytesIO()
    shape = {"descr": _DTYPE.str, "fortran_order": False, "shape": matrix.shape}
    np.lib.format.write_array_header_1_0(head, shape)
    return [head.getvalue(), matrix.data.cast("B") if matrix.size else b""]


def read_matrix(text: mmap.mmap | bytes, where: str, *, rows: int, width: int) -> Rows:
    """The rows in the bytes of a ``.npy`` file, not copied; ``where`` names the file in errors.

    Raises:
        StoreError: no such file, or a row that is not finite or not of unit length.
        RowsDoNotMatch, WidthDoesNotMatch: another number of rows, or another width, than declared.
    """
    head = _HEAD.match(text)
    if head is None or len(head[0]) != len(_MAGIC) + 2 + int.from_bytes(head[1], "little"):
        raise StoreError(f"{where}: no .npy file of format 1.0 with two dimensions", next_step=_REPAIR, file=where)
    dtype, fortran = head[2].decode(), head[3] == b"True"
    shape = (int(head[4]), int(head[5]))
    if dtype != _DTYPE.str or fortran:
        raise StoreError(
            f"{where}: {dtype} of shape {shape}, fortran_order={fortran}; expected rows of {_DTYPE.str}",
            next_step=_REPAIR,
            file=where,
        )
    check_shape(shape, where, rows=rows, width=width)
    found, expected = len(text) - head.end(), rows * width * _DTYPE.itemsize
    if found != expected:
        raise StoreError(f"{where}: {found} bytes of rows, expected {expected}", next_step=_REPAIR, file=where)
    matrix: Rows = np.frombuffer(text, _DTYPE, offset=head.end()).reshape(rows, width)
    check_rows(matrix, where)
    return matrix


def check_shape(shape: tuple[int, ...], where: str, *, rows: int, width: int) -> None:
    """Raise ``RowsDoNotMatch`` or ``WidthDoesNotMatch`` unless ``shape`` is (rows, width)."""
    if shape[0] != rows:
        raise RowsDoNotMatch(
            f"{where}: {shape[0]} rows for {rows} records", next_step=_REPAIR, records=rows, rows=shape[0]
        )
    if shape[1:] != (width,):
        raise WidthDoesNotMatch(
            f"{where}: rows of width {shape[1:]}, expected {width}",
            next_step=_REPAIR,
            expected=width,
            found=shape[1] if len(shape) == 2 else shape[1:],
        )


def check_rows(rows: Rows, where: str) -> None:
    """Raise ``StoreError``, naming the first row, unless all are finite and of unit length."""
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        with np.errstate(all="ignore"):  # overflow and NaN are what is looked for
            lengths = np.sqrt(np.einsum("ij,ij->i", chunk, chunk))
        bad = np.flatnonzero(~(np.abs(lengths - 1) <= _UNIT))  # NaN is in no order
        if len(bad):
            row, length = start + int(bad[0]), float(lengths[bad[0]])
            what = f"length {length:.6g}, expected 1" if np.isfinite(length) else "not finite"
            raise StoreError(f"{where}: row {row} is {what}", next_step=_REPAIR, file=where, row=row, length=length)
