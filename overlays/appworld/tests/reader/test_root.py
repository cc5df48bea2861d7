"""The data folder: which dataset a task is of, where it lies, what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_experiments import TASK
from made_experiments import Root as Made

from amd.errors import ConfigError
from amd_appworld.root import Root


def test_splits(tmp_path):
    """By the lists of the datasets, whatever the tag; a test list counts more than any other."""
    root = Made(tmp_path).data(TASK, split="train").data("abc1234_2", split="dev")
    root.write("data/datasets/test_normal.txt", f"abc1234_3\n{TASK}\n\n").write("data/datasets/mine.txt", "abc1234_9")
    folder = Root.of(tmp_path)
    found = [folder.split(f"abc1234_{number}") for number in (1, 2, 3, 9, 8)]
    assert found == ["test_normal", "dev", "test_normal", "mine", None]
    assert folder.split("abc1234_2:again") == "dev"
    root.write("data/datasets/test_hidden.txt", "abc1234_9")
    assert Root.of(tmp_path).split("abc1234_9:x") == "test_hidden"


def test_where_it_lies(tmp_path):
    """The nearest folder above with tasks; through links too; nowhere is nowhere."""
    root = Made(tmp_path / "root").data().run()
    assert Root.above(root.experiment).data == (tmp_path / "root" / "data").resolve()
    (tmp_path / "link").symlink_to(root.experiment)
    assert Root.above(tmp_path / "link").data == (tmp_path / "root" / "data").resolve()
    assert Root.above(Path(tmp_path)) is None


def test_a_root_or_its_data_may_be_named(tmp_path):
    """Both give the same; a folder without tasks is neither."""
    Made(tmp_path / "here").data()
    named = Root.of(tmp_path / "here"), Root.of(tmp_path / "here" / "data")
    assert {(root.path, root.data) for root in named} == {(tmp_path / "here", tmp_path / "here" / "data")}
    assert named[0].datasets == {"train": (TASK,)}
    with pytest.raises(ConfigError, match="has no data/tasks"):
        Root.of(tmp_path)


def test_lists_that_a_run_cannot_do_with(tmp_path):
    """None, or one of what is no task: reading goes on, a run is refused."""
    Made(tmp_path).data(split=None)
    assert (Root(tmp_path).lists, Root(tmp_path).split(TASK)) == ({}, None)
    with pytest.raises(ConfigError, match="there are no datasets"):
        _ = Root(tmp_path).datasets
    Made(tmp_path).write("data/datasets/train.txt", f"{TASK}\nnotes\n")
    assert Root(tmp_path).split(TASK) == "train"
    with pytest.raises(ConfigError, match="'notes'"):
        _ = Root(tmp_path).datasets


def test_what_cannot_be_read(tmp_path):
    """A task has no instruction, a world no documents."""
    root = Made(tmp_path).data(docs=False)
    for content in ("{", "[]", "{}", {"instruction": " "}, {"instruction": 7}):
        root.write(f"data/tasks/{TASK}/specs.json", content)
        assert Root.of(tmp_path).instruction(TASK) is None
    assert Root.of(tmp_path).docs is None
