"""The memory directory: opened and searched by the student's side, published by the teacher's.

Its rooms, top first::

    audit       check, whoever publishes meanwhile  inspection  every fault named
    reindexing  takes in edits by hand              standing    which lines and rows still hold
    retiring    records shown to nobody any more
    publishing  one writer at a time, one replace of the manifest
    memory      opening with all checks             shelf     one tier's search
    generation  the files of one generation         contents  what a writer wants published
    origins     whether a record is of its run      kept      what the kept generation says of an edit
    edits       what a person changed
    visible · ranking · lexical · asking · floors   who is seen, in which order, for which row, from where on
    columns     a records file without decoding     matrix    the embedding rows
    figures     what is published                   manifest  its bytes, sealed
    lines       one record as one line, and its hashes
    place       which directories are ours          strays    what does not belong in one
    files       every operation on a file

Names are loaded when they are first used: a student's side never loads what only a writer needs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amd.store.audit import Report, check
    from amd.store.contents import Contents, ShelfContents
    from amd.store.figures import Manifest, Run
    from amd.store.inspection import Fault
    from amd.store.memory import Memory, open_memory, read_memory
    from amd.store.place import check_place, is_memory
    from amd.store.publishing import Published, publish
    from amd.store.reindexing import Edit, ReindexReport, reindex
    from amd.store.shelf import Found, Shelf

__all__ = [
    "Contents",
    "Edit",
    "Fault",
    "Found",
    "Manifest",
    "Memory",
    "Published",
    "ReindexReport",
    "Report",
    "Run",
    "Shelf",
    "ShelfContents",
    "check",
    "check_place",
    "is_memory",
    "open_memory",
    "publish",
    "read_memory",
    "reindex",
]

_HOMES = {
    "Contents": "contents",
    "Edit": "reindexing",
    "Fault": "inspection",
    "Found": "shelf",
    "Manifest": "figures",
    "Memory": "memory",
    "Published": "publishing",
    "ReindexReport": "reindexing",
    "Report": "audit",
    "Run": "figures",
    "Shelf": "shelf",
    "ShelfContents": "contents",
    "check": "audit",
    "check_place": "place",
    "is_memory": "place",
    "open_memory": "memory",
    "publish": "publishing",
    "read_memory": "memory",
    "reindex": "reindexing",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return __all__
