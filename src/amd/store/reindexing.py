"""``amd reindex``: takes in what a person edited, and embeds what that changed."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from amd.chat import Embedder, Rows
from amd.embedders import load_embedder
from amd.embedders.batches import embed_batches, texts_cut
from amd.json_text import digest
from amd.store.contents import Contents, ShelfContents, prepare
from amd.store.edits import FaultIn, difference
from amd.store.figures import Run
from amd.store.files import typed
from amd.store.generation import prune, write_generation
from amd.store.manifest import check_pin, published_manifest
from amd.store.publishing import locked, moved_floors, shelf_files
from amd.store.standing import Standing, read_standing

__all__ = ["Edit", "ReindexReport", "reindex"]


@dataclass(frozen=True, slots=True)
class Edit:
    """One record that a person edited: its shelf, its id before (empty if it is new) and now, and a unified diff.

    The old side of the diff comes from the kept generation. After a first build there is none, and it lacks what the
    last build brought; then the diff says that the text before is not kept, and shows all of the record as new. Copy
    the file before you edit it to have both sides. ``what`` says what was edited, as far as the line's hashes tell.
    """

    tier: str
    old_id: str
    new_id: str
    diff: str
    what: str


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """How many texts were embedded, what is published now, each edit, and how many records a person removed.

    Of ``cut`` of the embedded texts the embedder read only the beginning.
    """

    embedded: int
    cut: int
    generation: int
    edits: tuple[Edit, ...]
    removed: int
    changed: bool
    moved_floors: Mapping[str, tuple[float, float]]
    digest: str
    seal: str


def reindex(
    path: str | os.PathLike[str],
    embedder: Embedder | None = None,
    pin: str | None = None,
    *,
    fault_in: FaultIn | None = None,
) -> ReindexReport:
    """Publish what a person edited in the records files: keys, bodies, states, schemas, lines moved, removed or copied.

    Who mends the calls of a record for a tool that has changed says so in its ``schemas``: the hash that the tool's
    schema has now, or none, and it is not judged. Left as it was, a session still passes over the record.

    Nothing else of a record can be edited: what it comes from hides it from its own task, so a line with an id must
    still have the origin that it was written with. A line added by hand, without an id, must have that of a run that
    the manifest names. A line whose hashes were all computed anew passes for untouched, unless the kept generation
    knows better: that is forgery, and only a seal that was pinned notices it.

    Each edited record gets the id of its content. A key is embedded unless lines that nobody touched, here or in the
    kept generation, agree on a row for the same text; all keys are if ``embedder`` is not the one that the memory was
    embedded by. The memory is locked while files are read and written, not while texts are embedded.

    Args:
        path: the memory.
        embedder: the embedder to use from now on; without it, the one that the manifest names.
        pin: the seal that the manifest must have; the edited files differ from it by nature.
        fault_in: what is wrong with a body, given its tier's name, or ``None``; asked about each edited line, since a
            session could not read such a record. Without it bodies are taken in as they are.

    Raises:
        StoreError: a line is broken (named), or something beside the records was edited; all stays as it was.
        WidthDoesNotMatch: the embedder's rows have another width than the memory's; all stays as it was.
        ClientError: the embedder failed; all stays as it was.
    """
    place = Path(path)
    with typed(f"run: amd check {place}"):
        check_pin(published_manifest(place), pin, place)  # before a lock is made where there is no such memory
    embedded: defaultdict[str, dict[str, Rows]] = defaultdict(dict)  # by embedder: another writer may change it
    cut: Counter[str] = Counter()  # the same
    while True:
        with locked(place), typed(f"nothing published is lost; run: amd check {place}"):
            state = read_standing(place, embedder, pin, fault_in)
            rows = embedded[state.embedder_id]
            missing = state.missing(rows)
            if not missing:
                return _publish(place, state, rows, cut[state.embedder_id])
        by = embedder or load_embedder(state.embedder_id)
        before = texts_cut(by)
        found = embed_batches(by, list(missing.values()), width=state.width(rows))
        cut[state.embedder_id] += texts_cut(by) - before
        rows |= zip(missing, found, strict=True)


def _publish(place: Path, state: Standing, embedded: Mapping[str, Rows], cut: int) -> ReindexReport:
    manifest = state.manifest
    edits = tuple(_edits(state))
    changed = state.space(embedded) != manifest.embedder or len(state.intact) < len(shelf_files(place, manifest))
    moved: Mapping[str, tuple[float, float]] = {}
    if changed:
        contents = _contents(state, embedded)
        new = write_generation(place, manifest, contents, prepare(contents), intact=state.intact)
        moved = moved_floors(manifest, new)
        manifest = new
    prune(place, manifest)
    kept = {line.stored.id for lines in state.lines.values() for line in lines if line.stored.id}
    return ReindexReport(
        embedded=len(embedded),
        cut=cut,
        generation=manifest.generation,
        edits=edits,
        removed=sum(figures.rows for figures in state.manifest.shelves.values()) - len(kept),
        changed=changed,
        moved_floors=moved,
        digest=manifest.content,
        seal=manifest.seal,
    )


def _contents(state: Standing, embedded: Mapping[str, Rows]) -> Contents:
    """What was published, with the lines as they stand now."""
    manifest, space = state.manifest, state.space(embedded)
    rows = {**state.rows, **embedded}
    shelves = {}
    for tier, lines in state.lines.items():
        matrix = [rows[digest(line.record.key.encode())] for line in lines]
        shelves[tier] = ShelfContents(
            [line.record for line in lines], np.array(matrix, np.float32).reshape(len(matrix), space.dim)
        )
    return Contents(
        method=manifest.method,
        benchmark=manifest.benchmark,
        embedder_id=space.id,
        width=space.dim,
        embedder_floor=space.floor,
        floored=frozenset(manifest.floors),
        pinned_floors={tier: floor.value for tier, floor in manifest.floors.items() if floor.source == "pinned"},
        all_trials=manifest.all_trials,
        runs=_runs(state),
        read=manifest.sources.read,
        refused=manifest.sources.refused,
        distiller=manifest.distiller,
        costs=manifest.costs,
        terms=manifest.sources.terms,
        shelves=shelves,
    )


def _runs(state: Standing) -> tuple[Run, ...]:
    """The runs; what a person edited is no fallback of the rules any more, to be written again when the model can."""
    edited = {
        (line.record.source.trajectory_sha256, tier)
        for tier, lines in state.lines.items()
        for line in lines
        if line.record.id != line.stored.id  # its key or its body: a retired record is as much a fallback as before
    }
    return tuple(
        replace(run, fallbacks=tuple(tier for tier in run.fallbacks if (run.trajectory_sha256, tier) not in edited))
        for run in state.manifest.sources.runs
    )


def _edits(state: Standing) -> list[Edit]:
    before = {(tier, line.record.id): line.record for tier, lines in state.kept.items() for line in lines}
    return [
        Edit(
            tier,
            line.stored.id,
            line.record.id,
            difference(before.get((tier, line.stored.id)), line),
            line.changes,
        )
        for tier, lines in state.lines.items()
        for line in lines
        if line.changes
    ]
