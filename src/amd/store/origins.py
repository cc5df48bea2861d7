"""Whether a record belongs to a run of the manifest: task, family and instruction are what hides it from its own task.

A person may edit what a record says, never what it comes from: with another family it would be shown to the very task
that it was learnt from. That it fits *some* run is not enough for a line that was written by us: with the origin of
another run it would be shown to its own task too. So it must still have the hash of its own origin.
"""

from __future__ import annotations

from collections.abc import Iterable

from amd.records import Record
from amd.store.edits import Parsed
from amd.store.figures import Run

__all__ = ["Origins"]


class Origins:
    """The runs of a memory, by task and trajectory."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._runs: dict[tuple[str, str, str], list[Run]] = {}
        for run in runs:
            self._runs.setdefault((run.benchmark, run.task_id, run.trajectory_sha256), []).append(run)

    def fault(self, record: Record) -> str | None:
        """What is wrong with a record's origin, or ``None`` if it is all that of one run."""
        task = record.task
        runs = self._runs.get((task.benchmark, task.task_id, record.source.trajectory_sha256))
        if runs is None:
            return f"it is of task {task.task_id!r} and of no run that the manifest names"
        faults = [_difference(record, run) for run in runs]
        return None if None in faults else faults[0]

    def fault_in_line(self, line: Parsed) -> str | None:
        """What is wrong with the origin of a line: another one than it was written with, or one that fits no run.

        A line without an id was added by hand: it has no origin but the run that it names.
        """
        fault, stored = self.fault(line.record), line.stored
        if stored.id and line.origin != stored.origin_sha256:
            hashes = f"its origin_sha256 is {stored.origin_sha256 or 'missing'}, its members give {line.origin}"
            return f"what it comes from was edited: {fault or hashes}"
        return fault


def _difference(record: Record, run: Run) -> str | None:
    """The first member of a record's origin that its run has not."""
    task, source = record.task, record.source
    pairs: tuple[tuple[str, object, object], ...] = (
        ("family", task.family, run.family),
        ("instruction_sha256", task.instruction_sha256, run.instruction_sha256),
        ("teacher", source.teacher, run.teacher),
        ("run_id", source.run_id, run.run_id),
        ("kind", source.kind, run.kind),
        ("success", source.success, run.success),
    )
    for name, found, expected in pairs:
        if found != expected:
            return f"its {name} is {found!r}, that of its run is {expected!r}"
    return None
