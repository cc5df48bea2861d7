"""Memories of our own making: tiny tiers, records written by hand, published by the real store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from amd.build.distill import distill
from amd.exclusion import instruction_sha256
from amd.json_text import JSON, digest
from amd.methods import method_named
from amd.records import Record, RecordSource, RecordTask, record_id
from amd.store import Contents, Memory, Run, ShelfContents, open_memory, publish
from amd.testing import StubEmbedder, run
from amd.tier import RULES, Hit, Part, Query, Question, Style, Tier
from amd.trajectory import Trajectory

CREATED = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class Tiny:
    """A tier that is asked at the moments it is told, shows each body's text, and finds a tool's records by name."""

    name: str = "workflow"
    moments: tuple[str, ...] = ("task",)
    k: int = 1
    floored: bool = True
    fused: bool = False
    extra: tuple[Part, ...] = ()
    heading: str = "Notes:"
    accepts: frozenset[bool] = field(default=frozenset({True}))
    needs_calls: bool = False

    def distill(self, *_: object) -> Sequence[object]:
        """Nothing: records are written by hand here."""
        return ()

    def ask(self, question: Question) -> Sequence[Query]:
        """Each label or the text; a failed call's tool must match."""
        if question.at not in self.moments:
            return ()
        where = {"tool": question.failed.tool} if question.failed else {}
        return [Query(text, self.k, where) for text in question.labels or (question.text,)]

    def render(self, hits: Sequence[Hit], question: Question, style: Style) -> Sequence[Part]:
        """The text of each body, with its example if it has one, then the extra parts."""
        parts = [self._part(hit) for hit in hits]
        return [*parts, *self.extra]

    def gist(self, record: Record) -> str:
        """The text of the body."""
        return str(record.body["text"])

    def _part(self, hit: Hit) -> Part:
        example = hit.record.body.get("example")
        pair = (str(example[0]), str(example[1])) if isinstance(example, list) else None
        return Part(str(hit.record.body["text"]), hit.record.id, pair)


def make_record(
    number: int,
    key: str,
    text: str | None = None,
    *,
    tier: str = "workflow",
    benchmark: str = "demo",
    instruction: str | None = None,
    tool: str | None = None,
    schemas: Mapping[str, str] | None = None,
    **body: JSON,
) -> Record:
    """The record of task ``demo_multi_{number}`` of family ``fam-{number}``; its instruction is its key by default."""
    task_id, whole = f"{benchmark}_multi_{number}", {"text": text or key, **body}
    return Record(
        id=record_id(tier, benchmark, task_id, key, whole),
        tier=tier,
        key=key,
        body=whole,
        task=RecordTask(benchmark, task_id, f"fam-{number}", instruction_sha256(instruction or key)),
        source=RecordSource("teacher", "run", "teacher", digest(task_id.encode()), (1, 1)),
        distiller="rules",
        created_at=CREATED,
        tool=tool,
        schemas=schemas or {},
    )


def _run_of(record: Record) -> Run:
    """The admitted run that a record is of."""
    task, source = record.task, record.source
    return Run(
        benchmark=task.benchmark,
        task_id=task.task_id,
        family=task.family,
        instruction_sha256=task.instruction_sha256,
        trajectory_sha256=source.trajectory_sha256,
        teacher=source.teacher,
        run_id=source.run_id,
        kind=source.kind,
        success=True,
        calls=3,
        failed_calls=0,
        distiller="rules",
        prompts="",
    )


def remember_at(
    path: Path,
    records: Iterable[Record],
    *,
    benchmark: str = "demo",
    tiers: Sequence[str] = (),
    floors: Mapping[str, float],
) -> Path:
    """Publish records by their tiers."""
    embedder = StubEmbedder()
    shelves: dict[str, list[Record]] = {tier: [] for tier in tiers}
    runs = set()
    for record in records:
        shelves.setdefault(record.tier, []).append(record)
        runs.add(_run_of(record))
    contents = Contents(
        method="amd",
        benchmark=benchmark,
        embedder_id=embedder.id,
        width=embedder.width,
        embedder_floor=embedder.floor,
        floored=frozenset(shelves) - {"function"},
        pinned_floors=floors,
        all_trials=False,
        runs=sorted(runs, key=repr),
        read=len(runs),
        refused={},
        distiller={"id": "rules", "prompts": ""},
        costs={},
        terms=None,
        shelves={
            tier: ShelfContents(of_tier, embedder.embed([record.key for record in of_tier]))
            for tier, of_tier in shelves.items()
        },
    )
    publish(path, lambda _: contents)
    return path


@pytest.fixture
def tiny() -> type[Tiny]:
    """The class of tiny tiers."""
    return Tiny


@pytest.fixture
def record() -> Callable[..., Record]:
    """How a record is written by hand."""
    return make_record


@pytest.fixture
def remember(tmp_path: Path) -> Callable[..., Memory]:
    """Publish records and open them: ``remember(records, benchmark=..., tiers=..., floors=...)``."""

    def remembered(
        records: Iterable[Record],
        *,
        benchmark: str = "demo",
        tiers: Sequence[str] = (),
        floors: Mapping[str, float] | None = None,
    ) -> Memory:
        place = tmp_path / f"memory-{len(list(tmp_path.iterdir()))}"
        remember_at(place, records, benchmark=benchmark, tiers=tiers, floors=floors or {})
        return open_memory(place, embedder=StubEmbedder())

    return remembered


@pytest.fixture
def distilled() -> Callable[..., list[Record]]:
    """The records that the real tiers write from runs, by the rules."""

    def records(runs: Iterable[Trajectory], tiers: Sequence[Tier] = method_named("amd").tiers) -> list[Record]:
        by_tier = distill(list(runs), tiers, RULES, created_at=CREATED).records
        return [each for of_tier in by_tier.values() for each in of_tier.values()]

    return records


@pytest.fixture
def runs() -> list[Trajectory]:
    """Five made-up runs of five tasks."""
    return [run(i) for i in range(5)]
