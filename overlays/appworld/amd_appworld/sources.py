"""What a memory was made of: AppWorld's test tasks are no source, unless somebody says that they may be."""

from __future__ import annotations

from amd.arms import OpenArm
from amd.errors import LeakageError
from amd_appworld.root import Root
from amd_appworld.tasks import BENCHMARK, is_test

__all__ = ["check_sources"]


def check_sources(opened: OpenArm, root: Root, *, allowed: bool) -> bool:
    """Whether a memory holds records of test tasks.

    A record says which dataset its task is of, and so do the datasets of this root: one of them is enough.

    Args:
        opened: the arm, open.
        root: where the datasets are.
        allowed: whether such a memory may be used.

    Raises:
        LeakageError: it does, and that was not allowed.
    """
    if opened.memory is None:
        return False
    said = {
        record.task.task_id: record.task.split
        for shelf in opened.memory.shelves.values()
        for record in shelf.records()
        if record.task.benchmark == BENCHMARK
    }
    runs = {run.task_id for run in opened.memory.manifest.sources.runs if run.benchmark == BENCHMARK}
    splits = {task: {said.get(task), root.split(task)} for task in runs | set(said)}
    test = sorted(task for task, known in splits.items() if any(map(is_test, known)))
    if test and not allowed:
        raise LeakageError(
            f"the memory at {opened.memory.path} was made of {len(test)} runs of test tasks, the first is {test[0]} "
            f"({', '.join(sorted(filter(None, splits[test[0]])))})",
            next_step="build it from train, or say --allow-test-source: then every report is marked",
            tasks=test,
        )
    return bool(test)
