"""One walk through the files of a memory for :func:`amd.store.check`: what it finds is noted, and it goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from amd.chat import Rows
from amd.errors import AmdError, StoreError
from amd.records import Record
from amd.store.columns import read_columns
from amd.store.contents import content_digest
from amd.store.edits import FaultIn, Parsed, parse_lines
from amd.store.figures import KEYS, RECORDS, Manifest, ShelfFigures
from amd.store.files import read_file, typed
from amd.store.kept import contradicts, kept_lines, keys_by_row
from amd.store.lines import row_sha256
from amd.store.manifest import check_pin, examine_manifest
from amd.store.matrix import read_matrix
from amd.store.origins import Origins
from amd.store.place import MANIFEST, generation_folder, is_memory, missing_manifest
from amd.store.strays import strays

__all__ = ["Fault", "Inspection"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one file; ``file`` is relative to the memory."""

    file: str
    what: str


@dataclass(slots=True)
class Inspection:
    """Faults, in the order in which they are found.

    ``silent`` are the records files that differ from the manifest, though no line of them shows an edit: the path, its
    lines, and those of the generation kept.
    """

    place: Path
    fault_in: FaultIn | None = None
    faults: list[Fault] = field(default_factory=list)
    silent: list[tuple[Path, Sequence[Parsed], Sequence[Parsed]]] = field(default_factory=list)

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
            parsed = self._records(folder / RECORDS, manifest, origins)
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
            self._name_silent()

    def _records(self, path: Path, manifest: Manifest, origins: Origins) -> list[Parsed] | None:
        """The records of a shelf, ``None`` if not all lines can be read."""
        tier = path.parent.name
        figures = manifest.shelves[tier]
        text = self._read(path)
        if text is None:
            return None
        intact, faults = self._matches(path, text, figures), len(self.faults)
        parsed, broken = parse_lines(text)
        for line in broken:
            self.add(path, f"line {line.number}: {line.what}")
        for entry in parsed:
            body = self.fault_in(tier, entry.record.body) if self.fault_in else None
            for what in (entry.changes, origins.fault_in_line(entry), body):
                if what:
                    self._add_line(path, entry, what)
        if len(parsed) != figures.rows:
            self.add(path, f"{len(parsed)} records, the manifest says {figures.rows}")
        order = [(entry.record.task.family, entry.record.task.task_id, entry.record.id) for entry in parsed]
        if sorted(set(order)) != order:
            self.add(path, "records are not in the order of family, task and id, each once")
        if not broken:
            self.attempt(path, lambda: read_columns(text, path.name))
        if not intact:
            self.attempt(path, lambda: self._edited(path, parsed, manifest, shown=len(self.faults) > faults))
        return None if broken else parsed

    def _edited(self, path: Path, parsed: Sequence[Parsed], manifest: Manifest, *, shown: bool) -> None:
        """What the kept generation tells of lines whose hashes were all computed anew."""
        kept = kept_lines(self.place, manifest, path.parent.name)
        before = keys_by_row(kept)
        named = [entry for entry in parsed if not entry.changes and contradicts(before, entry)]
        for entry in named:
            self._add_line(
                path, entry, "its hashes are right, but its row is that of another key in the generation kept"
            )
        if not named and not shown:
            self.silent.append((path, parsed, kept))

    def _name_silent(self) -> None:
        """The content differs, and these files do not show where: the lines that the kept generation has not."""
        for path, parsed, kept in self.silent:
            self.add(path, "no line shows an edit: it was only reformatted, or all hashes of a line were computed anew")
            known = {line.stored.id for line in kept}
            for entry in parsed:
                if known and entry.stored.id not in known:
                    self._add_line(path, entry, "may be the edited one: it is not in the generation kept")

    def _add_line(self, path: Path, entry: Parsed, what: str) -> None:
        self.add(path, f"record {entry.stored.id}, line {entry.number}: {what}")

    def _rows(self, path: Path, figures: ShelfFigures) -> Rows | None:
        """The rows of a shelf, ``None`` if they cannot be read."""
        text = self._read(path)
        if text is None:
            return None
        self._matches(path, text, figures)
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
                text = self._read(folder / tier / name)
                if text is not None:
                    self._matches(folder / tier / name, text, figures)

    def _read(self, path: Path) -> bytes | None:
        """A file's bytes, ``None`` if it cannot be read."""
        try:
            with typed(""):
                return read_file(path)
        except StoreError as error:
            self.add(path, error.message)
            return None

    def _matches(self, path: Path, text: bytes, figures: ShelfFigures) -> bool:
        """Whether a file has the hash that the manifest gives; another one is a fault."""
        found, expected = hashlib.sha256(text).hexdigest(), figures.files[path.name]
        if found != expected:
            self.add(path, f"sha256 {found}, the manifest says {expected}")
        return found == expected

    def strays(self, manifest: Manifest) -> None:
        """Whatever lies in the memory and does not belong there."""
        for entry in strays(self.place, manifest):
            self.add(entry, "does not belong in a memory")
