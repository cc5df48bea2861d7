"""A records file as columns: what a search must know of every record, read without decoding any."""

from __future__ import annotations

import mmap
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import orjson

from amd.errors import StoreError

__all__ = ["Columns", "read_columns"]

_TEXT = rb'"(?:[^"\\]|\\.)*+"'
_LINE = re.compile(
    rb'\{"id":"([0-9a-f]{32})","family":(' + _TEXT + rb'),"instruction_sha256":"([0-9a-f]{64})","tool":(null|' + _TEXT
    # The comma is missing in the last line alone.
    + rb'),"status":(' + _TEXT + rb'),"key_sha256":"([0-9a-f]{64})",[^\n]*+\n'
)  # fmt: skip
_FIRST, _LAST, _EMPTY = b"[\n", b"]\n", b"[]\n"


@dataclass(frozen=True, slots=True)
class Columns:
    """One entry a record, in the order of the file.

    ``starts`` has one entry more: where the closing bracket stands. ``origin`` and ``tool`` are places in ``origins``
    (the distinct pairs of family and instruction hash) and in ``tools`` (where place 0 is "no tool").
    """

    starts: npt.NDArray[np.int64]
    ids: npt.NDArray[np.bytes_]
    keys: npt.NDArray[np.bytes_]
    origin: npt.NDArray[np.int32]
    tool: npt.NDArray[np.int32]
    active: npt.NDArray[np.bool_]
    origins: tuple[tuple[str, str], ...]
    tools: tuple[str | None, ...]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(slots=True)
class _Growing:
    """Columns while the file is read; equal families, tools and states are decoded once."""

    starts: list[int] = field(default_factory=list)
    ids: bytearray = field(default_factory=bytearray)
    keys: bytearray = field(default_factory=bytearray)
    origin: list[int] = field(default_factory=list)
    tool: list[int] = field(default_factory=list)
    active: bytearray = field(default_factory=bytearray)
    origins: dict[tuple[bytes, bytes], int] = field(default_factory=dict)
    tools: dict[bytes, int] = field(default_factory=lambda: {b"null": 0})

    def add(self, start: int, groups: tuple[Any, ...]) -> None:
        """Take in one line: its start and id, family, instruction hash, tool, status and key hash as JSON bytes."""
        name, family, instruction, tool, status, key = groups
        self.starts.append(start)
        self.ids += name
        self.keys += key
        self.origin.append(self.origins.setdefault((family, instruction), len(self.origins)))
        self.tool.append(self.tools.setdefault(tool, len(self.tools)))
        self.active.append(status == b'"active"')

    def done(self, end: int) -> Columns:
        """The columns of all lines taken in."""
        return Columns(
            starts=np.array([*self.starts, end], np.int64),
            ids=np.frombuffer(bytes(self.ids), "S32"),
            keys=np.frombuffer(bytes(self.keys), "S64"),
            origin=np.array(self.origin, np.int32),
            tool=np.array(self.tool, np.int32),
            active=np.frombuffer(bytes(self.active), np.bool_),
            origins=tuple((orjson.loads(family), instruction.decode()) for family, instruction in self.origins),
            tools=tuple(orjson.loads(tool) for tool in self.tools),
        )


def read_columns(text: mmap.mmap | bytes, where: str) -> Columns:
    """The columns of a records file; ``where`` names it in errors.

    Raises:
        StoreError: it is not a JSON array with one record a line.
    """
    columns = _Growing()
    if text[: len(_EMPTY) + 1] == _EMPTY:
        return columns.done(len(_EMPTY))
    if text[: len(_FIRST)] != _FIRST or text[-len(_LAST) :] != _LAST or text[-3:-2] != b"\n":
        _refuse(where, 1, "no JSON array with one record a line")
    at, end = len(_FIRST), len(text) - len(_LAST)
    match = _LINE.match
    while at < end:
        line = match(text, at)
        if line is None:
            at = _add_by_decoding(columns, text, at, where)
        else:
            columns.add(at, line.groups())
            at = line.end()
    return columns.done(end)


def _add_by_decoding(columns: _Growing, text: mmap.mmap | bytes, at: int, where: str) -> int:
    """Take in a line whose members stand in another order or spacing; where the next line starts."""
    end = text.find(b"\n", at) + 1
    number = len(columns.starts) + 2
    try:
        fields = orjson.loads(text[at:end].rstrip(b",\n"))
        groups = (
            _hexadecimal(fields["id"], 32),
            orjson.dumps(fields["family"]),
            _hexadecimal(fields["instruction_sha256"], 64),
            orjson.dumps(fields["tool"]),
            orjson.dumps(fields["status"]),
            _hexadecimal(fields["key_sha256"], 64),
        )
    except (ValueError, KeyError, TypeError) as error:
        _refuse(where, number, f"not a record ({type(error).__name__}: {error})")
    columns.add(at, groups)
    return end


def _hexadecimal(value: str, length: int) -> bytes:
    if not re.fullmatch(f"[0-9a-f]{{{length}}}", value):
        raise ValueError(f"{value[:80]!r} is no hash of {length} digits")
    return value.encode()


def _refuse(where: str, line: int, what: str) -> NoReturn:
    raise StoreError(f"{where}:{line}: {what}", next_step="run: amd check on the memory", file=where, line=line)
