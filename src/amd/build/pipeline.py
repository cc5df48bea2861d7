"""The teacher's side from end to end: gate, distill, embed, publish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import numpy as np

from amd.build.distill import Distilled, distill
from amd.build.embed import embed_new
from amd.build.gate import Gate, admit
from amd.build.merge import Merged, merge_records, merge_runs, run_of
from amd.build.report import BuildReport, Options, Progress, Stopwatch
from amd.chat import Embedder, Rows
from amd.errors import ConfigError, EmbedderDoesNotMatch, StoreError, TrajectoryError
from amd.json_text import digest
from amd.methods import Method, method_named
from amd.records import Record
from amd.store import Contents, Memory, Published, Run, ShelfContents, check_place, is_memory, publish, read_memory
from amd.tier import RULES, Writer
from amd.traces import Note
from amd.trajectory import Refusal, Trajectory

__all__ = ["build_memory"]

Item = TypeVar("Item")


def build_memory(
    runs: Iterable[Trajectory | Refusal | Note],
    out: str | Path,
    *,
    embedder: Embedder,
    writer: Writer = RULES,
    options: Options | None = None,
    progress: Progress | None = None,
) -> BuildReport:
    """Build a memory from what a reader gives, or add to the one at ``out``.

    Raises ``StoreError`` if ``out`` holds anything but a memory, ``ConfigError`` if the input and the memory
    contradict each other, ``TrajectoryError`` if ``options.strict`` and something was unreadable, and what the
    embedder raises. In each case what was published before is untouched.
    """
    options, report = options or Options(), progress or _silent
    place, watch = Path(out), Stopwatch()
    method = method_named(options.method)
    check_place(place)
    _check_floors(options, method)
    with watch.stage("read"):
        gate = admit(
            _walk("read", runs, report),
            all_trials=options.all_trials,
            split=options.split,
            assume_unassisted=options.assume_unassisted,
        )
    if options.strict:
        _refuse_unreadable(gate)
    with ExitStack() as stack:
        current = None
        if is_memory(place):
            current = stack.enter_context(read_memory(place, pin=options.pin))
            _check_embedder(current, embedder)
        if not gate.admitted:
            return _nothing_admitted(gate, current, watch)
        addition = _Addition(gate, method, writer, embedder, options)
        addition.wanted = frozenset(run.trajectory_sha256 for run in addition.merge(current).written)
        chosen = [run for run in gate.admitted if run.sha256 in addition.wanted]
        with watch.stage("distill"):
            now = datetime.now(UTC).isoformat(timespec="seconds")
            addition.new = distill(_walk("distill", chosen, report), method.tiers, writer, created_at=now)
        with watch.stage("embed"):
            known = _known_rows(current)
            keys = (record.key for tier in addition.new.records.values() for record in tier.values())
            fresh = embed_new(keys, known, embedder, progress=lambda done, total: report("embed", done, total))
            addition.rows = known | fresh
        with watch.stage("publish"):
            published = publish(place, addition.compose, pin=options.pin)
        return addition.report(published, embedded=len(fresh), seconds=watch.seconds)


@dataclass(slots=True)
class _Addition:
    """What one build adds, composed with whatever is published at the moment of publishing."""

    gate: Gate
    method: Method
    writer: Writer
    embedder: Embedder
    options: Options
    wanted: frozenset[str] = frozenset()
    new: Distilled = field(default_factory=Distilled)
    rows: Mapping[str, Rows] = field(default_factory=dict)
    merged: Merged | None = None
    retired: tuple[str, ...] = ()

    def merge(self, current: Memory | None) -> Merged:
        """The runs that count if this input joins ``current``."""
        benchmark = _one_benchmark(self.gate.admitted)
        published: Sequence[Run] = ()
        if current is not None and not self.options.replace:
            _check_same("benchmark", current.manifest.benchmark, benchmark)
            _check_same("method", current.manifest.method, self.method.name)
            if self.options.all_trials and not current.manifest.all_trials:
                raise ConfigError(
                    "the memory keeps the best trial of each task, this build asks for all trials",
                    next_step="build with --all-trials into a new directory, or add --replace",
                )
            published = current.manifest.sources.runs
        runs = [run_of(run, self.writer) for run in self.gate.admitted]
        return merge_runs(published, runs, all_trials=self._all_trials(current))

    def compose(self, current: Memory | None) -> Contents:
        """The next generation, from what is published now and what this build wrote."""
        merged = self.merged = self.merge(current)
        records_of = {} if current is None or self.options.replace else _records_of(current)
        new = {tier: list(records.values()) for tier, records in self.new.records.items()}
        self._check_written(merged)
        shelves = merge_records(records_of, new, merged)
        if current is not None and self.options.replace:
            kept = {run.task_id for run in merged.runs}
            old = {run.task_id for run in current.manifest.sources.runs}
            self.retired = tuple(sorted(old - kept))
        rows = {**_known_rows(current), **self.rows}
        return Contents(
            method=self.method.name,
            benchmark=_one_benchmark(self.gate.admitted),
            embedder_id=self.embedder.id,
            width=len(next(iter(rows.values()))) if rows else 0,
            embedder_floor=self.embedder.floor,
            floored=frozenset(tier.name for tier in self.method.tiers if tier.floored),
            pinned_floors=self._pinned_floors(current),
            all_trials=self._all_trials(current),
            runs=merged.runs,
            read=self.gate.read,
            refused=self.gate.refused,
            distiller={"id": self.writer.id, "prompts": self.writer.prompts},
            costs={"model_calls": 0},
            terms=self.options.terms or (current.manifest.sources.terms if current is not None else None),
            shelves={tier: _shelf(records, rows) for tier, records in shelves.items()},
        )

    def report(self, published: Published, *, embedded: int, seconds: Mapping[str, float]) -> BuildReport:
        """What the build did."""
        assert self.merged is not None
        notes = Counter(self.gate.notes) + self.new.notes
        notes["unchanged"] += self.merged.unchanged
        notes["superseded_published"] += len(self.merged.superseded)
        notes["outdone_by_published"] += len(self.merged.outdone)
        return BuildReport(
            read=self.gate.read,
            admitted=len(self.gate.admitted),
            refused=self.gate.refused,
            refusals=self.gate.refusals,
            notes={name: count for name, count in sorted(notes.items()) if count},
            records={name: shelf.rows for name, shelf in published.manifest.shelves.items()},
            embedded=embedded,
            model_calls=0,
            generation=published.manifest.generation,
            digest=published.manifest.content,
            seal=published.manifest.seal,
            changed=published.changed,
            retired=self.retired,
            moved_floors=published.moved_floors,
            seconds=seconds,
        )

    def _all_trials(self, current: Memory | None) -> bool:
        kept = current is not None and not self.options.replace and current.manifest.all_trials
        return self.options.all_trials or kept

    def _pinned_floors(self, current: Memory | None) -> dict[str, float]:
        floors = {} if current is None else current.manifest.floors
        kept = {tier: floor.value for tier, floor in floors.items() if floor.source == "pinned"}
        return {**kept, **self.options.floors}

    def _check_written(self, merged: Merged) -> None:
        """Another builder may have taken out, meanwhile, a run that was there when this build began."""
        missing = [run.task_id for run in merged.written if run.trajectory_sha256 not in self.wanted]
        if missing:
            raise StoreError(
                f"the memory changed while this build ran: {len(missing)} runs, first of task {missing[0]!r}, are gone",
                next_step="run the same build again",
                missing=missing,
            )


def _shelf(records: Sequence[Record], rows: Mapping[str, Rows]) -> ShelfContents:
    matrix = [rows[digest(record.key.encode())] for record in records]
    width = len(next(iter(rows.values()))) if rows else 0
    return ShelfContents(records, np.asarray(matrix, np.float32).reshape(len(records), width))


def _records_of(memory: Memory) -> dict[str, Iterator[Record]]:
    return {name: shelf.records() for name, shelf in memory.shelves.items()}


def _known_rows(memory: Memory | None) -> dict[str, Rows]:
    """The rows that a memory has already, by the sha256 of their text."""
    return {} if memory is None else {sha: row for shelf in memory.shelves.values() for sha, row in shelf.key_rows()}


def _one_benchmark(runs: Sequence[Trajectory]) -> str:
    names = sorted({run.task.benchmark for run in runs})
    if len(names) > 1:
        raise ConfigError(
            f"the input has runs of {len(names)} benchmarks: {', '.join(names)}",
            next_step="build a memory for each benchmark",
            benchmarks=names,
        )
    return names[0]


def _check_same(what: str, stored: str, given: str) -> None:
    if stored != given:
        raise ConfigError(
            f"the memory's {what} is {stored!r}, this build's is {given!r}",
            next_step="build into another directory, or add --replace",
            stored=stored,
            given=given,
        )


def _check_embedder(memory: Memory, embedder: Embedder) -> None:
    """By its id alone: asking it for a text would cost a call. The width is checked by the first rows it gives."""
    stored = memory.manifest.embedder.id
    if stored != embedder.id:
        raise EmbedderDoesNotMatch(
            f"the memory was embedded by {stored!r}, the embedder given is {embedder.id!r}",
            next_step=f"build with --embedder {stored}, or run: amd reindex {memory.path} --embedder {embedder.id}",
            stored=stored,
            given=embedder.id,
        )


def _check_floors(options: Options, method: Method) -> None:
    floored = [tier.name for tier in method.tiers if tier.floored]
    unknown = sorted(set(options.floors) - set(floored))
    if unknown:
        raise ConfigError(
            f"the method {method.name!r} has no floor for {', '.join(unknown)}",
            next_step=f"pin one of: {', '.join(floored) or 'none'}",
            unknown=unknown,
        )


def _refuse_unreadable(gate: Gate) -> None:
    bad = [refusal for refusal in gate.refusals if refusal.reason == "unreadable"]
    if bad:
        raise TrajectoryError(
            f"{bad[0].where}: {bad[0].detail} ({len(bad)} unreadable in all)",
            next_step="mend the input, or build without --strict",
            unreadable=len(bad),
        )


def _nothing_admitted(gate: Gate, current: Memory | None, watch: Stopwatch) -> BuildReport:
    shelves = {} if current is None else {name: len(shelf) for name, shelf in current.shelves.items()}
    return BuildReport(
        read=gate.read,
        admitted=0,
        refused=gate.refused,
        refusals=gate.refusals,
        notes=gate.notes,
        records=shelves,
        embedded=0,
        model_calls=0,
        generation=current.manifest.generation if current else 0,
        digest=current.manifest.content if current else "",
        seal=current.manifest.seal if current else "",
        changed=False,
        retired=(),
        moved_floors={},
        seconds=watch.seconds,
    )


def _silent(stage: str, done: int, total: int) -> None:
    """Tell nobody."""


def _walk(stage: str, items: Iterable[Item], report: Progress) -> Iterator[Item]:
    total = len(items) if isinstance(items, Sequence) else 0
    for done, item in enumerate(items, start=1):
        yield item
        report(stage, done, total)
