"""Runs to arms: names, splits, families."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from amd.arms import Arm, RunResults, TaskResult
from amd.arms.kept_split import KeptSplit
from amd.errors import ConfigError
from amd.evaluate.grouping import group


def names(made, *directories, **values):
    """What the arms of these directories are called, alternately of two methods."""
    runs = [made(name, {"t0": True}, method=method, **values) for name, method in directories]
    return [arm.name for arm in group(runs, missing="failed")]


def test_an_arm_is_called_what_its_directories_share(made):
    """And two arms never alike."""
    assert names(made, ("none", "none"), ("amd", "amd")) == ["none", "amd"]
    assert names(made, ("amd-seed-1", "amd"), ("amd-seed-2", "amd")) == ["amd"]
    assert names(made, ("replays_s1", "amd"), ("replays_s2", "amd")) == ["replays"]
    assert names(made, ("same", "none"), ("same", "amd")) == ["same", "same (2)"]


def test_one_seed_is_called_like_several(made):
    """As ``amd experiment`` names directories; a number that is not the run's seed stays (the control)."""
    assert names(made, ("small-amd-0", "amd"), ("small-amd-1", "amd")) == ["small-amd"]
    assert names(made, ("small-amd-0", "amd"), values={"seed": 0}) == ["small-amd"]
    assert names(made, ("small-top-5-0", "amd"), values={"seed": 0}) == ["small-top-5"]
    assert names(made, ("amd-seed-1", "amd"), values={"seed": 1}) == ["amd"]
    assert names(made, ("amd-1", "amd")) == names(made, ("amd-1", "amd"), values={"seed": 0}) == ["amd-1"]
    assert names(made, ("top5", "amd"), values={"seed": 5}) == ["top5"]


def test_a_split_names_its_arm(made, tmp_path):
    """By its hash: two files that say the same are one split, another one is another arm; a lost one is told."""
    splits = []
    for number, test in enumerate((["f1"], ["f1"], ["f2"])):
        path = tmp_path / f"split-{number}.json"
        value = {"format": "amd-split/1", "benchmark": "garden", "train": ["f0"], "test": test}
        path.write_text(json.dumps(value), encoding="utf-8")
        splits.append(path)
    runs = [
        made(f"run-{number}", {"t3": True}, method="amd", protocol="cross-split", split=path)
        for number, path in enumerate(splits)
    ]
    arms = group(runs, missing="failed")
    assert [len(arm.runs) for arm in arms] == [2, 1]
    assert [len(arm.split) for arm in arms] == [64, 64]
    splits[2].unlink()
    assert "not there any more" in group(runs, missing="failed")[1].split


def test_a_task_of_two_families_is_refused(tmp_path):
    """Two versions of a benchmark do not make one arm."""
    runs = [
        RunResults(
            path=tmp_path / name,
            benchmark="b",
            student="s",
            arm=Arm(method="none"),
            tasks=(TaskResult("t", name, success=True),),
        )
        for name in ("f1", "f2")
    ]
    with pytest.raises(ConfigError, match=r"'f1' in one run of .* 'f2' in another"):
        group(runs, missing="failed")


def test_a_run_keeps_its_split(made, tmp_path):
    """As it began with it: what was shown against it stays told, though the file is another one by now."""
    path = tmp_path / "split.json"
    value = {"benchmark": "garden", "train": ["f0"], "test": ["f1"]}
    run = made("run", {"t3": True}, method="amd", protocol="cross-split", split=path)
    kept = replace(run, split=KeptSplit.model_validate_json(json.dumps(value)))
    (gone,) = group([kept], missing="failed")
    path.write_text(json.dumps({"format": "amd-split/1", **value, "train": ["f0", "f99"]}), encoding="utf-8")
    (changed,) = group([kept], missing="failed")
    assert gone.split == changed.split == kept.split.split.sha256
    assert gone.figures.outside_split == changed.figures.outside_split == 1
    assert group([run], missing="failed")[0].figures.outside_split == 0  # it kept none: the file counts
