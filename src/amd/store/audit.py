"""``amd check``: every check of a memory, with every fault named, and nothing changed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from amd.chat import Embedder
from amd.errors import StoreError
from amd.store.asking import Asking
from amd.store.edits import FaultIn
from amd.store.inspection import Fault, Inspection
from amd.store.manifest import read_manifest
from amd.store.place import MANIFEST

__all__ = ["Report", "check"]

_TRIES = 5


@dataclass(frozen=True, slots=True)
class Report:
    """All faults; digest and seal as the manifest gives them, and the number of records of each shelf."""

    ok: bool
    faults: tuple[Fault, ...]
    digest: str
    seal: str
    shelves: Mapping[str, int]


def check(
    path: str | os.PathLike[str],
    pin: str | None = None,
    embedder: Embedder | None = None,
    *,
    fault_in: FaultIn | None = None,
) -> Report:
    """Check everything about a memory.

    Beside all that opening checks: each record against its id, each row against its record, the kept previous
    generation, the content digest, files that do not belong there. An edit by hand is named by record and line; one
    whose hashes were all computed anew is seen by the file's hash, and named as far as the kept generation tells. What
    a writer that is at work or died may leave is no fault: the next writer clears it.

    No lock is taken. If there were faults and another generation was published meanwhile, that one is checked.

    Args:
        path: the memory; nothing in it is changed.
        pin: the seal that it must have.
        embedder: what it must have been embedded by.
        fault_in: what is wrong with a body, given its tier's name, or ``None``; asked about each record.
    """
    place = Path(path)
    for _ in range(_TRIES):
        report = _checked(place, pin, embedder, fault_in)
        if report.ok or _seal_now(place) == report.seal:
            return report
    writer = Fault(MANIFEST, f"published anew in each of {_TRIES} checks; check again when no writer is at work")
    return replace(report, faults=(writer, *report.faults))


def _checked(place: Path, pin: str | None, embedder: Embedder | None, fault_in: FaultIn | None) -> Report:
    inspection = Inspection(place, fault_in)
    manifest = inspection.manifest(pin)
    if manifest is None:
        return Report(ok=False, faults=tuple(inspection.faults), digest="", seal="", shelves={})
    if embedder is not None:
        inspection.attempt(MANIFEST, lambda: Asking(place, manifest.embedder, embedder))
    inspection.shelves(manifest)
    inspection.previous(manifest)
    inspection.attempt("", lambda: inspection.strays(manifest))
    return Report(
        ok=not inspection.faults,
        faults=tuple(inspection.faults),
        digest=manifest.content,
        seal=manifest.seal,
        shelves={tier: figures.rows for tier, figures in manifest.shelves.items()},
    )


def _seal_now(place: Path) -> str:
    """The published seal, empty if no manifest can be read."""
    try:
        return read_manifest(place).seal
    except (StoreError, OSError):
        return ""
