"""Rows for keys: only texts that are new, each once, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from amd.chat import Embedder, Rows
from amd.errors import RowsDoNotMatch, WidthDoesNotMatch
from amd.json_text import digest

__all__ = ["embed_new"]

_BATCH = 256


def embed_new(
    keys: Iterable[str],
    known: Mapping[str, Rows],
    embedder: Embedder,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Rows]:
    """Rows, by the sha256 of their text, of those keys that ``known`` has not.

    Raises what the embedder raises; then nothing is returned, so nothing half embedded is ever published.
    ``RowsDoNotMatch`` and ``WidthDoesNotMatch`` if the embedder breaks its word.
    """
    missing = {sha: key for key in keys if (sha := digest(key.encode())) not in known}
    rows: dict[str, Rows] = {}
    texts = list(missing.items())
    width = next((len(row) for row in known.values()), None)
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        found = embedder.embed([key for _, key in batch])
        if len(found) != len(batch):
            raise RowsDoNotMatch(
                f"embedder {embedder.id} gave {len(found)} rows for {len(batch)} texts",
                next_step="repair or change the embedder; nothing was written",
                records=len(batch),
                rows=len(found),
            )
        width = width or found.shape[1]
        if found.shape[1] != width:
            raise WidthDoesNotMatch(
                f"embedder {embedder.id} gave rows of width {found.shape[1]} after rows of width {width}",
                next_step="run: amd reindex DIR; nothing was written",
                expected=width,
                found=found.shape[1],
            )
        rows.update((sha, row) for (sha, _), row in zip(batch, np.asarray(found, np.float32), strict=True))
        if progress is not None:
            progress(min(start + _BATCH, len(texts)), len(texts))
    return rows
