"""The words of a shelf's keys, ranked by BM25."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from amd.embedders.hash import words

__all__ = ["Lexical"]


class Lexical:
    """A BM25 index over texts (``bm25s``, the variant of Lucene).

    Word frequencies are taken over all texts, hidden ones included: who is seen is decided by the caller.

    >>> Lexical(["move the file", "book a flight"]).scores("a FLIGHT").tolist()[0]
    0.0
    """

    def __init__(self, texts: Iterable[str]) -> None:
        # Imported here: it takes a while to load, and only a fused search needs it.
        import bm25s  # noqa: PLC0415

        self._places: dict[str, int] = {}
        spelled = [[self._places.setdefault(word, len(self._places)) for word in words(text)] for text in texts]
        self._count = len(spelled)
        self._index = bm25s.BM25(backend="numpy")
        if self._places:
            self._index.index((spelled, dict(self._places)), show_progress=False)

    def scores(self, text: str) -> npt.NDArray[np.float32]:
        """The score of each text, 0 where it shares no word with ``text``."""
        asked = [self._places[word] for word in words(text) if word in self._places]
        if not asked:
            return np.zeros(self._count, np.float32)
        scores: npt.NDArray[np.float32] = self._index.get_scores_from_ids(asked)
        return scores
