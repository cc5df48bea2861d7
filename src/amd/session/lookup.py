"""One question to one tier: its queries, the search behind the viewer, and what is left after passing over.

This is the only caller of ``Shelf.search``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from amd.errors import LeakageError
from amd.exclusion import Viewer
from amd.json_text import digest
from amd.mask import mask_query
from amd.records import Record
from amd.session.agreement import Gist, collapse
from amd.session.offer import Offer
from amd.tier import Hit, Query, Question, Tier

if TYPE_CHECKING:  # a session is handed an open memory, so it need not load what opening one needs
    from amd.store.shelf import Found, Shelf

__all__ = ["NEIGHBOURS", "Answer", "look_up", "masked_queries", "queries_sha256", "refuse_leak"]

NEIGHBOURS = 50
"""How many of the nearest records are looked at to see how many agree."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tier found for a question, over all its queries; the counts are those of ``Exposure``.

    All queries of a question walk the same shelf: ``considered`` and ``excluded`` are the most that one query saw,
    ``below_floor`` the least, ``best`` the best.
    """

    hits: tuple[Hit, ...] = ()
    considered: int = 0
    below_floor: int = 0
    best: float | None = None
    excluded: Mapping[str, int] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Walk:
    """Judges the candidates of one query in rank order, and remembers each verdict."""

    tier: Tier
    offer: Offer
    shown: Sequence[Hit]
    verdicts: list[tuple[str, str | None]] = field(default_factory=list)

    def __call__(self, record: Record) -> str | None:
        verdict = self.offer.why_unfit(record) or self._why_again(record)
        self.verdicts.append((record.id, verdict))
        return verdict

    def _why_again(self, record: Record) -> str | None:
        """Whether an earlier query of the same question already showed this record, or one with the same words."""
        if any(hit.record.id == record.id for hit in self.shown):
            return "repeated"
        said = Gist.of(self.tier.gist(record)) if self.shown else None
        same = any(Gist.of(self.tier.gist(hit.record)) == said for hit in self.shown)
        return "near_duplicate" if same else None

    def passed_over(self, chosen: Sequence[Hit], k: int) -> Counter[str]:
        """The reasons for which better-ranked candidates were passed over; all of them if ``k`` were not found."""
        counted = self.verdicts
        if len(chosen) == k:
            last = chosen[-1].record.id
            counted = counted[: [record_id for record_id, _ in counted].index(last)]
        return Counter(verdict for _, verdict in counted if verdict is not None)


def masked_queries(tier: Tier, question: Question) -> tuple[Query, ...]:
    """The queries of a tier, their texts as masked as the keys are; blank ones are left out."""
    queries = (replace(query, text=mask_query(query.text)) for query in tier.ask(question))
    return tuple(query for query in queries if query.text.strip())


def queries_sha256(queries: Sequence[Query]) -> str:
    """The digest of the masked query texts, joined by line ends."""
    return digest("\n".join(query.text for query in queries).encode())


def look_up(tier: Tier, shelf: Shelf, queries: Sequence[Query], *, viewer: Viewer, offer: Offer) -> Answer:
    """Ask the shelf each query in order; a record is chosen once for a question, whatever the number of queries.

    For a query with a draw as many are drawn as it finds itself, so that a draw is silent where the tier would be.
    """
    hits: list[Hit] = []
    found_first: list[Hit] = []
    dropped: Counter[str] = Counter()
    founds: list[Found] = []
    for query in queries:
        plain = replace(query, draw=None)
        chosen, found, passed = _search(tier, shelf, plain, found_first, viewer=viewer, offer=offer)
        found_first += chosen
        if query.draw is not None and chosen:
            drawn = replace(query, k=len(chosen), where=query.draw.where)
            chosen, found, passed = _search(tier, shelf, drawn, hits, viewer=viewer, offer=offer)
        hits += chosen
        founds.append(found)
        dropped += passed
    if not founds:
        return Answer()
    return Answer(
        tuple(hits),
        considered=max(found.considered for found in founds),
        below_floor=min(found.below_floor for found in founds),
        best=max((found.best for found in founds if found.best is not None), default=None),
        excluded={
            reason: max(found.excluded.get(reason, 0) for found in founds)
            for reason in sorted({reason for found in founds for reason in found.excluded})
        },
        dropped=dropped,
    )


def _search(
    tier: Tier, shelf: Shelf, query: Query, shown: Sequence[Hit], *, viewer: Viewer, offer: Offer
) -> tuple[tuple[Hit, ...], Found, Counter[str]]:
    """What one query finds that ``shown`` does not say already, and why better-ranked records were passed over."""
    walk = _Walk(tier, offer, tuple(shown))
    wide = replace(query, k=max(query.k, NEIGHBOURS))
    found = shelf.search(wide, viewer=viewer, fused=tier.fused, floored=tier.floored, accept=walk)
    chosen, fallen = collapse(found.hits, tier.gist, query.k)
    return chosen, found, walk.passed_over(chosen, query.k) + Counter(near_duplicate=fallen)


def refuse_leak(hits: Sequence[Hit], viewer: Viewer) -> None:
    """Raise if an excluding viewer is about to be shown its own family or text, whatever the search believed.

    Raises:
        LeakageError: always a fault of this library or of a damaged memory, never of a student.
    """
    if viewer.task is None:
        return
    task = viewer.task
    for hit in hits:
        source = hit.record.task
        if viewer.why_hidden(source.family, source.instruction_sha256):
            raise LeakageError(
                f"task {task.task_id!r} of family {task.family!r} would be shown record {hit.record.id} "
                f"of task {source.task_id!r} of family {source.family!r}",
                next_step="stop the run and run: amd check DIR",
                task_id=task.task_id,
                family=task.family,
                record_id=hit.record.id,
                record_family=source.family,
            )
