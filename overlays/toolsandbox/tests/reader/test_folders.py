"""Which folders are read, whose they are, and where a path leads nowhere."""

from __future__ import annotations

import pytest
from run_folders import context, items, refusals, runs, write

from amd.build import admit
from amd.errors import TrajectoryError
from amd_toolsandbox.folders import HarnessFolder

NAME = "agent_gpt-4o_user_gpt-4o_05_13_2031_08_00_00"
ONE = {"wifi_off": context()}


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        (NAME, "gpt-4o"),
        ("agent_org/model_user_other/user_05_13_2031_08_00_00", "org/model"),
        ("agent_a_b_user_c_05_13_2031_08_00_00", "a_b"),
        ("teacher", None),
        ("agent_gpt", None),
    ],
)
def test_the_name_tells_the_agent(tmp_path, name, agent):
    """A ``/`` in a model's name makes folders inside each other; another name tells nobody."""
    folder = HarnessFolder.of(write(tmp_path / "run" / name, ONE))
    assert (folder.name, folder.agent) == (name, agent)
    assert folder.run == (tmp_path / "run").resolve()
    (run,) = runs(tmp_path)
    assert (run.source.teacher, run.source.run_id) == (agent or "unknown", name)
    assert [run.source.teacher for run in runs(tmp_path, teacher="mine")] == ["mine"]


def test_a_folder_a_run_directory_and_what_is_above_them(tmp_path):
    """Every one of them is a way in, and each run is read once."""
    folder = write(tmp_path / "runs/amd" / NAME, ONE)
    for path in (folder, folder / "trajectories", folder.parent, tmp_path):
        assert [run.task.task_id for run in runs(path)] == ["wifi_off"]
    assert len(runs(folder, tmp_path, folder)) == 1


def test_several_runs_of_a_scenario_are_its_trials(tmp_path):
    """In different folders, so in different runs; the gate keeps the best."""
    for number in (1, 2):
        write(tmp_path / NAME.replace("08", f"0{number}"), ONE)
    assert len({run.source.run_id for run in runs(tmp_path)}) == 2
    gate = admit(items(tmp_path))
    assert (len(gate.admitted), gate.refused) == (1, {"duplicate": 1})


def test_other_files_are_passed_over(tmp_path):
    """What lies beside scenarios and folders is none, nor is what somebody put inside a scenario's."""
    folder = write(tmp_path / NAME, ONE)
    write(folder / "trajectories" / "wifi_off", ONE)
    (folder / "trajectories" / "notes.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "harness.log").write_text("...", encoding="utf-8")
    assert len(items(tmp_path)) == 1


def test_a_scenario_without_a_context_is_refused(tmp_path):
    """A run that was killed between two files."""
    folder = write(tmp_path / NAME, ONE)
    (folder / "trajectories" / "wifi_off" / "execution_context.json").unlink()
    (refusal,) = refusals(tmp_path)
    assert (refusal.reason, refusal.task_id) == ("unreadable", "wifi_off")
    assert "No such file" in refusal.detail


def test_paths_that_lead_nowhere(tmp_path):
    """The message names the path and says what to name instead."""
    write(tmp_path / NAME, ONE)
    file = tmp_path / NAME / "result_summary.json"
    (tmp_path / "empty").mkdir()
    for path, fault in ((tmp_path / "none", "no such"), (file, "a file"), (tmp_path / "empty", "no folder traject")):
        with pytest.raises(TrajectoryError, match=fault) as caught:
            items(path)
        assert str(path) in str(caught.value)
        assert caught.value.next_step


def test_a_path_that_cannot_be_looked_at(tmp_path):
    """Said, and not passed over."""
    with pytest.raises(TrajectoryError, match="cannot be looked at: File name too long"):
        items(tmp_path / ("long" * 200))
