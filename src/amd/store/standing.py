"""What stands in the files of a memory that a person may have edited, and which rows still hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from amd.chat import Embedder, Rows
from amd.errors import StoreError
from amd.json_text import digest
from amd.store.edits import FaultIn, Parsed, parse_lines
from amd.store.figures import KEYS, RECORDS, EmbedderFigures, Manifest
from amd.store.files import read_file
from amd.store.kept import contradicts, kept_lines, keys_by_row
from amd.store.lines import row_sha256
from amd.store.manifest import check_pin, published_manifest
from amd.store.matrix import read_matrix
from amd.store.memory import verified
from amd.store.origins import Origins
from amd.store.place import generation_folder

__all__ = ["Standing", "read_standing"]


@dataclass(slots=True)
class Standing:
    """The manifest, the embedder to use from now on, and for each shelf its lines and those of the kept generation.

    ``kept`` has only shelves that were edited. ``rows`` are those that still hold, by the hash of their key; ``intact``
    are the files whose hash is the manifest's.
    """

    manifest: Manifest
    embedder_id: str
    floor: float
    lines: dict[str, list[Parsed]] = field(default_factory=dict)
    kept: dict[str, list[Parsed]] = field(default_factory=dict)
    rows: dict[str, Rows] = field(default_factory=dict)
    intact: list[Path] = field(default_factory=list)

    @property
    def moved(self) -> bool:
        """Whether another embedder takes over: no row holds."""
        return self.embedder_id != self.manifest.embedder.id

    def missing(self, embedded: Mapping[str, Rows]) -> dict[str, str]:
        """The key texts without a row, by their hash."""
        keys = {digest(line.record.key.encode()): line.record.key for lines in self.lines.values() for line in lines}
        return {name: key for name, key in keys.items() if name not in self.rows and name not in embedded}

    def width(self, embedded: Mapping[str, Rows]) -> int:
        """How wide rows are, 0 if nobody can tell yet."""
        stored = 0 if self.moved else self.manifest.embedder.dim
        return stored or next((len(row) for row in embedded.values()), 0)

    def space(self, embedded: Mapping[str, Rows]) -> EmbedderFigures:
        """The vector space of the rows; its width is what the embedder gave, not what it was asked for."""
        return EmbedderFigures(id=self.embedder_id, dim=self.width(embedded), floor=self.floor)


def read_standing(place: Path, embedder: Embedder | None, pin: str | None, fault_in: FaultIn | None) -> Standing:
    """Read everything; the caller has the lock, so the embedder is asked for its name alone.

    Raises:
        StoreError: a line cannot be taken in (named), or something beside the records was edited.
    """
    manifest = published_manifest(place)
    check_pin(manifest, pin, place)
    by = embedder or manifest.embedder
    state = Standing(manifest, by.id, by.floor)
    origins = Origins(manifest.sources.runs)
    folder = generation_folder(place, manifest.generation)
    claims: defaultdict[str, dict[str, Rows]] = defaultdict(dict)
    for tier, figures in manifest.shelves.items():
        records, keys = folder / tier / RECORDS, folder / tier / KEYS
        matrix = read_matrix(verified(keys, figures), str(keys), rows=figures.rows, width=figures.width)
        state.intact.append(keys)
        text = read_file(records)
        state.lines[tier] = _lines(text, records, origins, fault_in)
        if digest(text) == figures.files[RECORDS]:
            state.intact.append(records)
        else:
            state.kept[tier] = kept_lines(place, manifest, tier)
        if not state.moved:
            for key, name, row in _claims(state.lines[tier], state.kept.get(tier, ()), matrix):
                claims[key][name] = row
    state.rows = _rows_that_hold(claims, edited=bool(state.kept))
    return state


def _lines(text: bytes, path: Path, origins: Origins, fault_in: FaultIn | None) -> list[Parsed]:
    """The lines of a records file; ``StoreError`` with file and line for the first that cannot be taken in."""
    parsed, broken = parse_lines(text)
    faults = [(line.number, line.what) for line in broken]
    seen: dict[str, int] = {}
    for line in parsed:
        first = seen.setdefault(line.record.id, line.number)
        if first != line.number:
            faults.append((line.number, f"the same record as line {first}"))
        faults += [(line.number, what) for what in _faults(line, path.parent.name, origins, fault_in)]
    if faults:
        number, what = min(faults)
        raise StoreError(
            f"{path}:{number}: {what} ({len(faults)} faulty lines)",
            next_step="mend the line; nothing was changed",
            file=str(path),
            line=number,
        )
    return parsed


def _faults(line: Parsed, tier: str, origins: Origins, fault_in: FaultIn | None) -> Iterable[str]:
    record = line.record
    if record.tier != tier:
        yield f"a record of tier {record.tier!r} on the shelf {tier!r}"
    if fault := origins.fault_in_line(line):
        yield fault
    if not record.key.strip():
        yield "the key is empty"
    if line.changes and fault_in and (fault := fault_in(tier, record.body)):
        yield fault


def _claims(lines: Sequence[Parsed], kept: Sequence[Parsed], matrix: Rows) -> Iterator[tuple[str, str, Rows]]:
    """(hash of a key, hash of its row, row) of each untouched line of a shelf, in this generation or in the kept one.

    A line names its row by hash, so it may have been moved. An edited line vouches for nothing: whoever edits a key may
    have edited its hash with it.
    """
    rows = {row_sha256(row): row for row in matrix}
    before = keys_by_row(kept)
    for line in (*kept, *lines):
        name = line.stored.row_sha256
        if not line.changes and name in rows and not contradicts(before, line):
            yield line.stored.key_sha256, name, rows[name]


def _rows_that_hold(claims: Mapping[str, Mapping[str, Rows]], *, edited: bool) -> dict[str, Rows]:
    """The row of each key that is vouched for.

    Where lines claim different rows for one key, one of them was forged and nobody can tell which: none holds. In a
    memory that nobody edited they are rows of two calls to a service, and nothing is written.
    """
    return {key: next(iter(rows.values())) for key, rows in claims.items() if len(rows) == 1 or not edited}
