"""What a writer wants published, and the check that it can be: everything is encoded before anything is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from amd.chat import Rows
from amd.errors import ConfigError, StoreError
from amd.json_text import JSON, digest
from amd.records import Record
from amd.store.figures import Floor, Run
from amd.store.floors import measure
from amd.store.lines import document, encode
from amd.store.matrix import check_rows, check_shape
from amd.store.origins import Origins

__all__ = ["Contents", "Prepared", "PreparedShelf", "ShelfContents", "content_digest", "prepare"]


@dataclass(frozen=True, slots=True)
class ShelfContents:
    """The records of one tier and their embedding rows (float32, shape (records, width)), in the same order."""

    records: Sequence[Record]
    rows: Rows


@dataclass(frozen=True, slots=True)
class Contents:
    """A whole memory as a writer composes it.

    ``embedder_floor`` is the embedder's own floor, for shelves that are too small to measure theirs; ``floored`` names
    the shelves that have a floor at all, ``pinned_floors`` those whose floor a person set. ``read`` and ``refused``
    count the runs of the input. ``runs`` are the admitted ones, in any order.
    """

    method: str
    benchmark: str
    embedder_id: str
    width: int
    embedder_floor: float
    floored: frozenset[str]
    pinned_floors: Mapping[str, float]
    all_trials: bool
    runs: Sequence[Run]
    read: int
    refused: Mapping[str, int]
    distiller: Mapping[str, str]
    costs: Mapping[str, int | float]
    terms: str | None
    shelves: Mapping[str, ShelfContents]


@dataclass(frozen=True, slots=True)
class PreparedShelf:
    """A shelf ready to be written: records sorted by (family, task_id, id), their lines, and rows in that order."""

    records: Sequence[Record]
    rows: Rows
    text: bytes


@dataclass(frozen=True, slots=True)
class Prepared:
    """All shelves, their floors, and the digest of the content."""

    shelves: Mapping[str, PreparedShelf]
    floors: Mapping[str, Floor]
    content: str


def prepare(contents: Contents) -> Prepared:
    """Check and encode everything, so that what can fail does so before a file is touched.

    Raises:
        StoreError: a record that cannot be written, is of no run, stands in the wrong shelf or twice; a faulty row.
        RowsDoNotMatch, WidthDoesNotMatch: rows of another number or width.
        ConfigError: a floor for a shelf that has none.
    """
    strange = sorted(set(contents.pinned_floors) - contents.floored)
    if strange:
        raise ConfigError(
            f"a floor for {strange[0]!r}, but only {', '.join(sorted(contents.floored)) or 'no shelf'} has one",
            next_step="leave that floor out",
            tier=strange[0],
        )
    origins = Origins(contents.runs)
    for name, shelf in sorted(contents.shelves.items()):
        _check_names(name, shelf.records, origins)
    shelves = {name: _prepare_shelf(name, shelf, contents.width) for name, shelf in sorted(contents.shelves.items())}
    floors = {name: _floor(name, shelf, contents) for name, shelf in shelves.items() if name in contents.floored}
    records = {name: shelf.records for name, shelf in shelves.items()}
    return Prepared(shelves, floors, content_digest(contents.embedder_id, contents.width, contents.method, records))


def _prepare_shelf(name: str, shelf: ShelfContents, width: int) -> PreparedShelf:
    where = f"shelf {name!r}"
    rows = np.ascontiguousarray(shelf.rows, np.float32)
    check_shape(rows.shape, where, rows=len(shelf.records), width=width)
    check_rows(rows, where)
    order = sorted(range(len(shelf.records)), key=lambda place: _sort_key(shelf.records[place]))
    records = [shelf.records[place] for place in order]
    rows = rows[order]
    lines = [encode(record, row) for record, row in zip(records, rows, strict=True)]
    return PreparedShelf(records, rows, document(lines))


def _sort_key(record: Record) -> tuple[str, str, str]:
    return record.task.family, record.task.task_id, record.id


def _check_names(name: str, records: Sequence[Record], origins: Origins) -> None:
    seen: set[str] = set()
    for record in records:
        if fault := origins.fault(record):
            raise StoreError(
                f"record {record.id}: {fault}",
                next_step="nothing was written; give its run with it, unchanged",
                record=record.id,
            )
        if record.tier != name:
            raise StoreError(
                f"record {record.id} is of tier {record.tier!r}, its shelf is {name!r}",
                next_step="nothing was written; put it on its own shelf",
                record=record.id,
            )
        if record.id in seen:
            raise StoreError(
                f"shelf {name!r} holds record {record.id} twice",
                next_step="nothing was written; give each record once",
                record=record.id,
            )
        seen.add(record.id)


def _floor(name: str, shelf: PreparedShelf, contents: Contents) -> Floor:
    if name in contents.pinned_floors:
        return Floor(value=contents.pinned_floors[name], source="pinned", pairs=0)
    return measure(shelf.rows, [record.task.family for record in shelf.records], contents.embedder_floor)


def content_digest(embedder_id: str, width: int, method: str, shelves: Mapping[str, Sequence[Record]]) -> str:
    """What a memory says, as one hash: equal records give an equal digest.

    Generation number, times, costs and the order of work do not enter.

    >>> content_digest("hash", 1024, "amd", {"workflow": []})[:12]
    '174846663ebd'
    """
    listed: dict[str, JSON] = {
        name: [
            [record.id, digest(record.key.encode()), digest(record.body)]
            for record in sorted(records, key=lambda record: record.id)
        ]
        for name, records in shelves.items()
    }
    return digest({"embedder": {"id": embedder_id, "dim": width}, "method": method, "shelves": listed})
