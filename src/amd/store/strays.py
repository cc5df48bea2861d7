"""Whatever lies in a folder of a memory and belongs neither to it nor to a writer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from amd.store.figures import Manifest
from amd.store.place import GENERATIONS, MANIFEST, generation_folder, generations_of, is_of_writers

__all__ = ["strays"]


def strays(place: Path, manifest: Manifest) -> Iterator[Path]:
    """What does not belong at ``place``, where ``manifest`` is published.

    A writer makes the next generation, and prunes the older ones after it has published: these are no strays, whether
    it is at work or died. The next writer clears what it left.
    """
    named = {manifest.generation: manifest.shelves}
    if manifest.previous:
        named[manifest.previous.generation] = manifest.previous.shelves
    older = {number for number in generations_of(place) if number < manifest.generation}
    folders = {number: generation_folder(place, number) for number in {*named, *older, manifest.generation + 1}}
    of_writers = {entry.name for entry in place.iterdir() if is_of_writers(entry.name)}
    belongs = {
        place: {MANIFEST, GENERATIONS, *of_writers},
        place / GENERATIONS: {folder.name for folder in folders.values()},
    }
    for number, shelves in named.items():
        belongs[folders[number]] = set(shelves)
        belongs |= {folders[number] / tier: set(figures.files) for tier, figures in shelves.items()}
    for folder, names in belongs.items():
        for entry in sorted(folder.iterdir()) if folder.is_dir() else ():
            if entry.name not in names:
                yield entry
