"""Runs as commands of their own: in order, once, and what ends one ends all and loses nothing."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from amd.errors import AmdError, BudgetSpent, ClientError, ConfigError, LeakageError
from amd.exclusion import read_split
from amd.experiment.plan import read_experiment
from amd.experiment.planned import LOGS
from amd.experiment.running import run_experiment
from amd.testing import run
from amd.traces import canonical

ALL = ["small-none-0", "small-amd-0", "small-none-1", "small-amd-1"]


def played(lines):
    """The runs that were begun, in order."""
    return [line.split()[1] for line in lines if line.startswith("play")]


def test_every_run_is_begun_once_and_none_again(overlay, written, asked):
    """A finished experiment run again begins nothing; one more seed is begun alone."""
    path, told, watched = written(), [], []
    run_experiment(read_experiment(path), tell=told.append, watch=watched.append)
    assert played(asked()) == ALL
    assert [line.split()[0] for line in asked()] == ["play", "score"] * 4
    assert told == [f"[{number}/4] {name}" for number, name in enumerate(ALL, start=1)]
    assert watched[:2] == ["play: 1 of 1", "score: 1 of 1"]
    run_experiment(read_experiment(path))
    assert len(asked()) == 8
    run_experiment(read_experiment(path, ["seeds=3"]))
    assert played(asked()[8:]) == ["small-none-2", "small-amd-2"]


@pytest.mark.parametrize(
    ("code", "kind"), [(1, AmdError), (2, ConfigError), (3, ClientError), (4, LeakageError), (5, BudgetSpent)]
)
def test_what_ends_a_run_ends_the_experiment(overlay, written, asked, monkeypatch, tmp_path, code, kind):
    """In the command's own words and with its exit code; the same command goes on with that run."""
    monkeypatch.setenv("GARDEN_BROKEN", f"small-amd-0:{code}")
    with pytest.raises(AmdError, match=rf"small-amd-0 ended with exit code {code}: garden: the well is dry") as caught:
        run_experiment(read_experiment(written()))
    assert type(caught.value) is kind
    assert caught.value.exit_code == code
    assert played(asked()) == ALL[:2]
    assert "a table" in (tmp_path / "out" / LOGS / "small-amd-0.log").read_text(encoding="utf-8")
    monkeypatch.delenv("GARDEN_BROKEN")
    run_experiment(read_experiment(written(memory=tmp_path / "memory")))
    assert played(asked()) == [*ALL[:2], *ALL[1:]]


def test_an_interrupt_of_a_run_is_one_of_the_experiment(overlay, written, asked, monkeypatch):
    """Exit code 130 of a command is Ctrl-C here too."""
    monkeypatch.setenv("GARDEN_BROKEN", "small-none-0:130")
    with pytest.raises(KeyboardInterrupt):
        run_experiment(read_experiment(written()))
    assert played(asked()) == ALL[:1]


def test_a_run_that_was_begun_otherwise_is_told(overlay, written, asked):
    """Results of two settings never stand in one directory; what changed is in the message."""
    path = written()
    run_experiment(read_experiment(path))
    with pytest.raises(ConfigError, match="small-none-0 was begun with --limit 4, and now it is --limit 5"):
        run_experiment(read_experiment(path, ["tasks.limit=5"]))
    assert len(asked()) == 8
    run_experiment(read_experiment(path, ["student.small.base_url=http://127.0.0.1:10/v1", "tasks.workers=3"]))
    assert len(asked()) == 8, "where it is served and how fast is no other run"


def test_a_removed_run_is_begun_again(overlay, written, asked, tmp_path):
    """What is not there, or was emptied, is not finished."""
    path = written()
    run_experiment(read_experiment(path))
    (tmp_path / "out" / "small-amd-1" / "amd-run.json").unlink()
    run_experiment(read_experiment(path))
    assert played(asked()[8:]) == ["small-amd-1"]


def test_a_memory_is_built_where_it_is_missing(overlay, written, asked, tmp_path):
    """Once, by its own words; without words the missing one is told before anything is run."""
    place = tmp_path / "new"
    with pytest.raises(ConfigError, match=r"there is no memory at .*new; build it"):
        run_experiment(read_experiment(written(memory=place)))
    assert not asked()
    (tmp_path / "runs.jsonl").write_bytes(b"")
    path = written(memory=place)
    text = path.read_text(encoding="utf-8")
    recipe = f'path = "{place}"\nbuild = ["amd", "{tmp_path / "runs.jsonl"}", "--embedder", "hash"]'
    path.write_text(text.replace(f'path = "{place}"', recipe), encoding="utf-8")
    with pytest.raises(AmdError, match="memory-new ended with exit code 1"):  # nothing was admitted
        run_experiment(read_experiment(path))
    assert "runs read" in (tmp_path / "out" / LOGS / "memory-new.log").read_text(encoding="utf-8")


def test_a_memory_that_is_built_otherwise_now_is_told(overlay, written, asked, tmp_path):
    """Its runs would be of two memories, and so if it is built anew; the same words are the control."""
    place = tmp_path / "new"
    canonical.write(tmp_path / "runs.jsonl", [run(i) for i in range(3)])
    path = written(memory=place)
    words = f'build = ["amd", "{tmp_path / "runs.jsonl"}", "--embedder", "hash"]'
    path.write_text(path.read_text("utf-8").replace("[memory.runs]", f"[memory.runs]\n{words}"), encoding="utf-8")
    run_experiment(read_experiment(path))
    run_experiment(read_experiment(path))
    changed = f"memory.runs.build={[*json.loads(words[8:])[:-1], 'minilm']}"
    with pytest.raises(ConfigError, match=r"new was made with --embedder hash, and now it is --embedder minilm"):
        run_experiment(read_experiment(path, [changed, "seeds=3"]))
    assert len(asked()) == 8
    place.rename(tmp_path / "aside")
    run_experiment(read_experiment(path, ["seeds=2"]))  # nothing is left to run, and nothing is made
    assert not place.exists()


def test_a_memory_of_own_runs_is_built_after_them(overlay, written, asked, tmp_path):
    """Before the first arm that reads it, when the runs that it is made of are there; others are built first of all."""
    own = f"""
        [memory.own]
        path = "{tmp_path / "own"}"
        build = ["amd", "{tmp_path / "out" / "small-none-0"}", "--embedder", "hash"]
        [arm.own]
        memory = "own"
    """
    path = written(own)
    with pytest.raises(AmdError, match="memory-own ended with exit code"):  # the made-up student writes no trajectories
        run_experiment(read_experiment(path))
    assert played(asked()) == ["small-none-0", "small-amd-0"]
    canonical.write(tmp_path / "out" / "small-none-0" / "runs.jsonl", [run(i) for i in range(3)])
    path.write_text(path.read_text("utf-8").replace('small-none-0"', 'small-none-0/runs.jsonl"'), encoding="utf-8")
    run_experiment(read_experiment(path))
    assert played(asked())[2:] == ["small-own-0", "small-none-1", "small-amd-1", "small-own-1"]
    assert (tmp_path / "own" / "manifest.json").exists()


def test_a_split_is_drawn_where_it_is_missing(overlay, written, asked, tmp_path):
    """Before all else."""
    more = f"""
        [split.half]
        path = "{tmp_path / "deep" / "half.json"}"
        draw = ["amd", "{tmp_path / "runs.jsonl"}", "--test", "0.5"]
        [arm.half]
        memory = "runs"
        split = "half"
    """
    canonical.write(tmp_path / "runs.jsonl", [run(i) for i in range(4)])
    run_experiment(read_experiment(written(more)))
    assert read_split(tmp_path / "deep" / "half.json").test
    assert played(asked())[2] == "small-half-0"


def test_a_python_that_is_not_there_is_told(overlay, written, asked):
    """With where to get one."""
    with pytest.raises(ConfigError, match=r"no/python cannot be run: .*scripts/setup_"):
        run_experiment(read_experiment(written(), ["python=no/python"]))
    assert not asked()


def test_a_benchmark_that_nobody_runs_is_told(written):
    """By name, before anything is made."""
    with pytest.raises(ConfigError, match="no installed overlay runs the benchmark 'orchard'"):
        run_experiment(read_experiment(written(), ["benchmark=orchard"]))


def test_a_split_that_was_drawn_otherwise_is_told(overlay, written, asked, tmp_path):
    """One that stands there is drawn again: the same is taken, another one is refused before anything is run."""
    more = f"""
        [split.half]
        path = "{tmp_path / "half.json"}"
        draw = ["amd", "{tmp_path / "runs.jsonl"}", "--test", "0.5"]
        [arm.half]
        memory = "runs"
        split = "half"
    """
    canonical.write(tmp_path / "runs.jsonl", [run(i) for i in range(8)])
    draw = [sys.executable, "-m", "amd", "split", "amd", tmp_path / "runs.jsonl", "--out", tmp_path / "half.json"]
    subprocess.run([*draw, "--test", "0.25"], check=True, capture_output=True)
    path = written(more)
    with pytest.raises(ConfigError, match=r"split-half ended with exit code 2: .*half\.json holds the split"):
        run_experiment(read_experiment(path))
    assert not asked()
    (tmp_path / "half.json").unlink()
    subprocess.run([*draw, "--test", "0.5"], check=True, capture_output=True)
    run_experiment(read_experiment(path))
    assert len(played(asked())) == 6


def test_how_a_memory_was_built_may_be_written_down_later(overlay, written, asked):
    """Nobody had said anything before."""
    path = written()
    run_experiment(read_experiment(path))
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("[memory.runs]", "[memory.runs]\nbuild = ['amd', 'runs.jsonl']"), encoding="utf-8")
    run_experiment(read_experiment(path))
    assert len(played(asked())) == 4
