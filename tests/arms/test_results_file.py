"""``amd-results.json``: what was written comes back, and anything else is refused in one line."""

from __future__ import annotations

import json

import pytest

from amd.arms import Arm, RunResults, TaskResult, write_results
from amd.arms.results_file import RESULTS, read_results
from amd.errors import ConfigError, TrajectoryError


@pytest.fixture
def written(tmp_path):
    """A run without memory, on the disk."""
    results = RunResults(
        path=tmp_path / "run",
        benchmark="office",
        student="s",
        arm=Arm(method="none"),
        tasks=(
            TaskResult("t1", "f1", success=True, steps=3, seconds=1.5, prompt_tokens=10, completion_tokens=2),
            TaskResult("t2", "f1", success=None, fault="missing"),
        ),
        memory_from=("x (teacher)",),
        terms={"version": [1, "a"]},
        seed=4,
        made_up=True,
    )
    return results, write_results(results)


def test_what_was_written_comes_back(written):
    """All of it; a directory without the file is no run."""
    results, path = written
    assert path == results.path / RESULTS
    assert read_results(results.path) == results
    assert read_results(path.parent.parent) is None


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"format": "amd-results/2"}, ConfigError),
        ({"extra": 1}, ConfigError),
        ({"seed": "4"}, ConfigError),
        ({"arm": {"method": "magic"}}, ConfigError),
        ({"tasks": [{"task_id": "t", "family": "f", "success": True, "steps": -1}]}, ConfigError),
        ({"tasks": [{"task_id": "t", "family": "f", "success": True, "seconds": 1e308}]}, ConfigError),
        ({"tasks": [{"task_id": "t", "family": "f", "success": True, "seconds": float("inf")}]}, ConfigError),
        ({"tasks": [{"task_id": "t", "family": "f", "success": True, "prompt_tokens": 10**400}]}, ConfigError),
        ({"tasks": [{"task_id": "t", "family": "f", "success": None}]}, TrajectoryError),
        (
            {"tasks": [{"task_id": "t", "family": "f", "success": True, "amd": {"format": "amd-run/9"}}]},
            TrajectoryError,
        ),
    ],
)
def test_another_file_is_refused(written, change, error):
    """The control is the test above."""
    results, path = written
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **change}), encoding="utf-8")
    with pytest.raises(error):
        read_results(results.path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ConfigError, match=RESULTS):
        read_results(results.path)
