"""The files of one generation: written and synced under a new name, published by one replace, pruned later."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path

from amd import __version__
from amd.store.contents import Contents, Prepared, PreparedShelf
from amd.store.figures import (
    FORMAT,
    KEYS,
    RECORDS,
    EmbedderFigures,
    Manifest,
    Previous,
    Run,
    ShelfFigures,
    Sources,
)
from amd.store.files import (
    link_file,
    make_folder,
    remove_folder,
    replace_file,
    sync_folder,
    write_file,
)
from amd.store.manifest import manifest_bytes, parse_manifest, sealed
from amd.store.matrix import matrix_bytes
from amd.store.place import MANIFEST, generation_folder, generations_of

__all__ = ["prune", "write_generation"]


def write_generation(
    place: Path, current: Manifest | None, contents: Contents, prepared: Prepared, *, intact: Collection[Path]
) -> Manifest:
    """Write the next generation beside the current one and publish it with one replace; the caller has the lock.

    Args:
        place: the memory's directory, which exists.
        current: what is published now.
        contents: what to publish.
        prepared: the same, checked and encoded.
        intact: files of the current generation whose hashes were checked just now; equal ones are linked. If some are
            missing (a person edited them), the current generation is not kept as the previous one.

    Raises:
        OSError: an operation failed; what was published before is untouched.
    """
    manifest, files = _plan(current, contents, prepared, intact)
    text = manifest_bytes(manifest)
    target = place / MANIFEST
    parse_manifest(text, target)  # what nobody could open is never published
    folder = generation_folder(place, manifest.generation)
    if not folder.parent.exists():
        make_folder(folder.parent)
    if folder.exists():
        remove_folder(folder)  # left by a writer that died: nothing names it
    make_folder(folder)
    for tier, parts in files.items():
        make_folder(folder / tier)
        for name, content in parts.items():
            if isinstance(content, Path):
                link_file(content, folder / tier / name)
            else:
                write_file(folder / tier / name, content)
        sync_folder(folder / tier)
    write_file(folder / MANIFEST, [text])
    for changed in (folder, folder.parent, place, *([] if current else [place.parent])):
        sync_folder(changed)
    replace_file(folder / MANIFEST, target)
    return manifest


_Files = dict[str, dict[str, "Path | list[bytes | memoryview]"]]


def _plan(
    current: Manifest | None, contents: Contents, prepared: Prepared, intact: Collection[Path]
) -> tuple[Manifest, _Files]:
    """The manifest, and for each shelf's file its bytes, or the file that has these bytes already."""
    known = {_figure(current, path): path for path in intact}
    figures: dict[str, ShelfFigures] = {}
    files: _Files = {}
    for tier, shelf in prepared.shelves.items():
        files[tier] = {}
        hashes: dict[str, str] = {}
        for name, parts in _parts(shelf).items():
            digest = hashlib.sha256()
            for part in parts:
                digest.update(part)
            hashes[name] = digest.hexdigest()
            files[tier][name] = known.get((tier, name, hashes[name]), parts)
        figures[tier] = ShelfFigures(rows=len(shelf.records), width=contents.width, files=hashes)
    return _manifest(current, contents, prepared, figures, kept=_whole(current, intact)), files


def _parts(shelf: PreparedShelf) -> Mapping[str, list[bytes | memoryview]]:
    return {RECORDS: [shelf.text], KEYS: matrix_bytes(shelf.rows)}


def _figure(current: Manifest | None, path: Path) -> tuple[str, str, str]:
    assert current is not None
    tier = path.parent.name
    return tier, path.name, current.shelves[tier].files[path.name]


def _whole(current: Manifest | None, intact: Collection[Path]) -> bool:
    return current is not None and len(intact) == sum(len(figures.files) for figures in current.shelves.values())


def _manifest(
    current: Manifest | None, contents: Contents, prepared: Prepared, figures: dict[str, ShelfFigures], *, kept: bool
) -> Manifest:
    runs = tuple(sorted(contents.runs, key=_run_key))
    previous = Previous(generation=current.generation, shelves=current.shelves) if current and kept else None
    return sealed(
        Manifest(
            format=FORMAT,
            amd=__version__,
            generation=current.generation + 1 if current else 1,
            benchmark=contents.benchmark,
            method=contents.method,
            all_trials=contents.all_trials,
            embedder=EmbedderFigures(id=contents.embedder_id, dim=contents.width, floor=contents.embedder_floor),
            floors=dict(prepared.floors),
            sources=Sources(
                teachers=tuple(sorted({run.teacher for run in runs})),
                run_ids=tuple(sorted({run.run_id for run in runs})),
                families=tuple(sorted({run.family for run in runs})),
                read=contents.read,
                admitted=contents.read - sum(contents.refused.values()),
                refused=dict(contents.refused),
                terms=contents.terms,
                runs=runs,
            ),
            distiller=dict(contents.distiller),
            costs=dict(contents.costs),
            shelves=figures,
            previous=previous,
            content=prepared.content,
            seal="",
        )
    )


def _run_key(run: Run) -> tuple[str, ...]:
    return run.benchmark, run.task_id, run.family, run.trajectory_sha256, run.teacher, run.run_id, run.distiller


def prune(place: Path, manifest: Manifest) -> None:
    """Remove the generations that the published manifest does not name, older ones and those of dead writers.

    The caller has the lock. ``generations/`` keeps what is not a generation.
    """
    named = {manifest.generation} | ({manifest.previous.generation} if manifest.previous else set())
    for generation, folder in generations_of(place).items():
        if generation not in named:
            remove_folder(folder)
