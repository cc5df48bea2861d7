"""From a question to what is shown of each tier, with one exposure logged for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from amd.exclusion import Viewer
from amd.inject import neutralise
from amd.records import Exposure, Place
from amd.session.budget import Limits, fit
from amd.session.hints import FailedValues
from amd.session.lookup import Answer, look_up, masked_queries, queries_sha256, refuse_leak
from amd.session.offer import Offer
from amd.session.terms import Layout, Wording
from amd.tier import Part, Query, Question, Style, Tier
from amd.trajectory import error_class

if TYPE_CHECKING:  # a session is handed an open memory, so it need not load what opening one needs
    from amd.store.memory import Memory

__all__ = ["Asker", "Shown"]


@dataclass(frozen=True, slots=True)
class Shown:
    """What one tier shows at one place."""

    heading: str
    parts: tuple[Part, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The parts that are text."""
        return tuple(part.text for part in self.parts if part.example is None)

    @property
    def examples(self) -> tuple[tuple[str, str], ...]:
        """The parts that are earlier exchanges."""
        return tuple(part.example for part in self.parts if part.example is not None)


@dataclass(slots=True)
class Asker:
    """Asks tiers on behalf of one session, and keeps the exposures."""

    memory: Memory
    viewer: Viewer
    offer: Offer
    style: Style
    limits: Limits
    count: Callable[[str], int]
    layout: Layout
    wording: Wording
    widened: bool
    exposures: list[Exposure] = field(default_factory=list)

    def ask(self, tiers: Sequence[Tier], question: Question, place: Place) -> tuple[Shown, ...]:
        """What each tier shows for the question; a tier without a query is not asked and logs nothing."""
        return tuple(self._ask_tier(tier, question, place) for tier in tiers)

    def note(self, tier: Tier, question: Question, place: Place, *, reason: str, text: str = "") -> str:
        """Log a question for which no shelf is searched, counted by its reason; the text if its budget lasts."""
        text = self.wording(text, "note") if text else ""
        tokens = self.count(text) if text else 0
        shown = tokens <= self.limits.of(tier.name, question.at)
        sha256 = queries_sha256(masked_queries(tier, question))
        self._log(tier, place, sha256, Answer(), (), {reason: 1}, tokens if shown else 0)
        return text if shown else ""

    def _ask_tier(self, tier: Tier, question: Question, place: Place) -> Shown:
        queries = [self._seeded(query, question, place) for query in masked_queries(tier, question)]
        if not queries:
            return Shown(tier.heading)
        answer = look_up(tier, self.memory.shelves[tier.name], queries, viewer=self.viewer, offer=self.offer)
        refuse_leak(answer.hits, self.viewer)
        rendered = tier.render(answer.hits, question, self.style) if answer.hits else ()
        laid_out = [self._laid_out(part, question) for part in rendered]
        failed = FailedValues.of(question.failed.arguments if question.failed else {}, self.offer)
        parts = _unechoed(laid_out, failed)
        kept, too_long, tokens = fit(parts, tier.heading, self.limits.of(tier.name, question.at), self.count)
        dropped = {**answer.dropped, "echo": len(laid_out) - len(parts), "over_budget": too_long}
        self._log(tier, place, queries_sha256(queries), answer, kept, dropped, tokens)
        return Shown(tier.heading, kept)

    def _seeded(self, query: Query, question: Question, place: Place) -> Query:
        """A query that is to be drawn, with the task and the place in its seed: the same for the same run."""
        if query.draw is None:
            return query
        failed = question.failed
        # What the caller calls a failed call may be another name in another run; there is one hint for a kind of error.
        where = str(place) if failed is None else f"{failed.tool} {error_class(failed.error, failed.arguments)}"
        task = self.viewer.task.task_id if self.viewer.task else ""
        return replace(query, draw=replace(query.draw, seed=f"{query.draw.seed}\n{task}\n{question.at}\n{where}"))

    def _laid_out(self, part: Part, question: Question) -> Part:
        """The part as it will be read: worded, neutralised, and as text or as an example. A hint is always text."""
        if self.layout == "turns" and part.example is not None and question.at != "error":
            user, assistant = part.example
            worded = self.wording(user, "user"), self.wording(assistant, "assistant")
            return replace(part, text="", example=(neutralise(worded[0]), neutralise(worded[1])))
        return replace(part, text=neutralise(self.wording(part.text, "note")), example=None)

    def _log(
        self,
        tier: Tier,
        place: Place,
        query_sha256: str,
        answer: Answer,
        kept: Sequence[Part],
        dropped: dict[str, int],
        tokens: int,
    ) -> None:
        ids = {part.record_id for part in kept}
        hits = [hit for hit in answer.hits if hit.record.id in ids]
        task = self.viewer.task
        families = tuple(hit.record.task.family for hit in hits)
        self.exposures.append(
            Exposure(
                tier=tier.name,
                place=place,
                viewer=self.viewer.protocol,
                task_id=task.task_id if task else None,
                query_sha256=query_sha256,
                record_ids=tuple(hit.record.id for hit in hits),
                families=families,
                scores=tuple(hit.score for hit in hits),
                supports=tuple(hit.support for hit in hits),
                considered=answer.considered,
                below_floor=answer.below_floor,
                best=answer.best,
                excluded=dict(answer.excluded),
                dropped={reason: number for reason, number in sorted(dropped.items()) if number},
                own_family=families.count(task.family) if task else 0,
                tokens=tokens,
                tokens_estimated=self.limits.tokenizer is None,
                tools_known=self.offer.specs is not None,
                widened=self.widened,
            )
        )


def _unechoed(parts: Sequence[Part], failed: FailedValues) -> list[Part]:
    """The parts without those that repeat a failed value, and without what follows them of the same record."""
    kept: list[Part] = []
    lost: set[str] = set()
    for part in parts:
        if part.record_id not in lost and not failed.repeated_in(part.text):
            kept.append(part)
        elif part.record_id:
            lost.add(part.record_id)
    return kept
