"""How an experiment stands: what is finished, and what is not what it was."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from amd.build import build_memory
from amd.embedders import load_embedder
from amd.errors import AmdError, ConfigError, StoreError
from amd.experiment.planned import STATE, PlannedRun
from amd.experiment.recipes import MemoryRecipe
from amd.experiment.standing import Standing
from amd.testing import run


@pytest.fixture
def planned(tmp_path):
    """A run of the arm, which lies there as if it had begun then."""

    def make(arm="amd", began="today"):
        path = tmp_path / "out" / f"small-{arm}-0"
        path.mkdir(parents=True, exist_ok=True)
        (path / "amd-run.json").write_text(json.dumps({"created_at": began}), encoding="utf-8")
        return PlannedRun(path, arm, "small", 0, None, {"method": arm}, {"model": "small"}, {})

    return make


def standing(tmp_path):
    """As the next command reads it."""
    return Standing(tmp_path / "out")


def test_a_run_is_finished_as_long_as_it_is_there(planned, tmp_path):
    """And is the same one: begun at the same moment, with the same words."""
    one = planned()
    standing(tmp_path).begin(one)
    assert not standing(tmp_path).is_done(one)
    kept = standing(tmp_path)
    kept.finish(one)
    assert standing(tmp_path).is_done(one)
    planned(began="tomorrow")
    assert not standing(tmp_path).is_done(one)
    planned()
    assert standing(tmp_path).is_done(one)


def test_a_command_that_refused_its_words_has_begun_nothing(planned, tmp_path):
    """A mistake of typing does not close a folder; a run that was begun is the control."""
    wrong = planned()
    (wrong.path / "amd-run.json").unlink()
    standing(tmp_path).begin(wrong)
    right = replace(wrong, task_options={"limit": 3})
    assert standing(tmp_path).faults([right], []) == []
    standing(tmp_path).begin(right)
    planned()
    (fault,) = standing(tmp_path).faults([wrong], [])
    assert "was begun with" in fault.message


def test_two_runs_that_changed_places_are_not_finished(planned, tmp_path):
    """Each is of another arm than its name says."""
    one, other = planned("amd", "at nine"), planned("none", "at ten")
    kept = standing(tmp_path)
    for each in (one, other):
        kept.begin(each)
        kept.finish(each)
    one.path.rename(tmp_path / "aside")
    other.path.rename(one.path)
    (tmp_path / "aside").rename(other.path)
    assert not any(standing(tmp_path).is_done(each) for each in (one, other))


def test_a_command_that_wrote_nothing_finished_nothing(planned, tmp_path):
    """Though it ended well."""
    one = planned()
    (one.path / "amd-run.json").unlink()
    with pytest.raises(AmdError, match=r"has no amd-run\.json, though its command ended well"):
        standing(tmp_path).finish(one)
    assert not standing(tmp_path).is_done(one)


def test_a_memory_that_is_another_one_by_now_is_told(planned, tmp_path):
    """By its seal; so is one that is gone. The same one is the control."""
    place = tmp_path / "memory"
    build_memory([run(0), run(1)], place, embedder=load_embedder("hash"))
    recipe = MemoryRecipe(path=place)
    one = planned()
    standing(tmp_path).keep_recipe(recipe, made=False)
    assert standing(tmp_path).faults([one], [recipe]) == []
    build_memory([run(2)], place, embedder=load_embedder("hash"))
    (fault,) = standing(tmp_path).faults([one], [recipe])
    assert "the experiment began with" in fault.message
    with pytest.raises(ConfigError, match="began with"):
        standing(tmp_path).keep_recipe(recipe, made=True)
    place.rename(tmp_path / "elsewhere")
    (fault,) = standing(tmp_path).faults([one], [recipe])
    assert "is gone" in fault.message
    kept = standing(tmp_path)
    kept.begin(one)
    kept.finish(one)
    assert kept.faults([one], [recipe]) == []  # no run needs it any more


def test_nobody_says_how_a_memory_was_made_that_was_there(tmp_path, planned):
    """The words of a recipe are kept for what they made, and for nothing else."""
    build_memory([run(0)], tmp_path / "m", embedder=load_embedder("hash"))
    recipe = MemoryRecipe(path=tmp_path / "m", build=("amd", "other.jsonl"))
    planned()
    standing(tmp_path).keep_recipe(recipe, made=False)
    assert not standing(tmp_path).knows(recipe)
    assert json.loads((tmp_path / "out" / STATE).read_text("utf-8"))[f"memory {tmp_path / 'm'}"]["words"] == []
    standing(tmp_path).keep_recipe(recipe, made=True)
    assert standing(tmp_path).knows(recipe)


@pytest.mark.parametrize("text", ["{", "[]", '{"small-amd-0": {"words": 3}}', "[" * 100_000])
def test_a_broken_file_is_told(tmp_path, text):
    """It is not taken for an empty one."""
    (tmp_path / "out").mkdir()
    (Path(tmp_path) / "out" / STATE).write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match=r"experiment\.json cannot be read"):
        standing(tmp_path)
