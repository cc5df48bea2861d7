"""Which overlay knows a run directory."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from amd.arms import RUN_SETTINGS, replace_text, write_results
from amd.errors import ConfigError
from amd.evaluate.reading import read_run, read_runs


@pytest.fixture
def kept(made, tmp_path):
    """Writes results into a directory of their own."""

    def keep(name="run", created_at=None, **values):
        run = made(name, {"t0": True, "t1": False}, method="amd", **values)
        results = replace(run, path=tmp_path / name, created_at=created_at)
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
    with pytest.raises(ConfigError, match=r"is no run that is known; .*amd, appworld, bfcl, toolsandbox"):
        read_run(tmp_path)
    replace_text(tmp_path / RUN_SETTINGS, '{"format": "amd-orchard-run/1"}')
    with pytest.raises(ConfigError, match="no run that is known: its format is 'amd-orchard-run/1'; name a directory"):
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


def test_reading_needs_no_extra():
    """Neither the command line's start nor an overlay pays for statistics and pictures; a report does (the control)."""
    heavy = "{'scipy', 'statsmodels', 'matplotlib'} & set(sys.modules)"
    for statement, loads in (("amd.cli.app, amd.evaluate.reading", False), ("amd.evaluate.writing", True)):
        done = subprocess.run(
            [sys.executable, "-c", f"import sys, {statement}; print({heavy})"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert (done.stdout.strip() != "set()") is loads


def test_a_copy_is_no_second_seed(kept):
    """By the moment at which it began, whatever its directory is called; two runs of one arm are the control."""
    one = kept("amd-0", created_at="2026-11-30T06:00:00.000001+00:00")
    other = kept("amd-1", created_at="2026-11-30T06:00:00.000002+00:00")
    copied = kept("amd-2", created_at=one.created_at)
    assert len(read_runs([one.path, other.path])) == 2
    with pytest.raises(ConfigError, match=r"amd-2 is a copy of .*amd-0: both began at"):
        read_runs([one.path, other.path, copied.path])
