"""Which directories are ours: a memory, an unfinished build, an empty place, or something to leave alone.

The layout::

    memory/
      manifest.json                            the only name that is replaced
      generations/000002/workflow/records.json
      generations/000002/workflow/keys.npy
      .lock .journal.jsonl                     of writers

``.lock`` is an empty file and stays when a writer is done. Removing it is not safe: a second writer may wait on the
removed file while a third makes a new one, and both would hold "the" lock.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import orjson

from amd.errors import StoreError

__all__ = [
    "GENERATIONS",
    "JOURNAL",
    "LOCK",
    "MANIFEST",
    "check_place",
    "generation_folder",
    "generations_of",
    "is_memory",
    "is_of_writers",
    "missing_manifest",
]

MANIFEST = "manifest.json"
GENERATIONS = "generations"
LOCK = ".lock"
JOURNAL = ".journal.jsonl"
_NUMBER = re.compile(r"[0-9]{6,}")


def generation_folder(place: Path, generation: int) -> Path:
    """Where a generation's shelves are.

    >>> generation_folder(Path("memory"), 2).as_posix()
    'memory/generations/000002'
    """
    return place / GENERATIONS / f"{generation:06d}"


def generations_of(place: Path) -> dict[int, Path]:
    """The generation folders that exist, by number, whoever left them."""
    folder = place / GENERATIONS
    if not folder.is_dir():
        return {}
    return {int(path.name): path for path in sorted(folder.iterdir()) if _NUMBER.fullmatch(path.name)}


def is_memory(path: str | os.PathLike[str]) -> bool:
    """Whether something is published at ``path``: it has a manifest, which may still be faulty."""
    return (Path(path) / MANIFEST).is_file()


def check_place(path: str | os.PathLike[str]) -> None:
    """Refuse, untouched, a place that is neither free nor ours.

    Free is what does not exist or is an empty directory; ours is a memory, or an unfinished build (``.lock``,
    ``.journal.jsonl`` and ``generations/`` without a manifest).

    Raises:
        StoreError: anything else.
    """
    place = Path(path)
    if not place.exists():
        return
    if not place.is_dir():
        raise StoreError(f"{place} is a file, not a directory", next_step="name another directory")
    if is_memory(place):
        _check_manifest_is_ours(place / MANIFEST)
        return
    strange = sorted(entry.name for entry in place.iterdir() if not _unfinished(entry.name))
    inside = place / GENERATIONS
    if inside.is_dir():
        strange += sorted(
            f"{GENERATIONS}/{entry.name}" for entry in inside.iterdir() if not _NUMBER.fullmatch(entry.name)
        )
    if strange:
        raise StoreError(
            f"{place} holds {strange[0]!r} and is no memory ({len(strange)} entries that are not ours)",
            next_step="name an empty directory or a memory",
            entries=strange,
        )


def is_of_writers(name: str) -> bool:
    """Whether a name in a memory belongs to writers: the journal, the lock, and names that a lock needs for a moment.

    >>> [is_of_writers(name) for name in (".lock", ".lock.break.7", ".journal.jsonl", ".locked")]
    [True, True, True, False]
    """
    return name in (LOCK, JOURNAL) or name.startswith(f"{LOCK}.")


def _unfinished(name: str) -> bool:
    return name == GENERATIONS or is_of_writers(name)


def _check_manifest_is_ours(path: Path) -> None:
    """A file of this name is common: it is ours if it is JSON with our format, or would be but for a fault."""
    text = path.read_bytes()
    try:
        value = orjson.loads(text)
        ours = isinstance(value, dict) and str(value.get("format", "")).startswith("amd-memory/")
    except orjson.JSONDecodeError:
        ours = b"amd-memory/" in text
    if not ours:
        raise StoreError(
            f"{path} is not a memory's manifest: it has no format amd-memory/N",
            next_step=f"name an empty directory or a memory; if it was one, run: amd check {path.parent}",
            file=str(path),
        )


def missing_manifest(place: Path) -> StoreError:
    """Why there is nothing to open at ``place``: an unfinished build, or no memory at all."""
    if place.is_dir() and any(_unfinished(entry.name) for entry in place.iterdir()):
        return StoreError(
            f"{place} is an unfinished build: it has no {MANIFEST}", next_step="run the same amd build again"
        )
    what = "has no manifest.json" if place.is_dir() else "is no directory"
    return StoreError(f"no memory at {place}: it {what}", next_step="name a directory that amd build wrote")
