"""A memory of recorded tasks, asked by other tasks of the benchmark: what each may see."""

from __future__ import annotations

from itertools import islice

import pytest

import amd
from amd_bfcl.backends import Backend
from amd_bfcl.families import Category
from amd_bfcl.record import record
from amd_bfcl.tasks import entries, entry


@pytest.fixture(scope="module")
def memory(package, tmp_path_factory):
    """The first 45 base tasks, both twins 40 and 43 among them."""
    folder = tmp_path_factory.mktemp("bfcl") / "memory"
    report = amd.build_memory(record(Category.BASE, package, limit=45), folder, embedder=amd.load_embedder("hash"))
    assert report.admitted == report.read == 45
    return amd.open_memory(folder)


def _shown(memory, task, viewer):
    """The families that a task is shown before it starts and after a real error of ``ls``."""
    session = amd.Session(memory, viewer=viewer, tools=task.tools)
    session.before_task(task.task.instruction)
    with Backend(task) as backend:
        error = backend.execute(("ls", {"no_such": 1}))
    session.after_error(amd.FailedCall("ls", {"no_such": 1}, error, place="1"))
    assert {exposure.tier for exposure in session.exposures} == {"workflow", "subtask", "function"}
    return {family for exposure in session.exposures for family in exposure.families}


@pytest.mark.parametrize("category", Category)
@pytest.mark.parametrize("index", [40, 43])
def test_a_task_never_sees_its_family_in_any_category(memory, package, category, index):
    """D01: memory of base tasks, asked by each dress of a task and of its twin; in-sample is the control."""
    task = entry(f"{category}_{index}", package)
    excluded = _shown(memory, task, amd.self_excluded(task.task))
    assert excluded
    assert "multi_turn_40" not in excluded
    assert "multi_turn_40" in _shown(memory, task, amd.in_sample(task.task))


def test_no_id_of_a_task_reaches_a_prompt(memory, package):
    """D01: neither ids nor families stand in what the students of 45 tasks are given."""
    texts = []
    for task in islice(entries(Category.BASE, package), 45):
        session = amd.Session(memory, viewer=amd.self_excluded(task.task), tools=task.tools)
        texts.append(str(session.before_task(task.task.instruction)))
    assert sum(bool(text) for text in texts) > 20
    assert not [text for text in texts if "multi_turn" in text]
