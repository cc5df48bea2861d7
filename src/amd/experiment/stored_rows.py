"""An embedder that asks nothing twice: what a memory holds as a key already has its row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from amd.chat import Embedder, Rows
from amd.json_text import digest
from amd.store import Memory

__all__ = ["StoredRows"]


class StoredRows:
    """The rows of a memory's own keys, and for any other text those of its embedder, each asked for once.

    An evaluation asks the same few texts for each method and protocol, and most of them are keys: recorded tasks are
    mostly those that the memory was built from.
    """

    def __init__(self, memory: Memory, embedder: Embedder) -> None:
        self.id = embedder.id
        self.floor = embedder.floor
        self._embedder = embedder
        self._rows = {key: row for shelf in memory.shelves.values() for key, row in shelf.key_rows()}

    def embed(self, texts: Sequence[str]) -> Rows:
        """One row of unit length for each text; ``ClientError`` if a service fails."""
        keys = [digest(text.encode()) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._rows}
        if new:
            self._rows.update(zip(new, self._embedder.embed([*new.values()]), strict=True))
        return np.stack([self._rows[key] for key in keys])
