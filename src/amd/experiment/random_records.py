"""The floor of every comparison: the same tier, but showing records that are drawn at random.

What is drawn is asked for by its own key, through the session like any question. So the viewer hides what it hides,
tools that the task lacks are passed over, and the budget cuts what it cuts: only the choice is chance.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from amd.evidence import Evidence
from amd.exclusion import Viewer
from amd.json_text import JSON, digest
from amd.records import Record
from amd.session.offer import Offer
from amd.tier import Draft, Hit, Part, Prompt, Query, Question, Style, Tier, Writer
from amd.trajectory import Trajectory

__all__ = ["RandomTier", "by_tool"]

_TRIES = 16


@dataclass(frozen=True, slots=True)
class RandomTier:
    """A tier whose queries are the keys of records drawn at random from those that the asking task may be shown.

    Attributes:
        inner: the tier that is imitated: as many queries, the same exact members (a hint's tool), the same words.
        pool: the records of its shelf, under ``None`` all of them and under a tool's name those of that tool.
        viewer: who asks; the session holds it too, and would refuse what this one let through.
        offer: the tools of the task.
        seed: which draw.
    """

    inner: Tier
    pool: Mapping[str | None, Sequence[Record]]
    viewer: Viewer
    offer: Offer
    seed: int

    @property
    def name(self) -> str:
        """The inner tier's shelf."""
        return self.inner.name

    @property
    def heading(self) -> str:
        """As the inner tier's."""
        return self.inner.heading

    @property
    def accepts(self) -> Collection[bool]:
        """As the inner tier's."""
        return self.inner.accepts

    @property
    def prompts(self) -> Sequence[Prompt[Any]]:
        """None: it writes nothing."""
        return ()

    @property
    def needs_calls(self) -> bool:
        """As the inner tier's."""
        return self.inner.needs_calls

    @property
    def fused(self) -> bool:
        """No: a key finds its own record by the cosine alone."""
        return False

    @property
    def floored(self) -> bool:
        """No: chance knows no floor."""
        return False

    def distill(self, run: Trajectory, evidence: Evidence, writer: Writer) -> Sequence[Draft]:  # noqa: ARG002 - protocol
        """Nothing: it only reads."""
        return ()

    def ask(self, question: Question) -> Sequence[Query]:
        """The inner tier's queries, each with the key of a drawn record as its text."""
        drawn: list[Query] = []
        for at, query in enumerate(self.inner.ask(question)):
            text = f"{self.seed} {self.inner.name} {question.at} {at} {query.text}"
            record = self._draw(text, query.where)
            # Where none may be shown the tier's own question finds none either.
            drawn.append(query if record is None else replace(query, text=record.key))
        return drawn

    def render(self, hits: Sequence[Hit], question: Question, style: Style) -> Sequence[Part]:
        """As the inner tier."""
        return self.inner.render(hits, question, style)

    def gist(self, record: Record) -> str:
        """As the inner tier."""
        return self.inner.gist(record)

    def fault(self, body: Mapping[str, JSON]) -> str | None:
        """As the inner tier."""
        return self.inner.fault(body)

    def _draw(self, text: str, where: Mapping[str, str]) -> Record | None:
        """One of the records that may be shown, each as likely as the others, by a hash of ``text``."""
        pool = self.pool.get(where.get("tool"), ())
        for number in range(_TRIES):  # mostly the first one may be shown, and nobody has to look at all of them
            record = _pick(pool, f"{number} {text}")
            if record is not None and self._may_be_shown(record, where):
                return record
        return _pick([record for record in pool if self._may_be_shown(record, where)], text)

    def _may_be_shown(self, record: Record, where: Mapping[str, str]) -> bool:
        task = record.task
        return (
            record.status == "active"
            and all(record.body.get(name) == value for name, value in where.items() if name != "tool")
            and self.viewer.why_hidden(task.family, task.instruction_sha256) is None
            and self.offer.why_unfit(record) is None
        )


def by_tool(records: Iterable[Record]) -> dict[str | None, Sequence[Record]]:
    """Records as the pool of a :class:`RandomTier`."""
    pool: dict[str | None, list[Record]] = {None: []}
    for record in records:
        pool[None].append(record)
        if record.tool is not None:
            pool.setdefault(record.tool, []).append(record)
    return {**pool}


def _pick(records: Sequence[Record], text: str) -> Record | None:
    return records[int(digest(text.encode())[:15], 16) % len(records)] if records else None
