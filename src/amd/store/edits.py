"""A records file as a person may have left it: line by line, with what differs from what was written."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import orjson
from pydantic import ValidationError

from amd.json_text import JSON, digest, loads
from amd.mask import Mask
from amd.records import Record, record_id
from amd.store.lines import StoredLine, line_sha256, origin_sha256

__all__ = ["Broken", "FaultIn", "Parsed", "difference", "parse_lines"]

FaultIn: TypeAlias = Callable[[str, Mapping[str, JSON]], str | None]
"""(a tier's name, a body) -> what is wrong with it, ``None`` if that tier can read it."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A line that holds a record; ``record`` has the id that its content gives, ``stored.id`` the id it had.

    What was edited is masked in ``record`` by the value-shaped rules (``amd.mask``).
    ``changes`` says what was edited, in words; it is empty for an untouched line. ``origin`` is the hash that the line
    gives for what its record comes from: not ``stored.origin_sha256`` if that was edited. Whoever computes all of a
    line's hashes anew makes it pass for untouched; the file's own hash in the manifest still differs.
    """

    number: int
    stored: StoredLine
    record: Record
    changes: str
    origin: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that holds no record, and why."""

    number: int
    what: str


def parse_lines(text: bytes) -> tuple[list[Parsed], list[Broken]]:
    r"""The records of a file and its broken lines; only ``\n`` separates lines, blank ones and commas do not matter."""
    lines = [(number, line.strip()) for number, line in enumerate(text.split(b"\n"), 1)]
    lines = [(number, line) for number, line in lines if line]
    parsed: list[Parsed] = []
    broken: list[Broken] = []
    if [line for _, line in lines] == [b"[]"]:
        return parsed, broken
    for place, bracket in ((0, b"["), (-1, b"]")):
        if not lines or lines[place][1] != bracket:
            broken.append(Broken(lines[place][0] if lines else 1, f"expected {bracket.decode()} on a line of its own"))
    for number, line in lines:
        if line in (b"[", b"]"):
            continue
        # A person's JSON may be anything: too deep, a lone surrogate, a number for a text.
        try:
            parsed.append(_parse(number, line.removesuffix(b",")))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            broken.append(Broken(number, f"{'.'.join(map(str, first['loc']))}: {first['msg']}"))
        except (ValueError, TypeError, RecursionError) as error:
            broken.append(Broken(number, " ".join(str(error).split())[:200]))
    return parsed, broken


def _parse(number: int, line: bytes) -> Parsed:
    fields = loads(line, members=_each_once)
    stored = StoredLine.model_validate(fields)
    assert isinstance(fields, dict)
    record = stored.record()
    changes = _changes(stored, record, line_sha256(fields))
    return Parsed(number, stored, _masked(record) if changes else record, changes, origin_sha256(fields))


def _each_once(members: list[tuple[str, JSON]]) -> JSON:
    """An object of its members; a person sees the first of two of one name, a parser takes the last."""
    found: dict[str, JSON] = {}
    for name, value in members:
        if name in found:
            raise ValueError(f"the member {name!r} stands twice in one object")
        found[name] = value
    return found


def _masked(record: Record) -> Record:
    """What a person typed, through the value-shaped rules: an edit is no door for a secret."""
    mask = Mask()
    key, body = mask.text(record.key), mask.value(record.body)
    assert isinstance(body, Mapping)
    own_id = record_id(record.tier, record.task.benchmark, record.task.task_id, key, body)
    return replace(record, id=own_id, key=key, body=body)


def _changes(stored: StoredLine, record: Record, line: str) -> str:
    if not stored.id:
        return "a record added by hand"
    if digest(stored.key.encode()) != stored.key_sha256:
        return "its key was edited by hand"
    if record.id != stored.id:
        return f"its body, or its key and key_sha256, edited by hand: its content has the id {record.id}"
    if line != stored.line_sha256:
        return "edited by hand beside its key and body"
    return ""


def difference(old: Record | None, line: Parsed) -> str:
    """A unified diff of what a person edits: key, status, schemas, body. Without ``old`` all is new, and it says so."""
    new = line.record
    before, after = ([] if record is None else _readable(record) for record in (old, new))
    if old is not None:
        name = old.id
    elif line.stored.id:
        name = f"{line.stored.id} (the text before is not kept; {line.changes})"
    else:
        name = f"({line.changes})"
    return "\n".join(difflib.unified_diff(before, after, name, f"{new.tier}/{new.id}", lineterm=""))


def _readable(record: Record) -> list[str]:
    shown = {"key": record.key, "status": record.status, "schemas": record.schemas, "body": record.body}
    return orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode().split("\n")
