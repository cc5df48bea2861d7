"""Opening a memory: checked whole, mapped, read-only, shared by threads."""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from amd.chat import Embedder, Rows
from amd.errors import DigestDoesNotMatch, RowsDoNotMatch
from amd.store.asking import Asking
from amd.store.columns import read_columns
from amd.store.figures import KEYS, RECORDS, Manifest, ShelfFigures
from amd.store.files import map_file, typed
from amd.store.manifest import check_pin, published_manifest
from amd.store.matrix import read_matrix
from amd.store.place import generation_folder
from amd.store.shelf import Shelf

__all__ = ["Memory", "open_memory", "read_memory", "verified"]


class Memory:
    """A published memory. A context manager; later publishes do not change what an open one says.

    >>> import tempfile
    >>> import amd
    >>> from amd.testing import run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = amd.build_memory([run(1)], folder, embedder=amd.load_embedder("hash"))
    ...     with amd.open_memory(folder, pin=report.seal) as memory:
    ...         print(memory.manifest.benchmark, {name: len(shelf) for name, shelf in memory.shelves.items()})
    made-up {'function': 9, 'subtask': 3, 'workflow': 1}
    """

    def __init__(self, path: Path, manifest: Manifest, shelves: Mapping[str, Shelf], asking: Asking) -> None:
        self.path = path
        self.manifest = manifest
        self.shelves: Mapping[str, Shelf] = MappingProxyType(dict(shelves))
        self._asking = asking

    @property
    def embedder(self) -> Embedder:
        """What questions are embedded by."""
        return self._asking.embedder

    @property
    def seal(self) -> str:
        """The hash of every byte of the manifest: what an evaluation pins."""
        return self.manifest.seal

    @property
    def digest(self) -> str:
        """The hash of the records alone: equal inputs give an equal digest."""
        return self.manifest.content

    def close(self) -> None:
        """Forget the shelves; their files are closed when nobody holds a shelf or a row any more."""
        self.shelves = MappingProxyType({})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def open_memory(path: str | os.PathLike[str], *, pin: str | None = None, embedder: Embedder | None = None) -> Memory:
    """Open a memory with every check of its bytes, ready to be searched.

    Args:
        path: the directory; it is never written to.
        pin: the seal that the memory must have.
        embedder: what embeds questions; without it, the embedder that the manifest names.

    Raises:
        StoreError: nothing is published there, or a file is not what the manifest says; see its subclasses.
        ConfigError: the embedder that the manifest names is not installed.

    >>> open_memory("no/memory/here")
    Traceback (most recent call last):
    amd.errors.StoreError: no memory at no/memory/here: it is no directory; name a directory that amd build wrote
    """
    memory = read_memory(path, pin=pin, embedder=embedder)
    _ = memory.embedder  # loaded now: a missing one is told at the start of a run, not at its first question
    return memory


def read_memory(path: str | os.PathLike[str], *, pin: str | None = None, embedder: Embedder | None = None) -> Memory:
    """As :func:`open_memory`, but the manifest's embedder is loaded when something is asked, if ever."""
    place = Path(path)
    with typed(f"run: amd check {place}"):
        manifest = published_manifest(place)
        check_pin(manifest, pin, place)
        asking = Asking(place, manifest.embedder, embedder)
        while True:
            try:
                shelves = _open_shelves(place, manifest, asking.row)
            except FileNotFoundError:
                # Between the manifest and its files, writers may have published twice and pruned this generation.
                newer = published_manifest(place)
                if newer.seal == manifest.seal:
                    raise
                manifest = newer
                check_pin(manifest, pin, place)
                asking = Asking(place, manifest.embedder, embedder)
            else:
                return Memory(place, manifest, shelves, asking)


def _open_shelves(place: Path, manifest: Manifest, ask: Callable[[str], Rows]) -> dict[str, Shelf]:
    folder = generation_folder(place, manifest.generation)
    shelves = {}
    for tier, figures in manifest.shelves.items():
        floor = manifest.floors[tier].value if tier in manifest.floors else 0.0
        shelves[tier] = _open_shelf(tier, floor, folder / tier, figures, ask)
    return shelves


def _open_shelf(tier: str, floor: float, folder: Path, figures: ShelfFigures, ask: Callable[[str], Rows]) -> Shelf:
    text = verified(folder / RECORDS, figures)
    columns = read_columns(text, str(folder / RECORDS))
    if len(columns) != figures.rows:
        raise RowsDoNotMatch(
            f"{folder / RECORDS}: {len(columns)} records, the manifest says {figures.rows}",
            next_step=f"run: amd check {folder.parents[2]}",
            records=len(columns),
            rows=figures.rows,
        )
    rows = read_matrix(verified(folder / KEYS, figures), str(folder / KEYS), rows=figures.rows, width=figures.width)
    return Shelf(tier, floor, text, columns, rows, ask)


def verified(path: Path, figures: ShelfFigures) -> mmap.mmap:
    """A file's bytes, mapped, if their hash is the one that the manifest gives; else ``DigestDoesNotMatch``."""
    text = map_file(path)
    found = hashlib.sha256(text).hexdigest()
    expected = figures.files[path.name]
    if found != expected:
        raise DigestDoesNotMatch(
            f"{path}: sha256 {found}, the manifest says {expected}",
            next_step=f"run: amd check {path.parents[3]} (and amd reindex, if a person edited it)",
            expected=expected,
            found=found,
            file=str(path),
        )
    return text
