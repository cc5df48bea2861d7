"""``amd check``: every check of a memory, with every fault named, and nothing changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from amd.chat import Embedder, Rows
from amd.errors import AmdError, StoreError
from amd.records import Record
from amd.store.asking import Asking
from amd.store.columns import read_columns
from amd.store.contents import content_digest
from amd.store.edits import Parsed, parse_lines
from amd.store.files import read_file, typed
from amd.store.lines import row_sha256
from amd.store.manifest import KEYS, RECORDS, Manifest, ShelfFigures, check_pin, examine_manifest
from amd.store.matrix import read_matrix
from amd.store.origins import Origins
from amd.store.place import (
    GENERATIONS,
    MANIFEST,
    generation_folder,
    is_memory,
    is_of_writers,
    missing_manifest,
)

__all__ = ["Fault", "Report", "check"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one file; ``file`` is relative to the memory."""

    file: str
    what: str


@dataclass(frozen=True, slots=True)
class Report:
    """All faults; digest and seal as the manifest gives them, and the number of records of each shelf."""

    ok: bool
    faults: tuple[Fault, ...]
    digest: str
    seal: str
    shelves: Mapping[str, int]


def check(path: str | os.PathLike[str], pin: str | None = None, embedder: Embedder | None = None) -> Report:
    """Check everything about a memory.

    Beside all that opening checks: each record against its id, each row against its record, the kept previous
    generation, the content digest, files that do not belong there. An edit by hand is named by record and line.
    The folder of the next generation is no fault: a writer is at work, or died and the next one clears it.

    Args:
        path: the memory; nothing in it is changed.
        pin: the seal that it must have.
        embedder: what it must have been embedded by.
    """
    audit = _Audit(Path(path))
    manifest = audit.manifest(pin)
    if manifest is None:
        return Report(ok=False, faults=tuple(audit.faults), digest="", seal="", shelves={})
    if embedder is not None:
        audit.attempt(MANIFEST, lambda: Asking(audit.place, manifest.embedder, embedder))
    audit.shelves(manifest)
    audit.previous(manifest)
    audit.attempt("", lambda: audit.strays(manifest))
    return Report(
        ok=not audit.faults,
        faults=tuple(audit.faults),
        digest=manifest.content,
        seal=manifest.seal,
        shelves={tier: figures.rows for tier, figures in manifest.shelves.items()},
    )


@dataclass(slots=True)
class _Audit:
    """Faults, in the order in which they are found."""

    place: Path
    faults: list[Fault] = field(default_factory=list)

    def add(self, file: Path | str, what: str) -> None:
        """Note a fault."""
        name = file.relative_to(self.place).as_posix() if isinstance(file, Path) else file
        self.faults.append(Fault(name, what))

    def attempt(self, file: Path | str, step: Callable[[], object]) -> None:
        """Run a step; what it raises is a fault."""
        try:
            with typed(""):
                step()
        except AmdError as error:
            self.add(file, error.message)

    def manifest(self, pin: str | None) -> Manifest | None:
        """The manifest, if it can be read."""
        if not is_memory(self.place):
            self.add(MANIFEST, missing_manifest(self.place).message)
            return None
        text = self._read(self.place / MANIFEST)
        if text is None:
            return None
        manifest, faults = examine_manifest(text, self.place / MANIFEST)
        for fault in faults:
            self.add(MANIFEST, fault.message)
        if manifest is not None:
            self.attempt(MANIFEST, lambda: check_pin(manifest, pin, self.place))
        return manifest

    def shelves(self, manifest: Manifest) -> None:
        """The files of the published generation, and the content digest over all of them."""
        records: dict[str, Sequence[Record]] = {}
        origins = Origins(manifest.sources.runs)
        for tier, figures in manifest.shelves.items():
            folder = generation_folder(self.place, manifest.generation) / tier
            parsed = self._records(folder / RECORDS, figures, origins)
            rows = self._rows(folder / KEYS, figures)
            if parsed is None:
                continue
            records[tier] = [line.record for line in parsed]
            if rows is not None and len(rows) == len(parsed):
                self._alignment(folder / KEYS, parsed, rows)
        if len(records) < len(manifest.shelves):
            return
        found = content_digest(manifest.embedder.id, manifest.embedder.dim, manifest.method, records)
        if found != manifest.content:
            self.add(MANIFEST, f"the records give the content digest {found}, the manifest says {manifest.content}")

    def _records(self, path: Path, figures: ShelfFigures, origins: Origins) -> list[Parsed] | None:
        """The records of a shelf, ``None`` if not all lines can be read."""
        text = self._read(path, figures)
        if text is None:
            return None
        parsed, broken = parse_lines(text)
        for line in broken:
            self.add(path, f"line {line.number}: {line.what}")
        for entry in parsed:
            for what in (entry.changes, origins.fault(entry.record)):
                if what:
                    self.add(path, f"record {entry.stored.id}, line {entry.number}: {what}")
        if len(parsed) != figures.rows:
            self.add(path, f"{len(parsed)} records, the manifest says {figures.rows}")
        order = [(entry.record.task.family, entry.record.task.task_id, entry.record.id) for entry in parsed]
        if sorted(set(order)) != order:
            self.add(path, "records are not in the order of family, task and id, each once")
        if not broken:
            self.attempt(path, lambda: read_columns(text, path.name))
        return None if broken else parsed

    def _rows(self, path: Path, figures: ShelfFigures) -> Rows | None:
        """The rows of a shelf, ``None`` if they cannot be read."""
        text = self._read(path, figures)
        if text is None:
            return None
        found: list[Rows] = []
        self.attempt(path, lambda: found.append(read_matrix(text, path.name, rows=figures.rows, width=figures.width)))
        return found[0] if found else None

    def _alignment(self, path: Path, parsed: Sequence[Parsed], rows: Rows) -> None:
        for place, (line, row) in enumerate(zip(parsed, rows, strict=True)):
            if row_sha256(row) != line.stored.row_sha256:
                self.add(path, f"row {place} is not the row of record {line.stored.id}, line {line.number}")

    def previous(self, manifest: Manifest) -> None:
        """The files of the kept generation, which opening does not read."""
        if manifest.previous is None:
            return
        folder = generation_folder(self.place, manifest.previous.generation)
        for tier, figures in manifest.previous.shelves.items():
            for name in figures.files:
                self._read(folder / tier / name, figures)

    def _read(self, path: Path, figures: ShelfFigures | None = None) -> bytes | None:
        """A file's bytes, ``None`` if it cannot be read; another hash than in ``figures`` is a fault."""
        try:
            with typed(""):
                text = read_file(path)
        except StoreError as error:
            self.add(path, error.message)
            return None
        if figures is not None and (found := hashlib.sha256(text).hexdigest()) != figures.files[path.name]:
            self.add(path, f"sha256 {found}, the manifest says {figures.files[path.name]}")
        return text

    def strays(self, manifest: Manifest) -> None:
        """Whatever lies in a folder of the memory and belongs neither to it nor to a writer."""
        named = {manifest.generation: manifest.shelves}
        if manifest.previous:
            named[manifest.previous.generation] = manifest.previous.shelves
        folders = {number: generation_folder(self.place, number) for number in (*named, manifest.generation + 1)}
        belongs = {
            self.place: {
                MANIFEST,
                GENERATIONS,
                *(entry.name for entry in self.place.iterdir() if is_of_writers(entry.name)),
            },
            self.place / GENERATIONS: {folder.name for folder in folders.values()},
        }
        for number, shelves in named.items():
            belongs[folders[number]] = set(shelves)
            belongs |= {folders[number] / tier: set(figures.files) for tier, figures in shelves.items()}
        for folder, names in belongs.items():
            for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
                if entry.name not in names:
                    self.add(entry, "does not belong in a memory")
