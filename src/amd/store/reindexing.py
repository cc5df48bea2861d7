"""``amd reindex``: takes in what a person edited, and embeds what that changed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from amd.chat import Embedder, Rows
from amd.embedders import load_embedder
from amd.errors import RowsDoNotMatch, StoreError
from amd.json_text import digest
from amd.records import Record
from amd.store.contents import Contents, ShelfContents, prepare
from amd.store.edits import Parsed, difference, parse_lines
from amd.store.files import read_file, typed
from amd.store.generation import prune, write_generation
from amd.store.lines import row_sha256
from amd.store.manifest import KEYS, RECORDS, EmbedderFigures, Manifest, check_pin, published_manifest
from amd.store.matrix import read_matrix
from amd.store.memory import verified
from amd.store.origins import Origins
from amd.store.place import generation_folder
from amd.store.publishing import locked, moved_floors, shelf_files

__all__ = ["Edit", "ReindexReport", "reindex"]

_BATCH = 256


@dataclass(frozen=True, slots=True)
class Edit:
    """One record that a person edited: its shelf, its id before (empty if it is new) and now, and a unified diff.

    The old side of the diff comes from the kept previous generation; where that has not got the record, all of it
    is shown as new.
    """

    tier: str
    old_id: str
    new_id: str
    diff: str


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """How many texts were embedded, what is published now, each edit, and how many records a person removed."""

    embedded: int
    generation: int
    edits: tuple[Edit, ...]
    removed: int
    changed: bool
    moved_floors: Mapping[str, tuple[float, float]]
    digest: str
    seal: str


def reindex(path: str | os.PathLike[str], embedder: Embedder | None = None, pin: str | None = None) -> ReindexReport:
    """Publish what a person edited in the records files: keys, bodies, states, lines moved, removed or copied.

    What a record comes from cannot be edited: its task, family, instruction hash and run must be those of a run that
    the manifest names, for they hide it from its own task. Each edited record gets the id of its content; only keys
    that changed are embedded, all of them if ``embedder`` is not the one that the memory was embedded by. The memory
    is locked while files are read and written, not while texts are embedded.

    Args:
        path: the memory.
        embedder: the embedder to use from now on; without it, the one that the manifest names.
        pin: the seal that the manifest must have; the edited files differ from it by nature.

    Raises:
        StoreError: a line is broken (named), or something beside the records was edited; all stays as it was.
        ClientError: the embedder failed; all stays as it was.
    """
    place = Path(path)
    with typed(f"run: amd check {place}"):
        published_manifest(place)  # before a lock is made where there is no memory
    rows: dict[str, Rows] = {}
    while True:
        with locked(place), typed(f"nothing published is lost; run: amd check {place}"):
            state = _read(place, embedder, pin)
            missing = state.missing(rows)
            if not missing:
                return _publish(place, state, rows)
        rows |= _embed(embedder or load_embedder(state.space.id), missing)


@dataclass(slots=True)
class _State:
    """What stands in the files: the manifest, the lines, the rows that still hold by key hash, and intact files."""

    manifest: Manifest
    space: EmbedderFigures
    lines: dict[str, list[Parsed]] = field(default_factory=dict)
    rows: dict[str, Rows] = field(default_factory=dict)
    intact: list[Path] = field(default_factory=list)

    def missing(self, embedded: Mapping[str, Rows]) -> dict[str, str]:
        """The key texts without a row, by their hash."""
        keys = {digest(line.record.key.encode()): line.record.key for lines in self.lines.values() for line in lines}
        return {name: key for name, key in keys.items() if name not in self.rows and name not in embedded}


def _read(place: Path, embedder: Embedder | None, pin: str | None) -> _State:
    manifest = published_manifest(place)
    check_pin(manifest, pin, place)
    space = manifest.embedder if embedder is None else _space(embedder)
    state = _State(manifest, space)
    origins = Origins(manifest.sources.runs)
    folder = generation_folder(place, manifest.generation)
    for tier, figures in manifest.shelves.items():
        records, keys = folder / tier / RECORDS, folder / tier / KEYS
        matrix = read_matrix(verified(keys, figures), str(keys), rows=figures.rows, width=figures.width)
        text = read_file(records)
        state.lines[tier] = _lines(text, records, tier, origins)
        state.intact.append(keys)
        if digest(text) == figures.files[RECORDS]:
            state.intact.append(records)
        if (space.id, space.dim) == (manifest.embedder.id, manifest.embedder.dim):
            state.rows |= _rows_that_hold(state.lines[tier], matrix)
    return state


def _space(embedder: Embedder) -> EmbedderFigures:
    """The vector space of an embedder; its width is what it gives, not what it was asked for."""
    width = np.asarray(embedder.embed(["width"])).shape[1]
    return EmbedderFigures(id=embedder.id, dim=width, floor=embedder.floor)


def _lines(text: bytes, path: Path, tier: str, origins: Origins) -> list[Parsed]:
    """The lines of a records file; ``StoreError`` with file and line for the first that cannot be taken in."""
    parsed, broken = parse_lines(text)
    faults = [(line.number, line.what) for line in broken]
    seen: dict[str, int] = {}
    for line in parsed:
        first = seen.setdefault(line.record.id, line.number)
        if first != line.number:
            faults.append((line.number, f"the same record as line {first}"))
        if line.record.tier != tier:
            faults.append((line.number, f"a record of tier {line.record.tier!r} on the shelf {tier!r}"))
        if fault := origins.fault(line.record):
            faults.append((line.number, fault))
        if not line.record.key.strip():
            faults.append((line.number, "the key is empty"))
    if faults:
        number, what = min(faults)
        raise StoreError(
            f"{path}:{number}: {what} ({len(faults)} faulty lines)",
            next_step="mend the line; nothing was changed",
            file=str(path),
            line=number,
        )
    return parsed


def _rows_that_hold(lines: Sequence[Parsed], matrix: Rows) -> dict[str, Rows]:
    """The row of each key that was not edited. A line names its row by hash, so it may have been moved."""
    rows = {row_sha256(row): row for row in matrix}
    return {
        line.stored.key_sha256: rows[line.stored.row_sha256]
        for line in lines
        if line.stored.row_sha256 in rows and digest(line.stored.key.encode()) == line.stored.key_sha256
    }


def _embed(embedder: Embedder, missing: Mapping[str, str]) -> dict[str, Rows]:
    names = list(missing)
    rows: dict[str, Rows] = {}
    for start in range(0, len(names), _BATCH):
        batch = names[start : start + _BATCH]
        found = np.asarray(embedder.embed([missing[name] for name in batch]), np.float32)
        if len(found) != len(batch):
            raise RowsDoNotMatch(
                f"embedder {embedder.id} gave {len(found)} rows for {len(batch)} texts",
                next_step="repair or change the embedder; nothing was written",
                records=len(batch),
                rows=len(found),
            )
        rows.update(zip(batch, found, strict=True))
    return rows


def _publish(place: Path, state: _State, embedded: Mapping[str, Rows]) -> ReindexReport:
    manifest = state.manifest
    edits = _edits(place, state)
    changed = state.space != manifest.embedder or len(state.intact) < len(shelf_files(place, manifest))
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
        generation=manifest.generation,
        edits=edits,
        removed=sum(figures.rows for figures in state.manifest.shelves.values()) - len(kept),
        changed=changed,
        moved_floors=moved,
        digest=manifest.content,
        seal=manifest.seal,
    )


def _contents(state: _State, embedded: Mapping[str, Rows]) -> Contents:
    """What was published, with the lines as they stand now."""
    manifest = state.manifest
    rows = {**state.rows, **embedded}
    shelves = {}
    for tier, lines in state.lines.items():
        matrix = [rows[digest(line.record.key.encode())] for line in lines]
        shelves[tier] = ShelfContents(
            [line.record for line in lines], np.array(matrix, np.float32).reshape(len(matrix), state.space.dim)
        )
    return Contents(
        method=manifest.method,
        benchmark=manifest.benchmark,
        embedder_id=state.space.id,
        width=state.space.dim,
        embedder_floor=state.space.floor,
        floored=frozenset(manifest.floors),
        pinned_floors={tier: floor.value for tier, floor in manifest.floors.items() if floor.source == "pinned"},
        all_trials=manifest.all_trials,
        runs=manifest.sources.runs,
        read=manifest.sources.read,
        refused=manifest.sources.refused,
        distiller=manifest.distiller,
        costs=manifest.costs,
        terms=manifest.sources.terms,
        shelves=shelves,
    )


def _edits(place: Path, state: _State) -> tuple[Edit, ...]:
    edited = [(tier, line) for tier, lines in state.lines.items() for line in lines if line.changes]
    if not edited:
        return ()
    before = _previous_records(place, state.manifest)
    return tuple(
        Edit(tier, line.stored.id, line.record.id, difference(before.get((tier, line.stored.id)), line.record))
        for tier, line in edited
    )


def _previous_records(place: Path, manifest: Manifest) -> dict[tuple[str, str], Record]:
    """The records of the kept generation; a file that was edited too (it may be the same one, linked) is left out."""
    if manifest.previous is None:
        return {}
    folder = generation_folder(place, manifest.previous.generation)
    records: dict[tuple[str, str], Record] = {}
    for tier, figures in manifest.previous.shelves.items():
        text = read_file(folder / tier / RECORDS)
        if digest(text) == figures.files[RECORDS]:
            records |= {(tier, line.record.id): line.record for line in parse_lines(text)[0]}
    return records
