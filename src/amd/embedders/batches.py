"""Texts to rows in batches, with the check that an embedder keeps its word: a row for each text, all of one width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from amd.chat import Embedder, Rows
from amd.errors import ClientError, RowsDoNotMatch, WidthDoesNotMatch

__all__ = ["embed_batches", "texts_cut"]

_BATCH = 256


def embed_batches(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    width: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Rows]:
    """One float32 row for each text, in order.

    Args:
        embedder: it is given at most 256 texts at a time.
        texts: none of them is looked at; equal ones are embedded again.
        width: what every row must have; without it, what the first one has.
        progress: called after each batch with how many texts are done, and how many there are.

    Raises:
        RowsDoNotMatch: another number of rows than of texts.
        WidthDoesNotMatch: a row of another width.
        ClientError: the embedder's service failed. Nothing is returned then, so nothing half embedded is kept. If one
            text is at fault, ``index`` counts among all ``texts``.

    >>> from amd.embedders import load_embedder
    >>> [row.shape for row in embed_batches(load_embedder("hash"), ["a", "b"])]
    [(1024,), (1024,)]
    """
    rows: list[Rows] = []
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        try:
            found = np.asarray(embedder.embed(batch), np.float32)
        except ClientError as error:
            index = error.fields.get("index")
            if isinstance(index, int):
                error.fields["index"] = start + index
            raise
        if found.ndim != 2 or len(found) != len(batch):
            raise RowsDoNotMatch(
                f"embedder {embedder.id} gave {len(found) if found.ndim else 'no'} rows for {len(batch)} texts"
                f" (an array of shape {found.shape})",
                next_step="repair or change the embedder; nothing was written",
                records=len(batch),
                rows=len(found) if found.ndim else 0,
            )
        width = width or found.shape[1]
        if found.shape[1] != width:
            raise WidthDoesNotMatch(
                f"embedder {embedder.id} gave rows of width {found.shape[1]} after rows of width {width}",
                next_step="nothing was written; an id names one vector space, so repair the embedder, or move the"
                " memory to another one: amd reindex DIR --embedder ID",
                expected=width,
                found=found.shape[1],
            )
        rows += list(found)
        if progress is not None:
            progress(len(rows), len(texts))
    return rows


@runtime_checkable
class _Cutting(Protocol):
    """An embedder that reads only the beginning of a long text, and counts."""

    @property
    def cut(self) -> int: ...


def texts_cut(embedder: Embedder) -> int:
    """Of how many texts the embedder has read only the beginning, so far; 0 for one that does not count them.

    >>> from amd.embedders import load_embedder
    >>> texts_cut(load_embedder("hash"))
    0
    """
    return embedder.cut if isinstance(embedder, _Cutting) else 0
