"""A run's folder: what is taken in, what is refused, and what of it counts."""

from __future__ import annotations

import json

import pytest
from greenhouse import TASKS, TEST, TRAIN, garden_run

import amd
from amd.arms import RUN_SETTINGS, Arm
from amd.errors import ConfigError, LeakageError, TrajectoryError
from amd_appworld.playing import Limits
from amd_appworld.root import Root
from amd_appworld.run import Run
from amd_appworld.sources import check_sources
from amd_appworld.standing import Scenarios, standing


def test_the_same_command_plays_what_is_left(played):
    """More tasks are taken in; what has a result is not played again."""
    played(tasks=TRAIN[:2])
    found, asked = played(tasks=TRAIN[1:3])
    assert {str(messages[1]["content"]).rpartition(": ")[2] for messages in asked} == {
        garden_run(TRAIN[2]).task.instruction
    }
    assert found.stands.wanted == TRAIN[:3]
    assert set(found.stands.success) == set(TRAIN[:3])
    assert played(tasks=TRAIN[:3])[1] == []


def test_a_task_whose_folder_is_there_without_a_result_is_played_again(played):
    """As after a kill: AppWorld empties the folder."""
    found, _ = played(tasks=TRAIN[:1])
    (found.run.evaluations_file).unlink()
    stray = found.run.tasks / TRAIN[0] / "stray"
    stray.touch()
    again, asked = played(tasks=TRAIN[:1])
    assert asked
    assert not stray.exists()
    assert again.stands.success == {TRAIN[0]: True}


def test_nothing_of_an_earlier_try_is_left_beside_a_broken_one(played, root):
    """What a task was shown would not be what its logs hold."""
    found, _ = played(tasks=TRAIN[:1])
    found.run.evaluations_file.unlink()
    (root.path / "misbehaves").write_text("x\n" * 2)
    found, _ = played(tasks=TRAIN[:1], chat=lambda _: "```python\nprint(1) #die\n```")
    assert [*found.faults] == [TRAIN[0]]
    assert not (found.run.path / "exposures" / f"{TRAIN[0]}.json").exists()


def test_a_score_of_an_earlier_try_is_not_that_of_a_later_one(played, root):
    """As after deleting a broken ending, which its error asks for: a try that is not evaluated has no score."""
    found, _ = played(tasks=TRAIN[:2])
    assert found.stands.right == 2
    (found.run.path / "exposures" / f"{TRAIN[0]}.json").unlink()
    (root.path / "data" / "tasks" / TRAIN[0] / "unfair").touch()
    found, _ = played(tasks=TRAIN[:2], chat=lambda _: "```python\napis.supervisor.complete_task()\n```")
    assert [*found.faults] == [TRAIN[0]]
    assert (found.stands.success, found.stands.left) == ({TRAIN[1]: True}, TRAIN[:1])
    value = json.loads(found.run.evaluations_file.read_text())
    assert set(value["individual"]) == {TRAIN[1]}
    assert value["aggregate"]["task_goal_completion"] == 100.0


def test_another_arm_in_the_same_experiment_is_refused(played, memory):
    """And so is another student or another limit; the same memory elsewhere is not."""
    played(tasks=TRAIN[:1])
    with pytest.raises(ConfigError, match=r"arm\.method: 'none', not 'amd'"):
        played(tasks=TRAIN[:1], arm={"memory": str(memory)})
    with pytest.raises(ConfigError, match="max_steps: 40, not 3"):
        played(tasks=TRAIN[:1], limits=Limits(max_steps=3))
    played(tasks=TRAIN[:1], limits=Limits(timeout=9.0))


@pytest.mark.parametrize("folder", ["tasks/0a0a0a0_1", "evaluations"])
def test_an_experiment_of_somebody_else_is_refused(played, root, folder):
    """Nothing in it is touched."""
    path = root.experiment("run")
    (path / folder).mkdir(parents=True)
    with pytest.raises(ConfigError, match="another agent's experiment"):
        played()
    assert not (path / RUN_SETTINGS).exists()


def test_what_is_written_is_in_the_shape_of_appworlds_own_evaluation(played):
    """Its two figures, and each task."""
    found, _ = played()
    value = json.loads(found.run.evaluations_file.read_text())
    assert value["aggregate"] == {"task_goal_completion": 100.0, "scenario_goal_completion": 100.0}
    assert set(value["individual"]) == set(TRAIN)
    for verdict in value["individual"].values():
        assert set(verdict) == {"success", "difficulty", "num_tests", "passes", "failures"}


def test_a_scenario_is_right_if_all_its_variants_are():
    """One that was not run whole is neither."""
    scenarios = {"a": ("a_1", "a_2"), "b": ("b_1", "b_2"), "c": ("c_1", "c_2")}
    success = {"a_1": True, "a_2": True, "b_1": True, "b_2": False, "c_1": True}
    assert Scenarios.of(success, scenarios) == Scenarios(whole=2, right=1, incomplete=1)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"individual": []}', '{"individual": {"0a0a0a0_1": {}}}'])
def test_an_evaluation_that_is_broken_is_told(played, text):
    """And not written over."""
    found, _ = played(tasks=TRAIN[:1])
    found.run.evaluations_file.write_text(text)
    with pytest.raises(TrajectoryError, match=r"amd\.json"):
        standing(Run(found.run.path))
    with pytest.raises(TrajectoryError):
        played(tasks=TRAIN[:2])
    assert found.run.evaluations_file.read_text() == text


def test_an_ending_that_is_broken_is_told(played):
    """With its file."""
    found, _ = played(tasks=TRAIN[:1])
    path = found.run.path / "exposures" / f"{TRAIN[0]}.json"
    path.write_text(path.read_text()[:-9])
    with pytest.raises(TrajectoryError, match=TRAIN[0]):
        standing(Run(found.run.path))


def test_the_tasks_that_are_asked_for(root):
    """By their ids or by their dataset, each once."""
    assert root.chosen(None, "train") == TRAIN
    assert root.chosen([TASKS[2], TASKS[0], TASKS[2]], None) == (TASKS[2], TASKS[0])
    assert [root.split(task) for task in (TRAIN[0], TEST[0], "0d0d0d0_1")] == ["train", "test_normal", None]
    assert root.scenarios(TASKS[1:3]) == {"0a0a0a0": TASKS[:2], "0b0b0b0": TASKS[2:4]}


@pytest.mark.parametrize(
    ("tasks", "dataset", "words"),
    [
        (None, None, "neither"),
        ([TASKS[0]], "train", "both"),
        (None, "dev", "train"),
        (["0d0d0d0_1"], None, "0d0d0d0_1"),
        (["../../x"], None, "no task"),
    ],
)
def test_tasks_that_cannot_be_had_are_refused(root, tasks, dataset, words):
    """With what there is."""
    with pytest.raises(ConfigError, match=words):
        root.chosen(tasks, dataset)


@pytest.mark.parametrize("name", ["", "a/b", "..", ".x", "a b"])
def test_a_name_that_is_no_experiments_is_refused(root, name):
    """It would lie somewhere else."""
    with pytest.raises(ConfigError, match="experiment"):
        root.experiment(name)


def test_a_root_without_data_is_refused(tmp_path):
    """With what to do."""
    with pytest.raises(ConfigError, match="setup_appworld"):
        Root(tmp_path).chosen(None, "train")


@pytest.mark.parametrize("split", ["test_normal", None])
def test_a_memory_of_test_tasks_is_refused_unless_that_is_said(tmp_path, root, played, split):
    """By what its records say, or else by the datasets of the root; the run is marked then."""
    amd.build_memory(
        [garden_run(TEST[0], split=split), garden_run(TRAIN[2])], tmp_path / "m", embedder=amd.load_embedder("hash")
    )
    arm = {"memory": str(tmp_path / "m")}
    if split:  # then nothing else tells
        (root.path / "data" / "datasets" / "test_normal.txt").unlink()
        del root.datasets  # what was read before
    with pytest.raises(LeakageError, match="test_normal") as refused:
        played(tasks=TRAIN[:1], arm=arm)
    assert refused.value.exit_code == 4
    found, _ = played(tasks=TRAIN[:1], arm=arm, allow_test_source=True)
    assert found.run.settings.test_source


def test_a_memory_of_train_tasks_is_taken(root, memory):
    """It is not marked, whether test sources are allowed or not."""
    with Arm.of({"memory": str(memory)}).open() as opened:
        assert not check_sources(opened, root, allowed=False)
        assert not check_sources(opened, root, allowed=True)
    with Arm(method="none").open() as opened:
        assert not check_sources(opened, root, allowed=False)


def test_a_split_chooses_the_tasks_of_its_test_families(tmp_path, played, memory):
    """A memory that holds one of them is refused."""
    split = {"format": "amd-split/1", "benchmark": "appworld", "train": ["0b0b0b0"], "test": ["0a0a0a0"]}
    (tmp_path / "split.json").write_text(json.dumps(split))
    found, _ = played(arm={"method": "none", "split": str(tmp_path / "split.json")})
    assert found.stands.wanted == TRAIN[:2]
    with pytest.raises(LeakageError):
        played("cross", arm={"memory": str(memory), "split": str(tmp_path / "split.json"), "protocol": "cross-split"})
