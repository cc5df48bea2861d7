"""Which runs may be learned from, and what goes with them: datasets, terms, whose they are, memory in their prompts."""

from __future__ import annotations

import pytest
from made_experiments import TASK, Root

from amd.arms import Arm, RunLog
from amd.inject import build_block, build_hint
from amd_appworld.tasks import INVENTED_TERMS, TERMS


@pytest.fixture
def root(tmp_path):
    """A root with one task of train and its good run."""
    return Root(tmp_path).data().run()


@pytest.mark.parametrize("split", ["test_normal", "test_challenge"])
def test_test_tasks_are_no_source(tmp_path, split):
    """Unless that is asked for; then the split says so."""
    root = Root(tmp_path).data(split=split).run()
    assert root.only().reason == "test_source"
    assert root.only(allow_test_source=True).task.split == split
    assert Root(tmp_path / "b").data(split="dev").run().only().task.split == "dev"


def test_a_world_without_datasets(tmp_path):
    """The split is not known, and it is counted."""
    root = Root(tmp_path).data(split=None).run()
    assert root.only().task.split is None
    assert root.notes() == {"no_datasets": 1}


@pytest.mark.parametrize("named", ["fffffff_1\n", ""])
def test_a_task_that_no_list_names_may_be_a_test_task(root, named):
    """Of a set whose list is missing: it is refused, and counted where somebody takes it all the same."""
    root.write("data/datasets/train.txt", named)
    refused = root.only()
    assert (refused.reason, "train" in refused.detail) == ("unknown_split", True)
    assert root.only(allow_test_source=True).task.split is None
    assert root.notes(allow_test_source=True) == {"unknown_split": 1}


def test_a_test_set_of_another_name(root):
    """Its name says what it is, though no version of AppWorld has it yet."""
    root.write("data/datasets/test_hidden.txt", f"{TASK}\n")
    assert root.only().reason == "test_source"
    assert root.only(allow_test_source=True).task.split == "test_hidden"


def test_terms_go_with_the_run(root):
    """AppWorld's own tasks may not be published; an invented world's are free, the documents of its APIs are not."""
    assert root.only().source.terms == TERMS
    root.write("data/invented-world.json", {"format": "amd-invented-world/1"})
    assert root.only().source.terms == INVENTED_TERMS
    assert "protected" in INVENTED_TERMS


def test_memory_in_a_prompt_is_told(root):
    """Blocks and hints of ours, whoever ran it; a plain prompt is none."""
    for text in (build_block([("Then:", ["old"])]), "Output:\n" + build_hint([("Try:", ["a()"])])):
        root.run(messages=[{"role": "system", "content": text}])
        assert root.only().source.memory_assisted is True
    root.run(messages=[{"role": "system", "content": [{"type": "text", "text": "Be brief."}]}])
    assert root.only().source.memory_assisted is False


def test_runs_of_ours(root):
    """The student's name and its kind; a run of the scripted model is an oracle's, whatever was asked for."""
    assert root.only(kind="student").source.kind == "student"
    root.run(model="appworld-oracle")
    assert (root.only(kind="student").source.kind, root.only().source.teacher) == ("oracle", "appworld-oracle")
    assert root.only(teacher="me").source.teacher == "me"


def test_memory_as_our_own_runs_write_it_down(root):
    """Settings without a log leave it open; a log of the method none says no; a broken one leaves it open."""
    root.write("experiments/outputs/run/amd-run.json", {"agent": {"name": "small"}, "arm": {"method": "none"}})
    assert root.only().source.memory_assisted is None
    with Arm(method="none").open() as opened:
        counts = dict.fromkeys(("calls", "failed_calls", "hints", "placeholders", "system_changes"), 0)
        written = RunLog.of(opened, root.only().task, None, **counts).as_json()
    place = f"experiments/outputs/run/exposures/{TASK}.json"
    root.write(place, {"amd": written, "steps": 3})
    assert root.only().source.memory_assisted is False
    for broken in ({"amd": None}, "{", {"amd": {**written, "task_id": "abc1234_2"}}):
        root.write(place, broken)
        assert root.only().source.memory_assisted is None
    root.write(place, {"amd": written})
    assert root.only().source.memory_assisted is False
    root.write("experiments/outputs/run/amd-run.json", {"arm": {"method": "amd"}})
    assert root.only().source.memory_assisted is None
