"""One record as one line of JSON, and back.

What a search needs to know of every record stands first, in a fixed order, so that opening reads it without
decoding. Last stand three hashes: of the row that belongs to the key, so that lines can be moved or removed by hand
and still find their rows; of what the record comes from, which nobody may edit; and of the line itself, so that an edit
by hand is seen. They find mistakes: whoever computes them anew forges a line, and only a pinned seal notices that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

import orjson
from pydantic import BaseModel, ConfigDict, Field, field_validator

from amd.chat import Rows
from amd.errors import StoreError
from amd.json_text import JSON, digest
from amd.records import Record, RecordSource, RecordTask, record_id
from amd.trajectory import Kind

__all__ = ["Status", "StoredLine", "decode", "document", "encode", "line_sha256", "origin_sha256", "row_sha256"]

Status = Literal["active", "retired"]
"""A retired record is kept and shown to nobody."""

_SEAL = "line_sha256"
_ORIGIN = (
    "id",
    "tier",
    "benchmark",
    "task_id",
    "family",
    "instruction_sha256",
    "split",
    "source",
    "tool",
    "distiller",
    "created_at",
)
"""The id and all that a person may not edit (key, body, status, schemas); a missing member counts as ``null``."""


def row_sha256(row: Rows) -> str:
    """The hash of a row's little-endian bytes."""
    return hashlib.sha256(row.astype("<f4", copy=False).tobytes()).hexdigest()


def line_sha256(fields: Mapping[str, JSON]) -> str:
    """The hash of a line's members without this hash, in whatever order and spacing they stand."""
    rest = {name: value for name, value in fields.items() if name != _SEAL}
    return hashlib.sha256(orjson.dumps(rest, option=orjson.OPT_SORT_KEYS)).hexdigest()


def origin_sha256(fields: Mapping[str, Any]) -> str:
    """The hash of what a line's record comes from: its id and every member that a person may not edit."""
    origin = {name: fields.get(name) for name in _ORIGIN}
    return hashlib.sha256(orjson.dumps(origin, option=orjson.OPT_SORT_KEYS)).hexdigest()


def encode(record: Record, row: Rows) -> bytes:
    """The line of a record and its row.

    Raises:
        StoreError: the record cannot be written (a lone surrogate, NaN, an integer beyond 64 bits), its status is no
            word of ``Status``, its steps are no pair of calls, or its id is not the hash of its content.
    """
    task, source = record.task, record.source
    if fault := _fault_in_status(record.status) or _fault_in_steps(source.steps):
        raise StoreError(
            f"record {record.id} of task {task.task_id!r}: {fault}",
            next_step="nothing was written; repair what distilled it",
            record=record.id,
        )
    fields: dict[str, Any] = {
        "id": record.id,
        "family": task.family,
        "instruction_sha256": task.instruction_sha256,
        "tool": record.tool,
        "status": record.status,
        "key_sha256": "",
        "tier": record.tier,
        "key": record.key,
        "body": record.body,
        "benchmark": task.benchmark,
        "task_id": task.task_id,
        "split": task.split,
        "source": {
            "teacher": source.teacher,
            "run_id": source.run_id,
            "kind": source.kind,
            "trajectory_sha256": source.trajectory_sha256,
            "steps": source.steps,
            "success": source.success,
        },
        "distiller": record.distiller,
        "created_at": record.created_at,
        "schemas": record.schemas,
        "row_sha256": row_sha256(row),
    }
    try:
        fields["key_sha256"] = digest(record.key.encode())
        content = record_id(record.tier, task.benchmark, task.task_id, record.key, record.body)
        fields["origin_sha256"] = origin_sha256(fields)
        fields[_SEAL] = line_sha256(fields)
        line = orjson.dumps(fields)
    except (TypeError, ValueError) as error:
        raise StoreError(
            f"record {record.id} of task {task.task_id!r} cannot be written: {error}",
            next_step="nothing was written; repair what distilled it",
            record=record.id,
        ) from error
    if content != record.id:
        raise StoreError(
            f"record {record.id} of task {task.task_id!r}: the hash of its content is {content}",
            next_step="nothing was written; name a record by amd.records.record_id",
            record=record.id,
            found=content,
        )
    return line


def _fault_in_status(status: str) -> str | None:
    known = get_args(Status)
    return None if status in known else f"the status is {status!r}, not one of {', '.join(known)}"


def _fault_in_steps(steps: Sequence[int]) -> str | None:
    """Steps are the first and the last call, from 1; (0, 0) is no call."""
    first, last = steps
    return None if 1 <= first <= last or (first, last) == (0, 0) else f"the steps are {first} to {last}"


def document(lines: list[bytes]) -> bytes:
    """The bytes of a records file: a JSON array, one record a line."""
    return b"[\n" + b",\n".join(lines) + b"\n]\n" if lines else b"[]\n"


def decode(line: bytes) -> Record:
    """The record of a line that :func:`encode` wrote and a hash vouches for.

    Raises:
        StoreError: it is not such a line.
    """
    try:
        return _record(orjson.loads(line))
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"not a record: {line[:80]!r} ({type(error).__name__}: {error})",
            next_step="run: amd check on the memory",
        ) from error


def _record(fields: Mapping[str, Any]) -> Record:
    source = fields["source"]
    return Record(
        fields["id"],
        fields["tier"],
        fields["key"],
        fields["body"],
        RecordTask(
            fields["benchmark"], fields["task_id"], fields["family"], fields["instruction_sha256"], fields["split"]
        ),
        RecordSource(
            source["teacher"],
            source["run_id"],
            source["kind"],
            source["trajectory_sha256"],
            tuple(source["steps"]),
            source["success"],
        ),
        fields["distiller"],
        fields["created_at"],
        fields["status"],
        fields["tool"],
        fields["schemas"],
    )


class _StoredSource(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    teacher: str
    run_id: str
    kind: Kind
    trajectory_sha256: str
    steps: list[int]
    success: bool

    @field_validator("steps")
    @classmethod
    def _a_pair(cls, steps: list[int]) -> list[int]:
        if len(steps) != 2:
            raise ValueError(f"steps are the first and the last call, not {len(steps)} numbers")
        if fault := _fault_in_steps(steps):
            raise ValueError(fault)
        return steps


class StoredLine(BaseModel):
    """A line that a person may have edited or added: checked member by member, the hashes may be missing."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str = ""
    family: str
    instruction_sha256: str
    tool: str | None = None
    status: Status = "active"
    key_sha256: str = ""
    tier: str
    key: str
    body: dict[str, Any]
    benchmark: str
    task_id: str
    split: str | None = None
    source: _StoredSource
    distiller: str
    created_at: str
    schemas: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]] = {}
    row_sha256: str = ""
    origin_sha256: str = ""
    line_sha256: str = ""

    def record(self) -> Record:
        """The record, under the id that its content gives now."""
        fields = self.model_dump()
        fields["id"] = record_id(self.tier, self.benchmark, self.task_id, self.key, self.body)
        return _record(fields)
