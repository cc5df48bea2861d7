"""Which tasks share an answer, and which dataset a task is of."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_experiments import TASK, Root

from amd_appworld.tasks import TaskFolder, family


@pytest.mark.parametrize(
    "task_id", ["82e2fac", "82e2fac_0", "82E2FAC_1", "82e2fac_1_2", "x82e2fac_1", "82e2fac_", "", "82e2fac_1\n"]
)
def test_what_is_no_task(task_id):
    """A family is never guessed."""
    assert family(task_id) is None


def test_variants_share_a_family():
    """All of a scenario, with a tag too."""
    assert {family(f"82e2fac_{number}{tag}") for number in (1, 2, 3, 12) for tag in ("", ":x")} == {"82e2fac"}


def test_splits(tmp_path):
    """By the lists of the datasets, whatever the tag; a test list counts more than any other."""
    root = Root(tmp_path).data(TASK, split="train").data("abc1234_2", split="dev")
    root.write("data/datasets/test_normal.txt", f"abc1234_3\n{TASK}\n\n").write("data/datasets/mine.txt", "abc1234_9")
    folder = TaskFolder.of(tmp_path)
    assert [folder.split_of(f"abc1234_{number}") for number in (1, 2, 3, 9)] == [
        "test_normal",
        "dev",
        "test_normal",
        None,
    ]
    assert folder.split_of("abc1234_2:again") == "dev"


def test_where_it_lies(tmp_path):
    """The nearest folder above with tasks; through links too; nowhere is nowhere."""
    root = Root(tmp_path / "root").data().run()
    assert TaskFolder.above(root.experiment).data == (tmp_path / "root" / "data").resolve()
    (tmp_path / "link").symlink_to(root.experiment)
    assert TaskFolder.above(tmp_path / "link").data == (tmp_path / "root" / "data").resolve()
    assert TaskFolder.above(Path(tmp_path)) is None


def test_what_cannot_be_read(tmp_path):
    """A task has no instruction, a world no documents."""
    root = Root(tmp_path).data(docs=False)
    for content in ("{", "[]", "{}", {"instruction": " "}, {"instruction": 7}):
        root.write(f"data/tasks/{TASK}/specs.json", content)
        assert TaskFolder.of(tmp_path).instruction(TASK) is None
    assert TaskFolder.of(tmp_path).docs is None
