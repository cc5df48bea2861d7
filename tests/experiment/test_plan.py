"""What a file says of an experiment, and what it must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from amd.errors import ConfigError
from amd.experiment.plan import read_experiment


def test_every_arm_runs_with_every_student_round_by_round(written, tmp_path):
    """Seed by seed; the memory's name is its directory; what an arm does not say is not told."""
    experiment = read_experiment(written("[student.large]\nmodel = 'large'\n"))
    runs = list(experiment.runs())
    assert [run.path.name for run in runs] == [
        f"{student}-{arm}-{seed}" for seed in (0, 1) for student in ("small", "large") for arm in ("none", "amd")
    ]
    assert runs[0].words() == [
        *("--method", "none", "--model", "small", "--base-url", "http://127.0.0.1:9/v1", "--limit", "4", "--seed", "0"),
    ]
    assert runs[-1].words()[-2:] == ["--seed", "1"]
    assert runs[3].words()[:2] == ["--memory", str(tmp_path / "memory")]


def test_a_value_can_be_changed_from_outside(written):
    """By its path; a number is a number; a path through a value is refused."""
    path = written()
    changed = read_experiment(path, ["seeds=1", "student.small.model=other", "tasks.limit=2"])
    assert next(run.words()[2:] for run in changed.runs()) == [
        *("--model", "other", "--base-url", "http://127.0.0.1:9/v1", "--limit", "2", "--seed", "0"),
    ]
    assert len(list(changed.runs())) == 2
    (run, *_) = read_experiment(path, ["tasks.partial=true", "tasks.limit='007'", "tasks.ids=a,b"]).runs()
    assert run.words()[-7:] == ["--limit", "007", "--partial", "--ids", "a,b", "--seed", "0"]
    for wrong in ("seeds", "seeds.x=1", "=1", "a..b=1"):
        with pytest.raises(ConfigError, match="--set"):
            read_experiment(path, [wrong])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("[arm.odd]\nmemory = 'runs'\nmood = 'good'\n", r"arm\.odd: wrong settings of an arm: mood"),
        ("[arm.odd]\nmethod = 'magic'\nmemory = 'runs'\n", r"arm\.odd: .*magic"),
        ("[arm.odd]\nmethod = 'amd'\n", r"arm\.odd: method 'amd' reads a memory"),
        ("[arm.'../x']\nmethod = 'none'\n", r"is no name"),
        ("[arm.'workflow+function']\nmethod = 'none'\n", r"is no name"),
        ("[student.'a b']\nmodel = 'x'\n", r"is no name"),
        ("[arm.plain]\nmethod = 'none'\n", r"are one arm"),
        ("[student.x]\nmodel = 'x'\nprotocol = 'in-sample'\n", r"student\.x\.protocol: that is for \[arm\.NAME\]"),
        ("[student.x]\nmodel = 'x'\nlimit = 3\n", r"tasks\.limit: .*said twice"),
        ("[student.x]\nmodel = 'x'\nseed = 3\n", r"student\.x\.seed: that is for"),
        ("[student.small-NONE]\nmodel = 'x'\n[student.'small']\n", r"not TOML"),
        ("[arm.NONE]\nmethod = 'workflow'\nmemory = 'runs'\n", r"one directory"),
        ("[colour]\nred = 1\n", r"colour: Extra inputs"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(written, more, words):
    """Nothing of such a file is run; the same file without it is the control."""
    assert read_experiment(written()).arms().keys() == {"none", "amd"}
    with pytest.raises(ConfigError, match=words):
        read_experiment(written(more))


def test_the_baseline_is_one_of_the_arms(written):
    """What a report compares with must be run."""
    with pytest.raises(ConfigError, match="the baseline 'plain' is no arm of it; name one of none, amd"):
        read_experiment(written(), ["baseline=plain"])


def test_no_seed_is_no_experiment(written):
    """At least one, and whole."""
    for value in ("0", "two"):
        with pytest.raises(ConfigError, match="seeds"):
            read_experiment(written(), [f"seeds={value}"])


def test_what_the_arms_read_is_made_once_and_splits_first(written, tmp_path):
    """By name or by path; a memory that no arm reads is not built, a split may be for a memory alone."""
    more = """
        [split.half]
        path = "half.json"
        draw = ["garden", "runs", "--test", "0.5"]
        [memory.train]
        path = "train"
        build = ["garden", "runs", "--split", "half.json"]
        [memory.idle]
        path = "idle"
        [arm.held]
        protocol = "cross-split"
        split = "half"
        memory = "train"
        [arm.other]
        memory = "elsewhere"
        split = "other.json"
    """
    experiment = read_experiment(written(more))
    paths = [str(recipe.path) for recipe in experiment.recipes()]
    assert paths == ["half.json", "other.json", str(tmp_path / "memory"), "train", "elsewhere"]
    assert experiment.arms()["held"].split == Path("half.json")
    held = next(run for run in experiment.runs() if run.arm == "held")
    assert held.memory == Path("train")
    assert held.words()[:6] == ["--protocol", "cross-split", "--split", "half.json", "--memory", "train"]


def test_a_key_can_be_taken_out(written):
    """An arm, or an option; one that is not there is told."""
    path = written("[arm.workflow]\nmethod = 'workflow'\nmemory = 'runs'\n")
    experiment = read_experiment(path, ["arm.workflow=", "tasks.limit="])
    assert experiment.arms().keys() == {"none", "amd"}
    assert not any("--limit" in run.words() for run in experiment.runs())
    with pytest.raises(ConfigError, match="there is no such key; it has limit"):
        read_experiment(path, ["tasks.colour="])


def test_what_is_made_of_own_runs_lies_where_they_do(written, tmp_path):
    """Wherever that is: ``{out}`` is filled in, in paths and words."""
    more = """
        [memory.own]
        path = "{out}/memory-own"
        build = ["garden", "{out}/small-none-0"]
        [arm.own]
        memory = "own"
    """
    path = written(more)
    recipe = read_experiment(path).memory["own"]
    assert (recipe.path, recipe.build[1]) == (tmp_path / "out" / "memory-own", str(tmp_path / "out" / "small-none-0"))
    moved = read_experiment(path, ["out=elsewhere"])
    assert moved.arms()["own"].memory == moved.memory["own"].path == Path("elsewhere/memory-own")


def test_a_name_with_a_dot_is_reached_in_quotes(written):
    """As in TOML."""
    path = written("[student.'qwen-2.5']\nmodel = 'x'\n")
    changed = read_experiment(path, ['student."qwen-2.5".model=other'])
    assert changed.student["qwen-2.5"]["model"] == "other"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("[memory.other]\npath = '{place}/../memory'\n", r"memory\.other: its path is that of memory\.runs"),
        ("[split.half]\npath = '{place}'\n", r"split\.half: its path is that of memory\.runs"),
        ("[memory.other]\npath = '{out}'\n", r"memory\.other: its path is that of out"),
        ("[memory.other]\npath = '{out}/small-none-0'\n", r"memory\.other: its path is that of a run"),
        ("[memory.other]\npath = '{out}/small-none-9/x'\n", r"memory\.other: its path is that of a run"),
        ("[memory.other]\npath = '{out}/experiment.json'\n", r"its path is that of experiment\.json"),
        ("[memory.other]\npath = '{out}/report/small'\n", r"its path is that of report"),
        ("[memory.other]\npath = '{out}/..'\n", r"its path is that of out"),
        ("[memory.other]\npath = '{place}/sub'\n", r"memory\.other: its path is that of memory\.runs"),
        ("[memory.other]\npath = '{out}/small-amd-1/memory'\n", r"memory\.other: its path is that of a run"),
        ("[memory.other]\npath = 'x'\nbuild = ['amd', 'r', '--out', 'y']\n", r"memory\.other: --out is its path"),
        ("[student.x]\nmodel = 'x'\n'workflow-tokens' = 7\n", r"'student\.x\.workflow-tokens' is no option"),
        ("[student.x]\nmodel = 'x'\n'protocol=in-sample' = true\n", r"is no option"),
        ('[student.x]\nmodel = "a\\u0000b"\n', r"the character NUL"),
    ],
)
def test_what_would_be_another_experiment_is_refused(written, tmp_path, more, words):
    """Two things at one path, an option that gets round the arms, a text that no command takes."""
    with pytest.raises(ConfigError, match=words):
        read_experiment(written(more.replace("{place}", str(tmp_path / "memory"))))


def test_what_lies_beside_the_runs_is_no_run(written):
    """The control: only a run's own directory is a run's."""
    path = written("[memory.other]\npath = '{out}/memory-other'\n[memory.third]\npath = '{out}/small-third'\n")
    assert len(read_experiment(path).memory) == 3


def test_a_nul_from_outside_is_refused_too(written):
    """No command takes one, wherever it comes from."""
    with pytest.raises(ConfigError, match="the character NUL"):
        read_experiment(written(), ['tasks.category="a\\u0000b"'])
