"""A memory of recorded tasks, asked by other tasks of the benchmark: what each may see."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest

import amd
from amd.arms import Arm
from amd.errors import ConfigError
from amd.traces import write
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


def _dropped(memory, category, package, change=lambda tool: tool):
    """The reasons for which records are passed over, turn by turn, in 45 tasks of a category, by how many."""
    found = Counter()
    for task in islice(entries(category, package), 45):
        tools = [change(tool) for tool in task.all_tools]
        session = amd.Session(memory, viewer=amd.self_excluded(task.task), tools=tools, mode="dynamic")
        session.before_task(task.task.instruction)
        for turn, said in enumerate(task.users):
            session.before_turn(said or "", turn)
        for exposure in session.exposures:
            found.update(exposure.dropped)
    return found


def test_the_benchmarks_own_tools_are_not_stale(memory, package):
    """All tasks of all categories offer a tool under one schema; with an argument renamed it is seen (control)."""
    for category in Category:
        assert "stale_schema" not in _dropped(memory, category, package)

    def renamed(tool):
        text = json.dumps(tool.parameters).replace('"folder"', '"directory"')
        return replace(tool, parameters=json.loads(text))

    assert _dropped(memory, Category.BASE, package, renamed)["stale_schema"] > 0


def test_a_run_of_no_task_of_the_benchmark_is_not_built(package, tmp_path):
    """A made-up id under a made-up family would be hidden from nobody; a real task builds (control)."""
    run = next(record(Category.BASE, package, limit=1))
    strange = replace(run, task=replace(run.task, task_id="multi_turn_base_1#2", family="own", instruction="Do it."))
    with pytest.raises(ConfigError, match="is no task of 'bfcl'"):
        amd.build_memory([strange], tmp_path / "strange", embedder=amd.load_embedder("hash"))
    assert not (tmp_path / "strange" / "manifest.json").exists()
    assert amd.build_memory([run], tmp_path / "known", embedder=amd.load_embedder("hash")).admitted == 1


BUILT_ELSEWHERE = """
import sys
import amd.build.terms
from amd.traces.canonical import reader
from pathlib import Path
import amd
amd.build.terms.family_of = lambda benchmark, task_id: None  # as where no overlay is installed
amd.build.terms.families_of = lambda benchmark: None
amd.build_memory(reader.read([Path(sys.argv[1])], reader.options()), sys.argv[2], embedder=amd.load_embedder("hash"))
"""


def test_a_memory_that_was_built_without_the_overlay_is_checked_when_it_is_opened(package, tmp_path):
    """There a task may stand under any family; it is told before the first task, and a right one opens (control)."""
    run = next(record(Category.BASE, package, limit=1))
    for family, opens in (("own", False), (run.task.family, True)):
        path = tmp_path / f"{family}.jsonl"
        write(path, [replace(run, task=replace(run.task, family=family))])
        command = [sys.executable, "-c", BUILT_ELSEWHERE, path, tmp_path / family]
        subprocess.run(command, check=True)
        arm = Arm.of({"memory": tmp_path / family})
        if opens:
            arm.open().close()
        else:
            with pytest.raises(ConfigError, match="under the family 'own'"):
                arm.open()
