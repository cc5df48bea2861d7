"""Which overlay knows a run directory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amd.arms import write_results
from amd.errors import ConfigError
from amd.evaluate.reading import read_run, read_runs


@pytest.fixture
def kept(made, tmp_path):
    """Writes results into a directory of their own."""

    def keep(name="run", **values):
        results = replace(made(name, {"t0": True, "t1": False}, method="amd", **values), path=tmp_path / name)
        write_results(results)
        return results

    return keep


def test_results_come_back_as_they_were_written(kept):
    """By the format of one's own."""
    results = kept()
    assert read_run(results.path) == results
    assert read_runs([results.path]) == [results]


def test_a_directory_of_nobody(tmp_path):
    """A usage error that names who could have written one."""
    with pytest.raises(ConfigError, match=r"is a run of none that is installed; .*amd, bfcl, toolsandbox"):
        read_run(tmp_path)
    with pytest.raises(ConfigError, match="no directory"):
        read_run(tmp_path / "nowhere")


def test_a_run_counts_once(kept):
    """Named twice, by whatever spelling, it would be two seeds."""
    path = kept().path
    with pytest.raises(ConfigError, match="named twice"):
        read_runs([path, path / ".." / path.name])
    with pytest.raises(ConfigError, match="no run is named"):
        read_runs([])


def test_one_benchmark_a_report(kept):
    """Two of them have no task in common."""
    one, other = kept("one"), kept("other", benchmark="orchard")
    with pytest.raises(ConfigError, match=r"'garden'.*'orchard'"):
        read_runs([one.path, other.path])
