"""Records of a garden by hand, and memories of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from amd.exclusion import instruction_sha256
from amd.json_text import JSON, digest
from amd.lint import Report, lint
from amd.lint.records import Placed, RunRecords
from amd.records import Record, RecordSource, RecordTask, record_id
from amd.store import Contents, Run, ShelfContents, publish, read_memory

WIDTH = 8
ASKED = "Water the roses of Ines in 'north bed' with 20 litres before 2031-03-04, order V-0033, then call LXP."
ANSWER = '{"valve": "V-0033", "litres": 42.5, "status": "open"}'


def made(
    tier: str,
    body: Mapping[str, JSON],
    key: str = ASKED,
    *,
    number: int = 1,
    family: str = "",
    tool: str | None = None,
    status: str = "active",
    distiller: str = "model-a",
    steps: tuple[int, int] = (1, 2),
) -> Record:
    """A record of run ``number``."""
    task_id = f"shed-{number}"
    return Record(
        id=record_id(tier, "garden", task_id, key, body),
        tier=tier,
        key=key,
        body=body,
        task=RecordTask("garden", task_id, family or f"family-{number}", instruction_sha256(task_id)),
        source=RecordSource("teacher", "run-1", "teacher", digest(task_id.encode()), steps),
        distiller=distiller,
        created_at="2031-01-02T03:04:05Z",
        status=status,
        tool=tool,
    )


def workflow(text: str, **about: object) -> Record:
    """A workflow of a run that opened a valve and read a sensor."""
    return made("workflow", {"text": text, "tools": ["openValve", "read_moisture"]}, **about)


def subtask(label: str, description: str, **about: object) -> Record:
    """A segment with one call."""
    body: dict[str, JSON] = {
        "label": label,
        "description": description,
        "calls": [{"name": "openValve", "arguments": {"bed": "<bed>", "minutes": 30}}],
        "observations": [ANSWER],
        "tools": ["openValve"],
    }
    return made("subtask", body, f"{label}: {description}", **about)


def function(observation: str = ANSWER, **about: object) -> Record:
    """A good call of ``openValve``."""
    body: dict[str, JSON] = {
        "kind": "call",
        "arguments": {"bed": "<bed>", "minutes": 30},
        "observation": observation,
        "tools": ["openValve"],
    }
    return made("function", body, tool="openValve", **about)


def one_run(*records: Record) -> RunRecords:
    """These records as those of one run."""
    return RunRecords([Placed(record, line) for line, record in enumerate(records, 2)])


def publish_records(place: Path, records: Sequence[Record]) -> Path:
    """A memory of these records with all three shelves."""
    shelves: dict[str, list[Record]] = {"workflow": [], "subtask": [], "function": []}
    for record in records:
        shelves[record.tier].append(record)
    rows = {tier: np.eye(WIDTH, dtype=np.float32)[np.arange(len(each)) % WIDTH] for tier, each in shelves.items()}
    runs = {_run(record) for record in records}
    contents = Contents(
        method="amd",
        benchmark="garden",
        embedder_id="stub",
        width=WIDTH,
        embedder_floor=0.0,
        floored=frozenset({"workflow", "subtask"}),
        pinned_floors={},
        all_trials=False,
        runs=sorted(runs, key=repr),
        read=len(runs),
        refused={},
        distiller={"id": "model-a", "prompts": ""},
        costs={},
        terms=None,
        shelves={tier: ShelfContents(each, rows[tier]) for tier, each in shelves.items()},
    )
    publish(place, lambda _: contents)
    return place


def _run(record: Record) -> Run:
    task, source = record.task, record.source
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
        calls=2,
        failed_calls=0,
        distiller=record.distiller,
        prompts="",
    )


@pytest.fixture(scope="session")
def garden() -> SimpleNamespace:
    """The functions of this file."""
    return SimpleNamespace(
        made=made,
        workflow=workflow,
        subtask=subtask,
        function=function,
        one_run=one_run,
        publish=publish_records,
        ASKED=ASKED,
        ANSWER=ANSWER,
    )


@pytest.fixture(autouse=True)
def _quick_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test pulls the plug."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def linted(tmp_path: Path) -> Callable[..., Report]:
    """Lint a memory of some records."""

    def run_lint(*records: Record, **options: object) -> Report:
        with read_memory(publish_records(tmp_path / "memory", records)) as memory:
            return lint(memory, **options)

    return run_lint
