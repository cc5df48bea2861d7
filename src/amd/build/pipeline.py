"""The teacher's side from end to end: gate, distill, embed, publish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from amd.build.addition import Addition, known_rows
from amd.build.distill import distill
from amd.build.embed import embed_new
from amd.build.gate import Gate, admit
from amd.build.plan import BuildPlan, PlanWriter
from amd.build.report import BuildReport, Options, Progress, Stopwatch
from amd.build.terms import check_families, check_floors, check_method, check_workers, refuse_unreadable
from amd.chat import Embedder
from amd.methods import Method, method_named
from amd.store import Manifest, Memory, Published, check_place, is_memory, publish, read_memory
from amd.store.manifest import check_pin
from amd.tier import RULES, Writer
from amd.traces import Note
from amd.trajectory import Refusal, Trajectory

__all__ = ["build_memory", "plan_build"]

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

    Nothing is published before the end, and nothing at all if no run is admitted. Building the same input twice
    changes nothing.

    Args:
        runs: trajectories, refusals and notes, as a reader yields them.
        out: the memory directory, new or to be added to.
        embedder: what embeds the keys (:func:`amd.load_embedder`).
        writer: who finds the words of records; without one the rules do, from the calls alone.
        options: how to build.
        progress: called with a stage, how much is done, and how much there is (0: not known).

    Raises:
        StoreError: ``out`` holds anything but a memory, or the memory is not what its manifest or the pin says.
        ConfigError: the input, the options and the memory contradict each other.
        TrajectoryError: ``options.strict``, and something was unreadable.
        ClientError: the embedder's service failed.

    >>> import tempfile
    >>> from amd.embedders import load_embedder
    >>> from amd.testing import run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = build_memory([run(1), run(2, success=None)], folder, embedder=load_embedder("hash"))
    >>> report.admitted, dict(report.refused), dict(report.records)
    (1, {'unscored': 1}, {'function': 9, 'subtask': 3, 'workflow': 1})
    """
    options, report = options or Options(), progress or _silent
    place, watch = Path(out), Stopwatch()
    with _begun(runs, place, embedder, writer, options, watch, report) as (gate, current, addition):
        if addition is None:
            return _nothing_admitted(gate, current, watch.seconds)
        embedded = _write(addition, current, watch, report)
        with watch.stage("publish"):
            published = publish(place, addition.compose, pin=options.pin)
        writer.settle()
        return _report(addition, published, embedded=embedded, seconds=watch.seconds)


def plan_build(
    runs: Iterable[Trajectory | Refusal | Note],
    out: str | Path,
    *,
    embedder: Embedder,
    writer: PlanWriter,
    options: Options | None = None,
    progress: Progress | None = None,
) -> BuildPlan:
    """What :func:`build_memory` would ask a model for, without asking, embedding or writing anything.

    Raises:
        AmdError: what the build itself would raise before it asks for anything.
    """
    options, report = options or Options(), progress or _silent
    with _begun(runs, Path(out), embedder, writer, options, Stopwatch(), report) as (gate, current, addition):
        chosen = _chosen(addition, current) if addition else []
        if addition:
            distill(chosen, addition.method.tiers, writer, created_at="", only=addition.merged.retried)
        return BuildPlan(gate.read, len(gate.admitted), len(chosen), writer.items())


@contextmanager
def _begun(
    runs: Iterable[Trajectory | Refusal | Note],
    place: Path,
    embedder: Embedder,
    writer: Writer,
    options: Options,
    watch: Stopwatch,
    report: Progress,
) -> Iterator[tuple[Gate, Memory | None, Addition | None]]:
    """The runs through the gate, what is published, and how they join it: nothing where none was admitted."""
    method = method_named(options.method, reasoning=options.reasoning, include_failures=options.include_failures)
    check_place(place)
    check_method(method)
    check_floors(options, method)
    check_workers(options.workers)
    if not is_memory(place):
        check_pin(None, options.pin, place)
    with watch.stage("read"):
        gate = _gate(_walk("read", runs, report), method, options)
    with ExitStack() as stack:
        current = stack.enter_context(read_memory(place, pin=options.pin)) if is_memory(place) else None
        addition = Addition(gate, method, writer, embedder, options) if gate.admitted else None
        yield gate, current, addition


def _chosen(addition: Addition, current: Memory | None) -> list[Trajectory]:
    """The runs that must be written."""
    wanted = addition.prepare(current)
    return [run for run in addition.gate.admitted if run.sha256 in wanted]


def _gate(runs: Iterable[Trajectory | Refusal | Note], method: Method, options: Options) -> Gate:
    """What is admitted; failures only if a tier of the method accepts them."""
    gate = admit(
        runs,
        all_trials=options.all_trials,
        split=options.split,
        assume_unassisted=options.assume_unassisted,
        include_failures=any(False in tier.accepts for tier in method.tiers),
    )
    if options.strict:
        refuse_unreadable(gate)
    check_families(gate.admitted)
    return gate


def _write(addition: Addition, current: Memory | None, watch: Stopwatch, report: Progress) -> int:
    """Fill in the records and rows of the runs that must be written; how many rows are new."""
    chosen = _chosen(addition, current)
    writer, embedder = addition.writer, addition.embedder
    with watch.stage("distill"):
        asked, now = sum(writer.calls.values()), datetime.now(UTC).isoformat(timespec="seconds")
        addition.new = distill(
            chosen,
            addition.method.tiers,
            writer,
            created_at=now,
            workers=addition.options.workers,
            only=addition.merged.retried,
            progress=lambda done, total: report("distill", done, total),
        )
        addition.model_calls = sum(writer.calls.values()) - asked
    with watch.stage("embed"):
        known = known_rows(current) if current and current.manifest.embedder.id == embedder.id else {}
        keys = (record.key for tier in addition.new.records.values() for record in tier.values())
        notes = addition.new.notes
        fresh = embed_new(keys, known, embedder, notes=notes, progress=lambda done, total: report("embed", done, total))
        addition.rows = known | fresh
    return len(fresh)


def _report(addition: Addition, published: Published, *, embedded: int, seconds: Mapping[str, float]) -> BuildReport:
    gate, merged = addition.gate, addition.merged
    notes = Counter(gate.notes) + addition.new.notes
    notes["unchanged"] += merged.unchanged
    notes["rewritten"] += merged.rewritten
    notes["superseded_published"] += len(merged.superseded)
    notes["outdone_by_published"] += len(merged.outdone)
    return BuildReport(
        read=gate.read,
        admitted=len(gate.admitted),
        refused=gate.refused,
        refusals=gate.refusals,
        notes={name: count for name, count in sorted(notes.items()) if count},
        embedded=embedded,
        model_calls=addition.model_calls,
        costs=addition.writer.costs,
        changed=published.changed,
        retired=addition.retired,
        moved_floors=published.moved_floors,
        seconds=seconds,
        **_published(published.manifest),
    )


def _nothing_admitted(gate: Gate, current: Memory | None, seconds: Mapping[str, float]) -> BuildReport:
    return BuildReport(
        read=gate.read,
        admitted=0,
        refused=gate.refused,
        refusals=gate.refusals,
        notes=gate.notes,
        embedded=0,
        model_calls=0,
        costs={},
        changed=False,
        retired=(),
        moved_floors={},
        seconds=seconds,
        **_published(current.manifest if current else None),
    )


def _published(manifest: Manifest | None) -> dict[str, Any]:
    """The figures of a report that tell what is published now."""
    if manifest is None:
        return {"records": {}, "generation": 0, "digest": "", "seal": "", "terms": None}
    records = {name: shelf.rows for name, shelf in manifest.shelves.items()}
    return {
        "records": records,
        "generation": manifest.generation,
        "digest": manifest.content,
        "seal": manifest.seal,
        "terms": manifest.sources.terms,
    }


def _silent(stage: str, done: int, total: int) -> None:
    """Tell nobody."""


def _walk(stage: str, items: Iterable[Item], report: Progress) -> Iterator[Item]:
    total = len(items) if isinstance(items, Sequence) else 0
    for done, item in enumerate(items, start=1):
        yield item
        report(stage, done, total)
