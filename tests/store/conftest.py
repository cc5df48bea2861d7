"""Records, contents and embedders for the store's tests; ``children.py`` imports this file in other processes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pytest

from amd.chat import Embedder, Rows
from amd.exclusion import instruction_sha256
from amd.json_text import digest
from amd.records import Record, RecordSource, RecordTask, record_id
from amd.store import Contents, Memory, Run, ShelfContents, publish

collect_ignore = ["children.py"]
BENCHMARK = "demo"
TIERS = ("workflow", "subtask", "function")


@dataclass
class FakeEmbedder:
    """A bag of words, each word in one column; it keeps the texts it was asked for and can fail."""

    id: str = "fake-a"
    width: int = 64
    floor: float = 0.35
    fail: Exception | None = None
    texts: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> Rows:
        """One row for each text."""
        if self.fail:
            raise self.fail
        self.texts.extend(text for text in texts if text != "width")  # the width is asked for at opening
        rows = np.zeros((len(texts), self.width), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.casefold().split() or ["nothing"]:
                row[int(hashlib.sha256(word.encode()).hexdigest(), 16) % self.width] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def record(
    number: int = 0,
    key: str = "",
    *,
    tier: str = "workflow",
    body: Mapping[str, object] | None = None,
    family: str = "",
    instruction: str = "",
    tool: str | None = None,
    status: str = "active",
    task_id: str = "",
) -> Record:
    """A record of task ``number``."""
    key = key or f"move report{number} into folder{number} and count words"
    body = {"text": f"Look first, then move report {number}."} if body is None else body
    task = task_id or f"task_{number}"
    return Record(
        id=record_id(tier, BENCHMARK, task, key, body),
        tier=tier,
        key=key,
        body=body,
        task=RecordTask(
            BENCHMARK, task, family or f"family_{number}", instruction_sha256(instruction or f"do task {number}")
        ),
        source=RecordSource("gpt-4o", f"run-{number}", "teacher", digest(task.encode()), (1, 3)),
        distiller="rules",
        created_at="2026-01-02T03:04:05Z",
        status=status,
        tool=tool,
    )


def run(of: Record) -> Run:
    """The admitted run that a record is of."""
    task, source = of.task, of.source
    return Run(
        task.benchmark,
        task.task_id,
        task.family,
        task.instruction_sha256,
        source.trajectory_sha256,
        source.teacher,
        source.run_id,
        "teacher",
        success=True,
        calls=3,
        failed_calls=0,
        distiller="rules",
        prompts="",
    )


def shelf(records: Sequence[Record], embedder: Embedder | None = None) -> ShelfContents:
    """A shelf of these records."""
    keys = [record.key for record in records]
    return ShelfContents(records, (embedder or FakeEmbedder()).embed(keys))


def task_records(number: int) -> dict[str, list[Record]]:
    """Two tiers' records of task ``number``."""
    call = record(number, f"why the tool{number} call", tier="function", tool=f"tool_{number % 3}")
    return {"workflow": [record(number)], "function": [call]}


def contents(
    shelves: Mapping[str, Sequence[Record]], *, embedder: Embedder | None = None, **changes: object
) -> Contents:
    """Contents with these records, embedded by ``embedder``; ``changes`` replace other members."""
    embedder = embedder or FakeEmbedder()
    runs = {run(each) for records in shelves.values() for each in records}
    members = {
        "method": "workflow+function",
        "benchmark": BENCHMARK,
        "embedder_id": embedder.id,
        "width": embedder.embed(["width"]).shape[1],
        "embedder_floor": embedder.floor,
        "floored": frozenset({"workflow", "subtask"}) & shelves.keys(),
        "pinned_floors": {},
        "all_trials": False,
        "runs": sorted(runs, key=repr),
        "read": len(runs) + 1,
        "refused": {"failed": 1},
        "distiller": {"id": "rules", "prompts": ""},
        "costs": {"model_calls": 0, "seconds": 1.5},
        "terms": None,
        "shelves": {tier: shelf(records, embedder) for tier, records in shelves.items()},
    }
    return Contents(**{**members, **changes})


def union(*numbers: int, embedder: Embedder | None = None) -> Callable[[Memory | None], Contents]:
    """A ``compose`` that adds the records of these tasks to what is published; the subtask shelf never changes."""

    def compose(current: Memory | None) -> Contents:
        same = record(0, "move a report", tier="subtask")
        shelves: dict[str, dict[str, Record]] = {"subtask": {same.id: same}}
        for tier, published in current.shelves.items() if current else ():
            shelves[tier] = {each.id: each for each in published.records()}
        for number in numbers:
            for tier, records in task_records(number).items():
                shelves.setdefault(tier, {}).update({each.id: each for each in records})
        return contents({tier: list(records.values()) for tier, records in shelves.items()}, embedder=embedder)

    return compose


def files(place: Path) -> dict[str, bytes]:
    """Every file of a directory and its bytes, but not the lock."""
    paths = (path for path in sorted(place.rglob("*")) if path.is_file() and path.name != ".lock")
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    """The functions of this file."""
    return SimpleNamespace(
        FakeEmbedder=FakeEmbedder,
        record=record,
        run=run,
        shelf=shelf,
        task_records=task_records,
        contents=contents,
        union=union,
        files=files,
    )


@pytest.fixture(autouse=True)
def _quick_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test pulls the plug, and waiting for a disk is most of a publish; that it is asked for is tested."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A memory of tasks 0, 1 and 2, in its first generation."""
    path = tmp_path / "memory"
    publish(path, union(0, 1, 2))
    return path


@pytest.fixture
def grown(place: Path) -> Path:
    """The same memory after task 3 was added: its second generation, the first one kept."""
    publish(place, union(3))
    return place


@pytest.fixture
def edit(grown: Path) -> Callable[..., list[dict[str, Any]]]:
    """Change the lines of the workflow shelf as a person would; each line as its members."""

    def edit(change: Callable[[list[dict[str, Any]]], object], generation: int = 2) -> list[dict[str, Any]]:
        path = grown / f"generations/{generation:06d}/workflow/records.json"
        lines = [orjson.loads(line.rstrip(b",")) for line in path.read_bytes().split(b"\n")[1:-2]]
        result = change(lines)
        changed = result if isinstance(result, list) else lines
        path.write_bytes(b"[\n" + b",\n".join(orjson.dumps(line) for line in changed) + b"\n]\n")
        return lines

    return edit
