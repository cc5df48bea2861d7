"""Whether a record belongs to a run of the manifest: task, family and instruction are what hides it from its own task.

A person may edit what a record says, never what it comes from: with another family it would be shown to the very task
that it was learnt from, and nothing else in the memory could tell.
"""

from __future__ import annotations

from collections.abc import Iterable

from amd.records import Record
from amd.store.figures import Run

__all__ = ["Origins"]


class Origins:
    """The runs of a memory, by task and trajectory."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs = {(run.benchmark, run.task_id, run.trajectory_sha256): run for run in runs}

    def fault(self, record: Record) -> str | None:
        """What is wrong with a record's origin, or ``None``."""
        task = record.task
        run = self._runs.get((task.benchmark, task.task_id, record.source.trajectory_sha256))
        if run is None:
            return f"it is of task {task.task_id!r} and of no run that the manifest names"
        if task.family != run.family:
            return f"its family is {task.family!r}, that of its run is {run.family!r}"
        if task.instruction_sha256 != run.instruction_sha256:
            return f"its instruction_sha256 is {task.instruction_sha256}, that of its run is {run.instruction_sha256}"
        return None
