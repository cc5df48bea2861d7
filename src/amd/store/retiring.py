"""Retiring records: they stay in the memory, and are shown to nobody."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from amd.chat import Rows
from amd.errors import ConfigError, StoreError
from amd.store.contents import Contents, ShelfContents
from amd.store.memory import Memory
from amd.store.publishing import Published, publish

__all__ = ["retire"]


def retire(path: str | os.PathLike[str], record_ids: Collection[str], *, pin: str | None = None) -> Published:
    """Publish the memory with these records retired; all else stays, ids and embedding rows too.

    A record that is retired already stays so. A person makes it active again by editing its line (``amd reindex``).

    Args:
        path: the memory.
        record_ids: of any shelf.
        pin: the seal that the manifest must have.

    Raises:
        ConfigError: the memory has no record of an id; nothing changes.
        StoreError: there is no memory, or it is not what its manifest or the pin says.
    """
    ids = frozenset(record_ids)

    def compose(current: Memory | None) -> Contents:
        if current is None:
            raise StoreError(f"there is no memory at {path}", next_step="name the directory of one", path=str(path))
        return _contents(current, ids)

    return publish(path, compose, pin=pin)


def _contents(memory: Memory, ids: frozenset[str]) -> Contents:
    """What is published, with another state of these records."""
    manifest = memory.manifest
    known: set[str] = set()
    shelves = {}
    for tier, shelf in memory.shelves.items():
        records = list(shelf.records())
        known.update(record.id for record in records)
        rows: Rows = np.array(shelf.rows, np.float32)
        shelves[tier] = ShelfContents(
            [replace(record, status="retired") if record.id in ids else record for record in records], rows
        )
    if unknown := sorted(ids - known):
        raise ConfigError(
            f"the memory at {memory.path} has no record {unknown[0]!r} ({len(unknown)} such ids)",
            next_step="name records of this memory",
            unknown=unknown,
        )
    return Contents(
        method=manifest.method,
        benchmark=manifest.benchmark,
        embedder_id=manifest.embedder.id,
        width=manifest.embedder.dim,
        embedder_floor=manifest.embedder.floor,
        floored=frozenset(manifest.floors),
        pinned_floors={tier: floor.value for tier, floor in manifest.floors.items() if floor.source == "pinned"},
        all_trials=manifest.all_trials,
        runs=manifest.sources.runs,
        read=manifest.sources.read,
        refused=manifest.sources.refused,
        distiller=manifest.distiller,
        costs=manifest.costs,
        terms=manifest.sources.terms,
        shelves=shelves,
    )
