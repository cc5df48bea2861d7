"""Made-up runs: an arm, its outcomes by task, and what it was shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from amd.arms import Arm, RunLog, RunResults, TaskResult
from amd.records import Exposure

CONTENT = "c" * 64


def family(task_id: str) -> str:
    """Three tasks in a row are one family: t0, t1 and t2 are f0."""
    return f"f{int(task_id[1:]) // 3}"


def log(arm: Arm, task_id: str, *, hits: int = 0, shown: int = 1) -> RunLog:
    """A log that shows records of a far family, and ``hits`` of the task's own."""
    families = tuple([family(task_id)] * hits + ["f99"] * shown)
    seen = Exposure(
        "workflow",
        "task",
        arm.protocol,
        task_id,
        "0" * 64,
        record_ids=tuple(f"{number:032x}" for number in range(len(families))),
        families=families,
        scores=tuple(0.5 for _ in families),
        supports=tuple(1 for _ in families),
        tokens=10 * len(families),
    )
    none = arm.method == "none"
    return RunLog(
        method=arm.method,
        protocol=arm.protocol,
        mode=arm.mode,
        layout=arm.layout,
        memory=None if none else CONTENT,
        task_id=task_id,
        family=family(task_id),
        exposures=() if none else (seen,),
        calls=4,
        failed_calls=1,
        hints=0,
        placeholders=1,
        system_changes=0,
    )


@pytest.fixture
def made():
    """Makes the results of a run: ``outcomes`` maps a task to True, False or a fault."""

    def make(name, outcomes, *, hits=None, tokens=(100, 10), benchmark="garden", student="s", values=None, **arm):
        arm = Arm.of({"method": "none", "memory": "memory", **arm})
        tasks = []
        for task_id, ended in outcomes.items():
            if isinstance(ended, str):
                tasks.append(TaskResult(task_id, family(task_id), success=None, fault=ended))
                continue
            told = log(arm, task_id, hits=(hits or {}).get(task_id, 0))
            tasks.append(
                TaskResult(
                    task_id,
                    family(task_id),
                    success=ended,
                    steps=4,
                    seconds=2.0,
                    prompt_tokens=tokens[0],
                    completion_tokens=tokens[1],
                    log=told,
                )
            )
        return RunResults(
            path=Path("runs") / name,
            benchmark=benchmark,
            student=student,
            arm=arm,
            tasks=tuple(tasks),
            memory_content=None if arm.method == "none" else CONTENT,
            memory_from=() if arm.method == "none" else ("gpt (teacher)",),
            **(values or {}),
        )

    return make
