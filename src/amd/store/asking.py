"""The row of a question: embedded by the memory's own embedder, checked, and kept for the next shelf."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from amd.chat import Embedder, Rows
from amd.embedders import load_embedder
from amd.embedders.batches import embed_batches
from amd.errors import EmbedderDoesNotMatch
from amd.store.figures import EmbedderFigures
from amd.store.matrix import check_rows

__all__ = ["Asking"]

_KEPT = 256  # one question is asked of several shelves


class Asking:
    """Embeds questions for a memory at ``place`` that was embedded as ``stored`` says.

    Raises:
        EmbedderDoesNotMatch: the given embedder has another id, or gives rows of another width.
    """

    def __init__(self, place: Path, stored: EmbedderFigures, given: Embedder | None) -> None:
        self._place = place
        self._stored = stored
        self._embedder = given
        # A cache of this object's own, shared by its shelves and gone with it.
        self.row = lru_cache(maxsize=_KEPT)(self._row)
        if given is not None:
            self._check_given(given)

    @property
    def embedder(self) -> Embedder:
        """The embedder: the given one, else the one that the stored id names, loaded now."""
        if self._embedder is None:
            self._embedder = load_embedder(self._stored.id)
        return self._embedder

    def _check_given(self, given: Embedder) -> None:
        # An embedder does not tell its width: one short text shows it.
        width = len(embed_batches(given, ["width"])[0])
        if given.id != self._stored.id or (width != self._stored.dim and self._stored.dim):
            raise self._other(given.id, width)

    def _row(self, text: str) -> Rows:
        (row,) = embed_batches(self.embedder, [text])
        if len(row) != self._stored.dim:
            raise self._other(self.embedder.id, len(row))
        check_rows(row.reshape(1, -1), f"embedder {self.embedder.id}")
        row.setflags(write=False)
        return row

    def _other(self, found: str, width: int) -> EmbedderDoesNotMatch:
        stored = self._stored
        way = f"amd reindex {self._place} --embedder"
        # A reindex by the same id embeds only what was edited: one id is one vector space.
        same = (
            f"what {found!r} names has changed: embed all by another one, and then by it: {way} ANOTHER; {way} {found}"
        )
        other = f"open it with {stored.id!r}, or run: {way} {found}"
        return EmbedderDoesNotMatch(
            f"the memory was embedded by {stored.id!r} ({stored.dim} wide), the embedder given is {found!r}"
            f" ({width} wide)",
            next_step=same if found == stored.id else other,
            stored=stored.id,
            given=found,
            stored_width=stored.dim,
            given_width=width,
        )
