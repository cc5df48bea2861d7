"""What one build adds, composed with whatever is published at the moment of publishing.

Between the start of a build and its end another builder may publish. So what counts is decided twice, by the same
rule: once to know what must be written and embedded, and once under the lock, against what is published then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from amd.build.distill import Distilled
from amd.build.gate import Gate
from amd.build.merge import Merged, merge_records, merge_runs, run_of
from amd.build.report import Options
from amd.build.terms import check_joins, one_benchmark
from amd.chat import Embedder, Rows
from amd.errors import StoreError
from amd.json_text import digest
from amd.methods import Method
from amd.records import Record
from amd.store import Contents, Memory, Run, ShelfContents
from amd.tier import Writer

__all__ = ["Addition", "known_rows"]


@dataclass(slots=True)
class Addition:
    """One build's runs, then their records and rows, and how they join a memory.

    ``prepare`` decides which runs must be written; ``new`` and ``rows`` are filled in between; ``compose`` is what
    the store calls under its lock. ``merged`` is what was decided last.
    """

    gate: Gate
    method: Method
    writer: Writer
    embedder: Embedder
    options: Options
    new: Distilled = field(default_factory=Distilled)
    rows: Mapping[str, Rows] = field(default_factory=dict)
    model_calls: int = 0
    merged: Merged = field(init=False)
    retired: tuple[str, ...] = ()
    _runs: tuple[Run, ...] = field(init=False)
    _wanted: frozenset[str] = field(init=False)
    _benchmark: str = field(init=False)

    def __post_init__(self) -> None:
        """Find the one benchmark of the input."""
        self._benchmark = one_benchmark(self.gate.admitted)
        self._runs = tuple(run_of(run, self.writer) for run in self.gate.admitted)

    def prepare(self, current: Memory | None) -> frozenset[str]:
        """The hashes of the runs that must be written if this input joins ``current``."""
        self._merge(current)
        self._wanted = frozenset(run.trajectory_sha256 for run in self.merged.written)
        return self._wanted

    def compose(self, current: Memory | None) -> Contents:
        """The next generation: what is published now, and what this build wrote."""
        self._merge(current)
        self._check_written()
        joined = self._joined(current)
        published = {} if joined is None else {name: shelf.records() for name, shelf in joined.shelves.items()}
        new = {tier: list(records.values()) for tier, records in self.new.records.items()}
        shelves = merge_records(published, new, self.merged)
        rows = {**known_rows(joined), **self.rows}
        width = len(next(iter(rows.values()))) if rows else 0
        return Contents(
            method=self.method.memory,
            benchmark=self._benchmark,
            embedder_id=self.embedder.id,
            width=width,
            embedder_floor=self.embedder.floor,
            floored=frozenset(tier.name for tier in self.method.tiers if tier.floored),
            pinned_floors=self._pinned_floors(joined),
            all_trials=self.options.all_trials or (joined is not None and joined.manifest.all_trials),
            runs=self.merged.runs,
            read=self.gate.read,
            refused=self.gate.refused,
            distiller={"id": self.writer.id, "prompts": self.writer.prompts},
            costs={"model_calls": self.model_calls, **self.writer.costs},
            terms=self._terms(joined),
            shelves={tier: _shelf(records, rows, width) for tier, records in shelves.items()},
        )

    def _terms(self, joined: Memory | None) -> str | None:
        """What this build was told, or what the published memory and the admitted runs say, each sentence once."""
        if self.options.terms:
            return self.options.terms
        known = joined.manifest.sources.terms if joined is not None else None
        said = [known] if known else []
        for run in self.gate.admitted:
            if run.source.terms and not any(run.source.terms in other for other in said):
                said.append(run.source.terms)
        return " ".join(said) or None

    def _joined(self, current: Memory | None) -> Memory | None:
        """The memory that this build adds to: none if it replaces."""
        return None if self.options.replace else current

    def _merge(self, current: Memory | None) -> None:
        joined = self._joined(current)
        published: Sequence[Run] = ()
        all_trials = self.options.all_trials
        if joined is not None:
            check_joins(
                joined, benchmark=self._benchmark, method=self.method, embedder=self.embedder, options=self.options
            )
            published, all_trials = joined.manifest.sources.runs, joined.manifest.all_trials
        runs = [replace(run, fallbacks=self.new.fallbacks.get(run.trajectory_sha256, ())) for run in self._runs]
        self.merged = merge_runs(published, runs, all_trials=all_trials, retry_fallbacks=self.options.retry_fallbacks)
        if self.options.replace and current is not None:
            kept = {run.task_id for run in self.merged.runs}
            self.retired = tuple(sorted({run.task_id for run in current.manifest.sources.runs} - kept))

    def _pinned_floors(self, joined: Memory | None) -> dict[str, float]:
        floors = {} if joined is None else joined.manifest.floors
        kept = {tier: floor.value for tier, floor in floors.items() if floor.source == "pinned"}
        return {**kept, **self.options.floors}

    def _check_written(self) -> None:
        """Another builder may have taken out, meanwhile, a run that was there when this build began."""
        missing = [run.task_id for run in self.merged.written if run.trajectory_sha256 not in self._wanted]
        if missing:
            raise StoreError(
                f"the memory changed while this build ran: {len(missing)} runs, first of task {missing[0]!r}, are gone",
                next_step="run the same build again",
                missing=missing,
            )


def known_rows(memory: Memory | None) -> dict[str, Rows]:
    """The rows that a memory has already, by the sha256 of their text."""
    return {} if memory is None else {sha: row for shelf in memory.shelves.values() for sha, row in shelf.key_rows()}


def _shelf(records: Iterable[Record], rows: Mapping[str, Rows], width: int) -> ShelfContents:
    kept = list(records)
    matrix = [rows[digest(record.key.encode())] for record in kept]
    return ShelfContents(kept, np.asarray(matrix, np.float32).reshape(len(kept), width))
