"""``amd forget``: told first, done with --apply, and only for runs of this memory."""

from __future__ import annotations

import json

import pytest

import amd as library
from amd.arms import Arm, RunLog, RunResults, TaskResult, write_results
from amd.testing import run


@pytest.fixture
def evaluated(memory, tmp_path):
    """Write the runs of task 9, three by default, with these outcomes; each was shown the same workflow."""

    def write(*outcomes, name="evaluated.jsonl"):
        task = run(9).task
        lines = []
        with Arm(memory=memory, method="workflow").open() as opened:
            for outcome in outcomes:
                session = opened.session(task, tools=None, call_format="json")
                session.before_task(run(1).task.instruction + ".")
                assert session.exposures[0].record_ids
                log = RunLog.of(
                    opened, task, session, calls=1, failed_calls=0, hints=0, placeholders=0, system_changes=0
                )
                lines.append(json.dumps({"amd": log.as_json(), "success": outcome}))
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
        return tmp_path / name

    return write


def retired(memory):
    """How many records nobody is shown."""
    with library.open_memory(memory) as opened:
        return sum(record.status == "retired" for shelf in opened.shelves.values() for record in shelf.records())


def test_it_tells_before_it_does(amd, memory, evaluated):
    """Without --apply nothing changes; with it the record goes, and a second time there is nothing to do."""
    path = evaluated(False, False, True)
    told = amd("forget", memory, path)
    assert (told.code, retired(memory)) == (0, 0)
    assert "1 of 3 runs succeeded" in told.out
    assert "--apply" in told.err
    done = amd("forget", memory, path, "--apply", "--json")
    assert (done.code, done.json["applied"], retired(memory)) == (0, True, 1)
    assert [(each["hits"], each["successes"]) for each in done.json["forgotten"]] == [(3, 1)]
    assert amd("check", memory, "--pin", done.json["seal"]).code == 0
    again = amd("forget", memory, path, "--apply", "--json")
    assert (again.code, again.json["forgotten"], again.json["applied"]) == (0, [], False)


@pytest.mark.parametrize(
    ("outcomes", "options"),
    [
        ((False, False), ()),
        ((False, False, None), ()),
        ((False, False, True, True), ()),
        ((False, False, True), ("--least-hits", 4)),
        ((False, False, True), ("--least-success", 0.3)),
    ],
)
def test_what_is_kept(amd, memory, evaluated, outcomes, options):
    """Too few scored runs, or half of them right, or other figures."""
    found = amd("forget", memory, evaluated(*outcomes), *options, "--apply", "--json")
    assert (found.code, found.json["forgotten"], retired(memory)) == (0, [], 0)


def test_several_files_are_one(amd, memory, evaluated):
    """Hits add up."""
    one, other = evaluated(False, False, name="a.jsonl"), evaluated(False, name="b.jsonl")
    assert len(amd("forget", memory, one, other, "--json").json["forgotten"]) == 1


def test_runs_of_another_memory_are_refused(amd, memory, evaluated, tmp_path, runs, fields):
    """Their ids say nothing here; nor is an empty file a run."""
    path = evaluated(False, False, False)
    other = tmp_path / "other"
    assert amd("build", "openai-chat", runs, *fields, "--out", other, "--method", "workflow").code == 0
    found = amd("forget", other, path, "--apply")
    assert (found.code, retired(other)) == (2, 0)
    assert "read the memory" in found.err
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    assert "hold no run" in amd("forget", memory, tmp_path / "empty.jsonl").err


def test_a_run_directory_is_as_good_as_a_file(amd, memory, evaluated, tmp_path):
    """Each task with its log counts; a run named twice would count twice, and is refused."""
    lines = [json.loads(line) for line in evaluated(False, False, True).read_text("utf-8").split("\n")]
    arm, tasks = Arm(memory=memory, method="workflow"), []
    for number, line in enumerate(lines):
        log = RunLog.read(
            {
                **line["amd"],
                "task_id": f"t{number}",
                "exposures": [{**each, "task_id": f"t{number}"} for each in line["amd"]["exposures"]],
            }
        )
        tasks.append(TaskResult(log.task_id, log.family, line["success"], log=log))
    tasks.append(TaskResult("t9", "f9", success=None, fault="missing"))
    write_results(
        RunResults(
            path=tmp_path / "run",
            benchmark="made-up",
            student="small",
            arm=arm,
            tasks=tuple(tasks),
            memory_content=lines[0]["amd"]["memory"],
        )
    )
    told = amd("forget", memory, tmp_path / "run", "--json").json
    assert [(each["hits"], each["successes"]) for each in told["forgotten"]] == [(3, 1)]
    assert told["runs"] == 3
    twice = amd("forget", memory, tmp_path / "run", tmp_path / "run")
    assert twice.code == 2
    assert "named twice" in twice.err


def test_records_that_the_memory_lacks_are_named(amd, memory, evaluated):
    """A log can say another memory's digest; what it was shown is looked up. Nothing is retired."""
    path = evaluated(False, False, False)
    shown = json.loads(path.read_text("utf-8").split("\n")[0])["amd"]["exposures"][0]["record_ids"][0]
    path.write_text(path.read_text("utf-8").replace(shown, "f" * len(shown)), encoding="utf-8")
    found = amd("forget", memory, path, "--apply")
    assert (found.code, retired(memory)) == (2, 0)
    assert f"the first is {'f' * len(shown)}" in found.err
