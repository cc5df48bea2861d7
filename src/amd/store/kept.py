"""What the kept generation says of the records that a person edited in the published one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from amd.json_text import digest
from amd.store.edits import Parsed, parse_lines
from amd.store.figures import RECORDS, Manifest
from amd.store.files import read_file
from amd.store.place import generation_folder

__all__ = ["contradicts", "kept_lines", "keys_by_row"]


def kept_lines(place: Path, manifest: Manifest, tier: str) -> list[Parsed]:
    """The lines of a shelf in the kept generation, none if there is no such shelf.

    None either if that file was edited too: a shelf that a publish did not change is one file under two names, so an
    editor that writes in place changes both.
    """
    if manifest.previous is None or tier not in manifest.previous.shelves:
        return []
    text = read_file(generation_folder(place, manifest.previous.generation) / tier / RECORDS)
    return parse_lines(text)[0] if digest(text) == manifest.previous.shelves[tier].files[RECORDS] else []


def keys_by_row(kept: Iterable[Parsed]) -> dict[str, set[str]]:
    """The hashes of the keys that had each row, by the row's hash; texts of the same words may share a row."""
    keys: dict[str, set[str]] = {}
    for line in kept:
        keys.setdefault(line.stored.row_sha256, set()).add(line.stored.key_sha256)
    return keys


def contradicts(keys: dict[str, set[str]], line: Parsed) -> bool:
    """Whether a line's row was that of other keys: its key was edited, even if all its hashes were computed anew."""
    before = keys.get(line.stored.row_sha256)
    return before is not None and line.stored.key_sha256 not in before
