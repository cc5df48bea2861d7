"""What a memory keeps (a record) and what it tells about a question (an exposure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from amd.json_text import JSON, digest
from amd.trajectory import Kind

__all__ = ["Exposure", "Place", "Record", "RecordSource", "RecordTask", "record_id"]

Place = str | int
"""Where in a run an answer stands: ``"task"``, a turn's number, or the caller's name for a failed call."""


@dataclass(frozen=True, slots=True)
class RecordTask:
    """The task that a record comes from; ``instruction_sha256`` is taken before masking (``amd.exclusion``)."""

    benchmark: str
    task_id: str
    family: str
    instruction_sha256: str
    split: str | None = None


@dataclass(frozen=True, slots=True)
class RecordSource:
    """The run that a record comes from; ``steps`` are the first and last call, counted from 1 (0, 0: no call)."""

    teacher: str
    run_id: str
    kind: Kind
    trajectory_sha256: str
    steps: tuple[int, int]
    success: bool = True


@dataclass(frozen=True, slots=True)
class Record:
    """One thing worth remembering: the text it is found by (``key``) and what its tier keeps (``body``).

    ``body`` belongs to the tier that wrote it. A function record also names its ``tool``. A record that tells how tools
    are called has in ``schemas``, by name, the hash of each such tool's schema, as far as the run's tools were known.
    """

    id: str
    tier: str
    key: str
    body: Mapping[str, JSON]
    task: RecordTask
    source: RecordSource
    distiller: str
    created_at: str
    status: str = "active"
    tool: str | None = None
    schemas: Mapping[str, str] = field(default_factory=dict)


def record_id(tier: str, benchmark: str, task_id: str, key: str, body: Mapping[str, JSON]) -> str:
    """The content hash that names a record: no time, no path and no teacher, so a rebuild gives the same id.

    >>> record_id("workflow", "demo", "t1", "move a file", {"text": "Look first."})[:12]
    'af80d5a7391f'
    """
    return digest({"tier": tier, "benchmark": benchmark, "task_id": task_id, "key": key, "body": body})[:32]


@dataclass(frozen=True, slots=True)
class Exposure:
    """What one question to one tier showed, and what it did not show and why.

    ``excluded`` counts records hidden by the viewer (``own_family``, ``same_text``, ``test_family``); ``dropped``
    counts what was found and then not shown: records (``tool_not_offered``, ``stale_schema``, ``near_duplicate``,
    ``repeated``), parts of a text (``over_budget``, ``echo``) and whole hints (``repeat_error``, ``unknown_tool``).
    ``supports`` counts the runs that agree with each shown record. ``own_family`` is how many of the *shown* records
    belong to the asking task's own family: always 0 for a viewer that excludes.
    """

    tier: str
    place: Place
    viewer: str
    task_id: str | None
    query_sha256: str
    record_ids: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    supports: tuple[int, ...] = ()
    considered: int = 0
    below_floor: int = 0
    best: float | None = None
    excluded: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    own_family: int = 0
    tokens: int = 0
    tokens_estimated: bool = True
    tools_known: bool = True
    widened: bool = False
