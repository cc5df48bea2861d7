"""What an experiment lacks before anything is run."""

from __future__ import annotations

import json

import pytest

from amd.build import Options, build_memory
from amd.embedders import load_embedder
from amd.errors import ConfigError
from amd.experiment.plan import read_experiment
from amd.experiment.readiness import commands_of, unready
from amd.testing import run


def told(path, *changes):
    """Each fault in a line."""
    return [str(error) for error in unready(read_experiment(path, changes))]


def test_nothing_is_lacking(overlay, written):
    """The control."""
    assert told(written()) == []


def test_a_benchmark_that_nobody_runs(written):
    """It is no fault among others: no command is known."""
    with pytest.raises(ConfigError, match=r"no installed overlay runs the benchmark 'orchard'; .*known are"):
        unready(read_experiment(written(), ["benchmark=orchard"]))
    with pytest.raises(ConfigError, match="'orchard'"):
        commands_of("orchard")


def test_a_memory_that_an_arm_cannot_read(overlay, written, tmp_path):
    """Of another benchmark, or without a tier that is asked; each arm is named."""
    build_memory(
        [run(i) for i in range(3)], tmp_path / "bank", embedder=load_embedder("hash"), options=Options(method="sasm")
    )
    more = f"[arm.bank]\nmethod = 'workflow'\nmemory = '{tmp_path / 'bank'}'\n"
    (fault,) = told(written(more))
    assert fault.startswith("arm.bank: ")
    assert "workflow" in fault
    manifest = tmp_path / "bank" / "manifest.json"
    manifest.write_text("{}", encoding="utf-8")
    (fault,) = told(written(more, memory=tmp_path / "memory"))
    assert "manifest.json" in fault


def test_a_memory_of_what_is_held_out(overlay, written, tmp_path):
    """It would end the experiment at its first task; one of train families is the control."""
    families = [run(i).task.family for i in range(4)]
    split = {"format": "amd-split/1", "benchmark": "made-up", "train": families[:3], "test": families[3:]}
    (tmp_path / "split.json").write_text(json.dumps(split), encoding="utf-8")
    more = f"[arm.held]\nprotocol = 'cross-split'\nmemory = 'runs'\nsplit = '{tmp_path / 'split.json'}'\n"
    path = written(more)
    assert told(path) == []
    split |= {"train": families[1:], "test": families[:1]}
    (tmp_path / "split.json").write_text(json.dumps(split), encoding="utf-8")
    (fault,) = told(path)
    assert fault.startswith("arm.held: ")


def test_a_pin_that_is_not_the_seal(overlay, written):
    """Before any run; the seal itself is the control."""
    path = written("[arm.pinned]\nmemory = 'runs'\nlayout = 'turns'\npin = 'abc'\n")
    (fault,) = told(path)
    assert fault.startswith("arm.pinned: ")
    assert "abc" in fault
