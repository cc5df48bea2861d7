"""What a run came to, for ``amd report``: from made-up run directories."""

from __future__ import annotations

import pytest
from garden import BASES, row, summary

from amd.arms import RUN_SETTINGS, replace_text
from amd.errors import TrajectoryError
from amd.evaluate.reading import read_run
from amd_toolsandbox.families import family
from amd_toolsandbox.results import read

A, B, C, D = BASES


def test_the_results_of_a_run(made):
    """Success at a similarity of 0.9 without exception and minefield; a service's failure is no result."""
    rows = [{**row(A, 0.95), "turn_count": 7}, row(B, 0.5), {**row(C, 0.0, "KeyError"), "turn_count": 30}]
    run = made(rows=[*rows, row(D, 0.0, "APIConnectionError")])
    found = read(run.path)
    assert [(task.success, task.fault) for task in found.tasks] == [
        (True, None),
        (False, None),
        (False, None),
        (None, "infrastructure"),
    ]
    assert [task.family for task in found.tasks] == [family(name) for name in BASES]
    assert [task.steps for task in found.tasks] == [7, None, None, None]
    assert found.tasks[0].log.task_id == A
    assert (found.benchmark, found.student, found.terms) == (
        *("toolsandbox", "student"),
        {"user": "user", "temperature": None, "success_score": 0.9},
    )


def test_a_scenario_that_never_ended_is_missing(made):
    """Until a second folder has its score."""
    run = made(rows=[row(A), row(B), row(C)])
    assert read(run.path).tasks[3].fault == "missing"
    summary(run, row(D), hour=9)
    assert read(run.path).tasks[3].success is True


def test_it_is_offered_to_the_report(made, tmp_path):
    """By an entry point; other directories are nobody's, or somebody else's."""
    assert read_run(made().path).benchmark == "toolsandbox"
    replace_text(tmp_path / "other" / RUN_SETTINGS, '{"format": "amd-bfcl-run/1"}')
    assert read(tmp_path / "other") is None
    assert read(tmp_path) is None


def test_a_score_without_a_log_is_refused(made):
    """Nobody could vouch for what it was shown."""
    run = made()
    run.exposures_file(A).unlink()
    with pytest.raises(TrajectoryError, match="cannot be read"):
        read(run.path)
