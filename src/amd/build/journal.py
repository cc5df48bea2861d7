"""The journal of a build: each finished reply of a model, parsed and masked, so that no paid call is made twice.

One JSON line a reply in ``.journal.jsonl``, appended under the memory's lock, which is never held across a call. A line
that a kill tore is dropped. The journal goes when its build is published.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from amd.json_text import JSON, dumps
from amd.store.files import typed
from amd.store.place import JOURNAL, LOCK
from amd.store.publishing import locked

__all__ = ["Entry", "Journal"]

_NEXT = "make room or repair the disk, and run the same command again: finished replies are kept"


@dataclass(frozen=True, slots=True)
class Entry:
    """One finished assignment: the reply, or why there is none (``reason``, ``detail``), and what asking for it cost.

    ``costs`` has requests, prompt_tokens, completion_tokens, seconds, retries, repairs, lengthened.
    """

    key: str
    purpose: str
    reply: JSON
    reason: str | None = None
    costs: Mapping[str, int | float] = field(default_factory=dict)
    detail: str = ""


class _Line(BaseModel):
    """A line as it must be."""

    model_config = ConfigDict(extra="forbid", strict=True)

    key: str
    purpose: str
    reply: Any  # JSON: the alias is recursive, which pydantic cannot take
    reason: str | None
    detail: str
    costs: dict[str, Annotated[int, Field(ge=0, le=2**53)] | Annotated[float, Field(ge=0, allow_inf_nan=False)]]


_LINE = TypeAdapter(_Line)


class Journal:
    """The finished replies of the builds at ``place``; shared by all threads of one build.

    ``dropped`` counts lines that could not be read, most often one that a kill tore.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Journal(Path(folder)).add(Entry("k1", "insight", {"text": "Look first."}))
    ...     print(Journal(Path(folder)).get("k1").reply)
    {'text': 'Look first.'}
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._path = place / JOURNAL
        self._guard = Lock()
        self._entries: dict[str, Entry] = {}
        self._used: set[str] = set()
        self.dropped = 0
        with typed(_NEXT):
            text = self._path.read_bytes() if self._path.exists() else b""
        for line in text.split(b"\n"):
            self._load(line)
        self._found = frozenset(self._entries)

    def _load(self, line: bytes) -> None:
        if not line:
            return
        try:
            entry = _LINE.validate_json(line)
            dumps(entry.reply)
        except ValueError:  # no line of ours, or one that cannot be written again
            self.dropped += 1
            return
        self._entries[entry.key] = Entry(**dict(entry))

    def get(self, key: str) -> Entry | None:
        """The finished assignment of a key; asking marks it as used."""
        with self._guard:
            self._used.add(key)
            return self._entries.get(key)

    def add(self, entry: Entry) -> None:
        """Keep a finished assignment, on the disk before this returns.

        Raises:
            StoreError: it could not be written.
        """
        line = dumps(entry) + b"\n"
        with self._guard, typed(_NEXT), locked(self._place):
            self._append(line)
            self._entries[entry.key] = entry

    def _append(self, line: bytes) -> None:
        with self._path.open("ab") as file:
            # A kill may have torn the last line: what follows must not become part of it.
            torn = file.tell() and not self._ends_a_line()
            file.write(b"\n" + line if torn else line)
            file.flush()
            os.fsync(file.fileno())

    def _ends_a_line(self) -> bool:
        with self._path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"

    @property
    def unused(self) -> int:
        """How many replies that were there at the start were not asked for: of other runs, prompts or models."""
        return len(self._found - self._used)

    def settle(self) -> None:
        """Take out what this build asked for: it is published. Replies that are not of its input stay."""
        with self._guard, typed(_NEXT), locked(self._place):
            if not self._path.exists():
                return
            done = self._used
            others = Journal(self._place)
            left = [entry for key, entry in others._entries.items() if key not in done]
            if not left:
                self._path.unlink()
                return
            beside = self._path.with_name(f"{LOCK}{JOURNAL}")  # a name of writers, should a kill leave it
            with beside.open("wb") as file:
                file.write(b"".join(dumps(entry) + b"\n" for entry in left))
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)
