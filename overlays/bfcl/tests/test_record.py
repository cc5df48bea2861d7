"""The answer key as trajectories: complete, without errors, marked as what it is, the same each time."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from amd.errors import ConfigError, TrajectoryError
from amd.traces import write
from amd_bfcl.families import Category
from amd_bfcl.package import Package
from amd_bfcl.record import TEACHER, record

COUNTS = {
    Category.BASE: (200, 734, 1142, 3),
    Category.MISS_FUNC: (200, 934, 1140, 203),
    Category.MISS_PARAM: (200, 934, 1140, 203),
    Category.LONG_CONTEXT: (200, 734, 1203, 3),
}


@pytest.fixture(scope="module")
def runs(package):
    """All 800 replays."""
    return {category: list(record(category, package)) for category in Category}


@pytest.mark.parametrize("category", Category)
def test_every_task_replays_without_an_error(runs, category):
    """Tasks, turns, calls and turns without calls, as counted by hand; no call fails."""
    found = runs[category]
    turns = [turn for run in found for turn in run.turns]
    counts = (len(found), len(turns), sum(len(turn.calls) for turn in turns), sum(not turn.steps for turn in turns))
    assert counts == COUNTS[category]
    assert [call for run in found for call in run.calls if not call.ok] == []


def test_every_run_says_that_it_is_the_answer_key(runs, package):
    """An oracle is never called a teacher's run."""
    for run in (run for found in runs.values() for run in found):
        assert run.source.kind == "oracle"
        assert run.source.teacher == TEACHER
        assert run.source.run_id == f"bfcl-eval-{package.version}"
        assert run.source.memory_assisted is False
        assert run.source.path == f"bfcl_eval/data/BFCL_v4_{run.task.task_id.rpartition('_')[0]}.json"
        assert "gold replay" in run.outcome.evidence
        assert run.outcome.success is True
        assert run.outcome.score == 1.0
    assert len({run.source.sha256 for found in runs.values() for run in found}) == 800


def test_every_call_is_a_step_of_an_offered_tool(runs):
    """One step for each call, without text; every tool that is called was offered."""
    for run in (run for found in runs.values() for run in found):
        names = {tool.name for tool in run.tools}
        for turn in run.turns:
            for step in turn.steps:
                assert len(step.calls) == 1
                assert not step.text
                assert step.calls[0].name in names


def test_arguments_fit_the_schemas_of_their_tools(runs):
    """Positional arguments got names that the tool documents know."""
    unknown = Counter()
    for run in runs[Category.BASE]:
        properties = {tool.name: tool.parameters["properties"] for tool in run.tools}
        for call in run.calls:
            unknown.update((call.name, key) for key in call.arguments if key not in properties[call.name])
    assert unknown == {}


def test_recording_in_any_order_gives_the_same_runs(runs, package):
    """No state leaks from task to task, module globals of the backends included."""
    order = list(Category)
    random.Random(7).shuffle(order)
    again = {category: list(record(category, package, limit=60)) for category in order}
    for category in Category:
        assert again[category] == runs[category][:60]


def test_two_recordings_are_the_same_bytes(package, tmp_path):
    """And the limit counts tasks."""
    for name in ("one", "two"):
        assert write(tmp_path / name, record(Category.BASE, package, limit=20)) == 20
    content = (tmp_path / "one").read_bytes()
    assert content == (tmp_path / "two").read_bytes()
    assert content.count(b"\n") == 20


def test_an_unknown_category_is_named(package):
    """Before any file is looked for."""
    with pytest.raises(ConfigError, match="'multi_turn_composite'"):
        next(record("multi_turn_composite", package))


@pytest.mark.parametrize(
    "change",
    [{"id": "multi_turn_base_1"}, {"ground_truth": []}, {"ground_truth": "ls()"}, {"ground_truth": [["ls("]] * 3}],
)
def test_an_answer_that_does_not_fit_its_task_is_refused(package, tmp_path, change):
    """Another task's answer, another number of turns, another shape, or no call."""
    data = tmp_path / "data"
    (data / "possible_answer").mkdir(parents=True)
    (data / "multi_turn_func_doc").symlink_to(package.root / "data" / "multi_turn_func_doc")
    name = "BFCL_v4_multi_turn_base.json"
    (data / name).write_text(package.lines(name)[0] + "\n", encoding="utf-8")
    answer = json.loads(package.lines(f"possible_answer/{name}")[0])
    copy = Package(package.version, tmp_path)
    (data / "possible_answer" / name).write_text(json.dumps(answer), encoding="utf-8")
    assert len(list(record(Category.BASE, copy))) == 1
    (data / "possible_answer" / name).write_text(json.dumps(answer | change), encoding="utf-8")
    with pytest.raises(TrajectoryError, match=name.replace(".", r"\.")):
        list(record(Category.BASE, copy))
