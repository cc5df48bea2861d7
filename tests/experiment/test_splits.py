"""Splits: whole families, equal instructions on one side, the same draw wherever it is drawn."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.errors import ConfigError
from amd.exclusion import Split, read_split
from amd.experiment.splits import draw_split, write_split
from amd.trajectory import Task

TASKS = [Task("demo", f"t{n}", f"f{n // 2}", f"Water bed {n}") for n in range(40)]  # 20 families


def test_the_draw_is_pinned():
    """A seed means the same split for ever: reports name it."""
    split = draw_split(TASKS, test=0.3, seed=0)
    assert sorted(split.test) == ["f0", "f10", "f13", "f2", "f3", "f4"]
    assert draw_split(TASKS, test=0.3, seed=1).test != split.test


@given(st.permutations(TASKS), st.floats(0.05, 0.95), st.integers(0, 1000))
def test_the_order_of_the_runs_does_not_matter(tasks, share, seed):
    """Every family stands on exactly one side, both sides have one, and the share is met as nearly as can be."""
    split = draw_split(tasks, test=share, seed=seed)
    assert split == draw_split(TASKS, test=share, seed=seed)
    assert split.train | split.test == {task.family for task in TASKS}
    assert split.train
    assert split.test
    assert abs(len(split.test) - 20 * share) <= 0.5 or len(split.test) in (1, 19)


TEXTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), min_size=2, max_size=30)


@given(TEXTS, st.floats(0.1, 0.9), st.integers(0, 50))
def test_families_with_a_common_instruction_stay_together(pairs, share, seed):
    """Also over several steps: f1 shares a text with f2, and f2 another one with f3."""
    tasks = [Task("demo", f"t{at}", f"f{family}", f"Water bed {text}") for at, (family, text) in enumerate(pairs)]
    try:
        split = draw_split(tasks, test=share, seed=seed)
    except ConfigError:
        return  # all are one group
    for one in tasks:
        for other in tasks:
            if one.instruction == other.instruction:
                assert (one.family in split.test) == (other.family in split.test)


def test_equal_is_as_exclusion_has_it():
    """Case and white space make no other text; control: other words do."""
    same = [Task("demo", "a", "fa", "Water the  ROSES"), Task("demo", "b", "fb", "water the roses")]
    with pytest.raises(ConfigError, match="all 2 families share an instruction"):
        draw_split(same, test=0.5, seed=0)
    other = [same[0], Task("demo", "b", "fb", "water the tulips")]
    assert len(draw_split(other, test=0.5, seed=0).test) == 1


def test_a_family_that_is_added_moves_no_other():
    """The order of the draw is each group's own; only the cut may move."""
    new = Task("demo", "new", "f-new", "Prune the roses")
    before = draw_split(TASKS, test=0.3, seed=3).test
    after = draw_split([*TASKS, new], test=0.3, seed=3).test
    assert len(before - after) <= 1


@pytest.mark.parametrize(
    ("tasks", "share", "says"),
    [
        (TASKS, 0.0, "share of test families is 0.0"),
        (TASKS, 1.0, "share of test families is 1.0"),
        (TASKS, float("nan"), "share of test families is nan"),
        ([], 0.3, "there is no task"),
        ([*TASKS, Task("other", "t", "f", "x")], 0.3, "of 2 benchmarks: demo, other"),
        (TASKS[:2], 0.3, "all 1 families"),
    ],
)
def test_what_cannot_be_drawn_is_an_error(tasks, share, says):
    """It says which values are wrong."""
    with pytest.raises(ConfigError, match=says):
        draw_split(tasks, test=share, seed=0)


def test_the_file_is_the_split(tmp_path):
    """It is read back as it was drawn, names itself, and says how it was drawn."""
    path, split = tmp_path / "folder" / "split.json", draw_split(TASKS, test=0.3, seed=0)
    assert write_split(path, split, seed=0, test=0.3)
    assert read_split(path) == split
    told = json.loads(path.read_text(encoding="utf-8"))
    assert (told["sha256"], told["seed"], told["test_share"]) == (split.sha256, 0, 0.3)


def test_another_split_is_never_written_over(tmp_path):
    """The same one is left as it is, another one is refused, and so is a file that is no split."""
    path = tmp_path / "split.json"
    write_split(path, draw_split(TASKS, test=0.3, seed=0), seed=0, test=0.3)
    before = path.read_bytes()
    assert not write_split(path, draw_split(TASKS, test=0.3, seed=0), seed=0, test=0.3)
    with pytest.raises(ConfigError, match="holds the split"):
        write_split(path, draw_split(TASKS, test=0.3, seed=1), seed=1, test=0.3)
    assert path.read_bytes() == before
    path.write_text("my notes", encoding="utf-8")
    with pytest.raises(ConfigError, match="is no split"):
        write_split(path, draw_split(TASKS, test=0.3, seed=0), seed=0, test=0.3)
    assert path.read_text(encoding="utf-8") == "my notes"


def test_an_edited_split_is_noticed(tmp_path):
    """A family that was moved by hand makes it another split; without the hash it is taken as it is."""
    path, split = tmp_path / "split.json", draw_split(TASKS, test=0.3, seed=0)
    write_split(path, split, seed=0, test=0.3)
    told = json.loads(path.read_text(encoding="utf-8"))
    told["train"].append(told["test"].pop())
    path.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(ConfigError, match=split.sha256):
        read_split(path)
    del told["sha256"]
    path.write_text(json.dumps(told), encoding="utf-8")
    assert read_split(path) == Split("demo", frozenset(told["train"]), frozenset(told["test"]))
