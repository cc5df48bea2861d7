"""What a report says of runs, and when it refuses to compare them."""

from __future__ import annotations

import json
import shutil

import pytest
from greenhouse import TEST, TRAIN, garden_run

import amd
from amd.errors import ConfigError, TrajectoryError
from amd_appworld.playing import Limits
from amd_appworld.report import MARK, report_on, unlike
from amd_appworld.run import Run


def edited(run, task_id, change):
    """A task's log, changed by hand."""
    path = run.path / "exposures" / f"{task_id}.json"
    value = json.loads(path.read_text())
    change(value["amd"])
    path.write_text(json.dumps(value))


def own_family(log):
    """As if the task had been shown its own scenario."""
    exposure = next(each for each in log["exposures"] if each.get("families"))
    exposure["families"] = [log["family"]] * len(exposure["families"])


def test_the_figures_of_two_arms(played, memory, told):
    """Side by side, for people and for machines."""
    none, _ = played("none")
    shown, _ = played("amd", arm={"memory": str(memory)})
    code, out, err = told("report", none.run.path, shown.run.path)
    assert (code, err) == (0, "")
    assert "4 of 4" in out
    assert "2 of 2 run whole" in out
    assert "gardener (teacher)" in out
    value = json.loads(told("report", shown.run.path, "--json")[1])["runs"][0]
    assert (value["right"], value["evaluated"], value["endings"]) == (4, 4, {"completed": 4})
    assert value["exposures"]["hints"] >= 4
    assert value["exposures"]["leaks"] == 0
    assert value["scenarios"] == {"whole": 2, "right": 2, "incomplete": 0}


def test_a_run_that_was_copied_has_the_same_report(played, told, tmp_path):
    """Without its root."""
    found, _ = played()
    shutil.copytree(found.run.path, tmp_path / "run")
    assert told("report", tmp_path / "run")[:2] == told("report", found.run.path)[:2]


def test_a_leak_ends_with_exit_code_4(played, memory, told):
    """Planted by hand; in an arm that hides nothing it is none."""
    run, open_run = (
        played(name, arm={"memory": str(memory), "protocol": protocol})[0].run
        for name, protocol in (("amd", "self-excluded"), ("seen", "in-sample"))
    )
    assert told("report", run.path)[0] == 0
    edited(run, TRAIN[0], own_family)
    code, out, err = told("report", run.path)
    assert code == 4
    assert "records were shown that are to be hidden, of a task's own family" in err
    assert "own-family hits" in out
    code, out, _ = told("report", open_run.path)
    assert code == 0
    assert "IN-SAMPLE" in out


def test_a_memory_of_test_tasks_marks_every_report(played, tmp_path, told):
    """On both outputs."""
    amd.build_memory([garden_run(TEST[0], split="test_normal")], tmp_path / "m", embedder=amd.load_embedder("hash"))
    found, _ = played(arm={"memory": str(tmp_path / "m")}, allow_test_source=True)
    code, out, err = told("report", found.run.path)
    assert code == 0
    assert MARK in out
    assert MARK in err
    assert json.loads(told("report", found.run.path, "--json")[1])["runs"][0]["test_source"]


def test_runs_that_cannot_be_compared_are_told(played, told):
    """Other limits, and tasks that one of them lacks."""
    one, _ = played("one")
    other, _ = played("other", tasks=TRAIN[:3], limits=Limits(max_steps=9))
    reasons = unlike(report_on(one.run), report_on(other.run))
    assert [reason.split()[0] for reason in reasons] == ["max_steps", "1"]
    assert "NOT COMPARABLE: one and other" in told("report", one.run.path, other.run.path)[2]
    assert unlike(report_on(one.run), report_on(one.run)) == []
    assert report_on(other.run).scenarios.incomplete == 1


def test_a_log_of_another_arm_is_refused(played):
    """The tasks of a run are of one arm."""
    found, _ = played(tasks=TRAIN[:1])
    edited(found.run, TRAIN[0], lambda log: log.update(protocol="in-sample"))
    with pytest.raises(TrajectoryError, match="another run"):
        report_on(Run(found.run.path))
    edited(found.run, TRAIN[0], lambda log: log.clear())
    with pytest.raises(TrajectoryError, match="cannot be read"):
        report_on(Run(found.run.path))


def test_a_run_without_a_result_has_no_report(played, root):
    """Unscored is not successful."""
    for task_id in TRAIN:
        (root.path / "data" / "tasks" / task_id / "ground_truth" / "evaluation.py").unlink()
    found, _ = played()
    assert len(found.stands.unscored) == 4
    with pytest.raises(ConfigError, match="4 without ground truth"):
        report_on(found.run)
