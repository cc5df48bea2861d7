"""Rows for keys: only texts that are new, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from amd.chat import Embedder, Rows
from amd.embedders.batches import embed_batches, texts_cut
from amd.json_text import digest

__all__ = ["embed_new"]


def embed_new(
    keys: Iterable[str],
    known: Mapping[str, Rows],
    embedder: Embedder,
    *,
    notes: Counter[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Rows]:
    """Rows, by the sha256 of their text, of those keys that ``known`` has not.

    Keys of which the embedder read only the beginning are counted in ``notes`` as ``key_cut_by_embedder``.
    Raises what :func:`amd.embedders.batches.embed_batches` raises, also for a width other than that of ``known``.
    """
    missing = {sha: key for key in keys if (sha := digest(key.encode())) not in known}
    width = next((len(row) for row in known.values()), None)
    cut = texts_cut(embedder)
    rows = embed_batches(embedder, list(missing.values()), width=width, progress=progress)
    if notes is not None:
        notes["key_cut_by_embedder"] += texts_cut(embedder) - cut
    return dict(zip(missing, rows, strict=True))
