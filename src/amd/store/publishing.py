"""Publishing: one writer at a time, on top of what was checked, by one replace of the manifest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from amd.errors import StoreError
from amd.store.contents import Contents, Prepared, prepare
from amd.store.figures import Manifest
from amd.store.files import typed
from amd.store.generation import prune, write_generation
from amd.store.manifest import check_pin, published_manifest
from amd.store.memory import Memory, read_memory
from amd.store.place import LOCK, check_place, generation_folder, is_memory

__all__ = ["Published", "locked", "moved_floors", "publish", "shelf_files"]

_PATIENCE = 600  # seconds; a writer holds the lock while it writes files, never across a model call


@dataclass(frozen=True, slots=True)
class Published:
    """What is published now, whether this call changed it, and floors that moved: tier -> (before, now)."""

    manifest: Manifest
    changed: bool
    moved_floors: Mapping[str, tuple[float, float]]


def publish(
    path: str | os.PathLike[str], compose: Callable[[Memory | None], Contents], *, pin: str | None = None
) -> Published:
    """Publish what ``compose`` makes of what is published now (``None``: nothing), as the next generation.

    Readers see the old generation or the new one, never a mixture, whenever this is interrupted; the next publish
    clears what an interrupted one left. If the records, the runs, the pinned floors, the terms and ``all_trials`` are
    what they were, nothing is published.

    A first publish that fails (``compose`` raises, the disk is full) leaves the directory with ``.lock``, and with a
    folder under ``generations`` if it failed while writing. That is an unfinished build, which the next publish takes
    over; other writers may be waiting for that lock, so it is not removed.

    Args:
        path: a memory, an unfinished build, an empty directory or one that does not exist yet.
        compose: called with the lock held, so it must not wait for a model.
        pin: the seal that must be published now.

    Raises:
        StoreError: the place is not ours, what is published is faulty, or a file could not be written.
        DigestDoesNotMatch: another seal than the pin is published, or nothing is; not even a directory was made.
    """
    place = Path(path)
    check_place(place)
    if pin is not None:
        with typed(f"run: amd check {place}"):
            check_pin(published_manifest(place) if is_memory(place) else None, pin, place)
    with locked(place):
        current = read_memory(place) if is_memory(place) else None
        before = current.manifest if current else None
        check_pin(before, pin, place)
        contents = compose(current)
        prepared = prepare(contents)
        with typed("nothing published is lost; make room or repair the disk, and run the same command again"):
            if current is not None and _unchanged(current, contents, prepared):
                prune(place, current.manifest)
                return Published(current.manifest, changed=False, moved_floors={})
            intact = shelf_files(place, before) if before else []
            manifest = write_generation(place, before, contents, prepared, intact=intact)
            prune(place, manifest)
    return Published(manifest, changed=True, moved_floors=moved_floors(before, manifest))


@contextmanager
def locked(place: Path) -> Iterator[None]:
    """Hold the lock of a memory, which is made if it does not exist; other writers wait, readers do not."""
    lock = FileLock(place / LOCK, timeout=_PATIENCE)
    with typed(f"check that {place} can be written to"):
        place.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout as error:
            raise StoreError(
                f"another writer has held {place / LOCK} for {_PATIENCE} seconds",
                next_step="wait for it or end it, and run the same command again",
            ) from error
    try:
        yield
    finally:
        lock.release()


def shelf_files(place: Path, manifest: Manifest) -> list[Path]:
    """Every file of the published shelves."""
    folder = generation_folder(place, manifest.generation)
    return [folder / tier / name for tier, figures in manifest.shelves.items() for name in figures.files]


def _unchanged(current: Memory, contents: Contents, prepared: Prepared) -> bool:
    manifest = current.manifest
    pinned = {tier: floor.value for tier, floor in manifest.floors.items() if floor.source == "pinned"}
    inactive = {
        tier: sorted(record.id for record in shelf.records if record.status != "active")
        for tier, shelf in prepared.shelves.items()
    }
    return (
        manifest.content == prepared.content
        and set(manifest.sources.runs) == set(contents.runs)
        and pinned == dict(contents.pinned_floors)
        and manifest.floors.keys() == prepared.floors.keys()
        and (manifest.all_trials, manifest.sources.terms) == (contents.all_trials, contents.terms)
        and inactive == {tier: _inactive(current, tier) for tier in current.shelves}
    )


def _inactive(memory: Memory, tier: str) -> list[str]:
    columns = memory.shelves[tier].columns
    return sorted(name.decode() for name in columns.ids[~columns.active])


def moved_floors(before: Manifest | None, now: Manifest) -> dict[str, tuple[float, float]]:
    """The floors that differ between two manifests: tier -> (before, now)."""
    floors = before.floors if before else {}
    return {
        tier: (floors[tier].value, floor.value)
        for tier, floor in now.floors.items()
        if tier in floors and floors[tier].value != floor.value
    }
