"""A shelf: one tier's records and rows, and the one search that everything shown to a student comes from."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from threading import Lock

import numpy as np
import numpy.typing as npt

from amd.chat import Rows
from amd.exclusion import Viewer
from amd.records import Record
from amd.store.columns import Columns
from amd.store.lexical import Lexical
from amd.store.lines import decode
from amd.store.ranking import by_cosine, by_draw, by_fusion
from amd.store.visible import view_of
from amd.tier import Hit, Query

__all__ = ["Found", "Shelf"]

_VIEWERS = 64  # whose view of a shelf is kept
_RECENT = 4096  # how many decoded records are kept, about 3 kB each: a session looks at 50 for each question
_TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found, best first, and what it did not show and why.

    ``considered`` counts the records that the viewer may see (of the tool, if ``where`` names one), ``below_floor``
    those of them with a cosine under the floor, and ``best`` is the best cosine among them. ``excluded`` counts records
    hidden by the viewer, by reason.
    """

    hits: tuple[Hit, ...]
    considered: int
    below_floor: int
    best: float | None
    excluded: Mapping[str, int]


class Shelf:
    """One tier of a memory, read-only and shared by threads. Opened by ``amd.open_memory``."""

    def __init__(
        self, tier: str, floor: float, text: mmap.mmap, columns: Columns, rows: Rows, ask: Callable[[str], Rows]
    ) -> None:
        self.tier = tier
        self.floor = floor
        self.rows = rows
        self.columns = columns
        self._text = text
        self._ask = ask
        # Caches of this object's own, gone with it.
        self._view = lru_cache(maxsize=_VIEWERS)(partial(view_of, columns))
        self._recent = lru_cache(maxsize=_RECENT)(self.record)
        self._lexical: Lexical | None = None
        self._making = Lock()

    def __len__(self) -> int:
        return len(self.columns)

    def record(self, row: int) -> Record:
        """The record at a row, decoded now."""
        starts = self.columns.starts
        return decode(self._text[starts[row] : starts[row + 1]].rstrip(b",\n"))

    def records(self) -> Iterator[Record]:
        """All records in the order of the rows, each decoded when it is reached."""
        return map(self.record, range(len(self)))

    def key_rows(self) -> Iterator[tuple[str, Rows]]:
        """The sha256 of each record's key text and the embedding row that belongs to it."""
        for key, row in zip(self.columns.keys, self.rows, strict=True):
            yield key.decode(), row

    def search(
        self,
        query: Query,
        *,
        viewer: Viewer,
        fused: bool = False,
        floored: bool = True,
        accept: Callable[[Record], str | None] | None = None,
    ) -> Found:
        """The best records for a query among those that ``viewer`` may see.

        Args:
            query: the text, how many, and what must be equal: ``tool``, or members of the body. With a
                draw they are taken in the order that its seed draws, whatever ``fused`` and ``floored``.
            viewer: who asks; there is no default.
            fused: order by reciprocal rank fusion of the cosine with BM25; a score stays the cosine.
            floored: leave out records whose cosine is under the floor.
            accept: takes a candidate with ``None``, or passes it over with a reason, which it keeps if it wants to know
                later; the next one is tried.

        Raises:
            LeakageError: the viewer looks across a split, and the shelf holds a family that is no train family.
            EmbedderDoesNotMatch, ClientError: the query could not be embedded as the shelf was.
        """
        view = self._view(viewer, query.where.get(_TOOL))
        considered = len(view.seen)
        if not considered:
            return Found((), 0, 0, None, view.excluded)
        asked = self._ask(query.text)
        floor = self.floor if floored else -np.inf
        if query.draw is not None:
            ranking = by_draw(self.rows, view.seen, asked, self.columns.ids, query.draw.seed)
        elif fused:
            words = self._words().scores(query.text)
            ranking = by_fusion(self.rows, view.seen, asked, words, self._by_id, floor=floor)
        else:
            scores, first = view.cosines(self.rows, asked), max(query.k, 1)
            ranking = by_cosine(scores, considered, self.rows, asked, lambda: self._by_id, first=first, floor=floor)
        hits = self._take(ranking.candidates, query, accept)
        return Found(hits, considered, ranking.below, ranking.best, view.excluded)

    def _take(
        self, candidates: Iterator[tuple[int, float]], query: Query, accept: Callable[[Record], str | None] | None
    ) -> tuple[Hit, ...]:
        """Walk candidates in order until ``k`` are taken; a record is decoded when it is reached."""
        members = [(name, value) for name, value in query.where.items() if name != _TOOL]
        hits: list[Hit] = []
        while len(hits) < query.k and (found := next(candidates, None)):
            record = self._recent(found[0])
            if any(record.body.get(name) != value for name, value in members):
                continue
            if accept is None or accept(record) is None:
                hits.append(Hit(record, found[1]))
        return tuple(hits)

    @cached_property
    def _by_id(self) -> npt.NDArray[np.intp]:
        """The rank of each row by record id, which breaks ties."""
        ranks = np.empty(len(self), np.intp)
        ranks[np.argsort(self.columns.ids)] = np.arange(len(self))
        return ranks

    def _words(self) -> Lexical:
        """The BM25 index, made at the first question that needs it."""
        with self._making:
            if self._lexical is None:
                self._lexical = Lexical(record.key for record in self.records())
            return self._lexical
