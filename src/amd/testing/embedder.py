"""A bag-of-words embedder for tests: easy to predict, it counts what it is asked and fails when it is told to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from threading import Lock
from zlib import crc32

import numpy as np

from amd.chat import Rows
from amd.errors import ClientError

__all__ = ["StubEmbedder"]

_WORD = re.compile(r"\w+")


class StubEmbedder:
    """Each word adds one in the column ``crc32(word) % width``; rows have unit length.

    Args:
        id: the name of the vector space, so that two stubs can stand for two embedders.
        width: of a row.
        floor: the least cosine that counts.
        fail_at: the number of the call, from 1, that raises ``ClientError``; other calls work.

    ``calls`` counts calls, ``texts`` keeps every text that was embedded, in order, repeats included.

    >>> stub = StubEmbedder()
    >>> rows = stub.embed(["move a file", "a file, move!", ""])
    >>> round(float(rows[0] @ rows[1]), 3), stub.calls, len(stub.texts)
    (1.0, 1, 3)
    """

    def __init__(
        self,
        id: str = "stub",  # noqa: A002 - the protocol's word
        *,
        width: int = 1536,
        floor: float = 0.35,
        fail_at: int | None = None,
    ) -> None:
        self.id = id
        self.width = width
        self.floor = floor
        self.fail_at = fail_at
        self.calls = 0
        self.texts: list[str] = []
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> Rows:
        """One row of unit length for each text; a text without a word gets the row of the empty word."""
        with self._lock:
            self.calls += 1
            if self.calls == self.fail_at:
                raise ClientError(
                    f"the stub embedder fails at call {self.calls}, as it was told to",
                    next_step="run the same command again",
                    call=self.calls,
                )
            self.texts.extend(texts)
        rows = np.zeros((len(texts), self.width), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.casefold()) or [""]:
                rows[row, crc32(word.encode()) % self.width] += 1
        unit: Rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit
