"""Tiers that ask differently: the same shelf and the same words, with more records, or with records drawn at random.

``Drawn`` is the control for length: what it shows is rendered, laid out and cut as ever, as many records as the tier
itself would have shown, but such as no question chose. A tier is blind, so it only says that a query is to be drawn;
the session adds the task and the place, and the shelf draws among what the viewer may see.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from amd.evidence import Evidence
from amd.json_text import JSON
from amd.records import Record
from amd.tier import Draft, Draw, Hit, Part, Prompt, Query, Question, Style, Tier, Writer
from amd.trajectory import Trajectory

__all__ = ["Drawn", "Wider"]

_OF_THE_QUESTION = ("tool", "error_class", "category")  # what a query demands because of what was asked


@dataclass(frozen=True, slots=True)
class _Asked:
    """Another tier in all but how it asks."""

    tier: Tier

    @property
    def name(self) -> str:
        return self.tier.name

    @property
    def heading(self) -> str:
        return self.tier.heading

    @property
    def accepts(self) -> Collection[bool]:
        return self.tier.accepts

    @property
    def prompts(self) -> Sequence[Prompt[Any]]:
        return self.tier.prompts

    @property
    def needs_calls(self) -> bool:
        return self.tier.needs_calls

    @property
    def fused(self) -> bool:
        return self.tier.fused

    @property
    def floored(self) -> bool:
        return self.tier.floored

    def distill(self, run: Trajectory, evidence: Evidence, writer: Writer) -> Sequence[Draft]:
        return self.tier.distill(run, evidence, writer)

    def ask(self, question: Question) -> Sequence[Query]:
        return self.tier.ask(question)

    def render(self, hits: Sequence[Hit], question: Question, style: Style) -> Sequence[Part]:
        return self.tier.render(hits, question, style)

    def gist(self, record: Record) -> str:
        return self.tier.gist(record)

    def fault(self, body: Mapping[str, JSON]) -> str | None:
        return self.tier.fault(body)


@dataclass(frozen=True, slots=True)
class Wider(_Asked):
    """A tier of which each query asks for ``k`` records.

    >>> from amd.baselines.memp import MempTier
    >>> [query.k for query in Wider(MempTier(), 3).ask(Question("task", "Move it."))]
    [3]
    """

    k: int = 1

    def ask(self, question: Question) -> Sequence[Query]:
        """The tier's own queries, each for ``k`` records."""
        return [replace(query, k=self.k) for query in self.tier.ask(question)]


@dataclass(frozen=True, slots=True)
class Drawn(_Asked):
    """A tier whose records are drawn at random by ``seed``: as many as it would have shown, and where it would have.

    What a query demands because of the question (a tool, a class of error, a category) is not demanded of what is
    drawn; what its rendering needs (a call, a pitfall) still is.

    >>> from amd.baselines.sasm import SasmTier
    >>> [(query.where, query.draw) for query in Drawn(SasmTier(), 7).ask(Question("task", "Send it."))]
    [({'category': 'execute'}, Draw(seed='7', where={}))]
    """

    seed: int = 0

    def ask(self, question: Question) -> Sequence[Query]:
        """The tier's own queries, and what is drawn instead of what they find."""
        return [replace(query, draw=Draw(str(self.seed), _needed(query.where))) for query in self.tier.ask(question)]


def _needed(where: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in where.items() if name not in _OF_THE_QUESTION}
