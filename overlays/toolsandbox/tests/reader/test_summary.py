"""Which scores count: the harness's summary, else the rescored one, and what is left where neither can be read."""

from __future__ import annotations

import json

import pytest
from run_folders import context, notes, refusals, runs, score, write

from amd.build import admit
from amd_toolsandbox.summary import INFRASTRUCTURE, RESCORED, outcome, read_scores

BOTH = {"wifi_off": context(), "cellular_off": context()}


@pytest.mark.parametrize(
    ("row", "success"),
    [
        ({}, True),
        ({"similarity": 0.9}, True),
        ({"similarity": 0.8999}, False),
        ({"similarity": 1, "minefield_similarity": 0}, True),
        ({"minefield_similarity": 0.2}, False),
        ({"exception_type": "KeyError", "similarity": 0}, False),
        ({"exception_type": "KeyError"}, False),
        ({"similarity": 1.0000000000000002}, True),
    ],
)
def test_what_is_a_success(tmp_path, row, success):
    """No exception, no minefield, a similarity that reaches the threshold; a row without minefields has a 0."""
    write(tmp_path, {"wifi_off": context()}, [score("wifi_off", **row)])
    (run,) = runs(tmp_path)
    assert run.outcome.success is success
    assert run.outcome.score == row.get("similarity", 1.0)


def test_the_threshold_is_an_option_and_no_part_of_the_run(tmp_path):
    """Two thresholds that a run reaches give one hash."""
    write(tmp_path, {"wifi_off": context()}, [score("wifi_off", 0.95)])
    (default,), (low,), (high,) = runs(tmp_path), runs(tmp_path, success_score=0.5), runs(tmp_path, success_score=1.0)
    assert [run.outcome.success for run in (default, low, high)] == [True, True, False]
    assert default.sha256 == low.sha256
    assert default.outcome.evidence == "similarity 0.95"


def test_without_a_summary_nothing_succeeded(tmp_path):
    """Unscored is not successful; the evidence says what is missing."""
    write(tmp_path, BOTH, None)
    assert {run.outcome.success for run in runs(tmp_path)} == {None}
    assert admit(runs(tmp_path)).refused == {"unscored": 2}
    assert runs(tmp_path)[0].outcome.evidence == "no result_summary.json"


def test_a_scenario_without_a_row_is_unscored_and_a_row_without_a_scenario_is_counted(tmp_path):
    """Each is told; the other scenario is not touched."""
    write(tmp_path, BOTH, [score("wifi_off"), score("turn_on_wifi"), score("turn_on_location")])
    assert {run.task.task_id: run.outcome.success for run in runs(tmp_path)} == {"wifi_off": True, "cellular_off": None}
    assert notes(tmp_path) == {"summary_without_trajectory": 2}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"per_scenario_results": {}}', b"\xff", b"null"])
def test_a_summary_that_cannot_be_read_scores_nothing(tmp_path, content):
    """D22 (c): counted, never a crash; the rescored one stands in for it."""
    write(tmp_path, BOTH)
    (tmp_path / "result_summary.json").write_bytes(content)
    assert {run.outcome.success for run in runs(tmp_path)} == {None}
    assert notes(tmp_path) == {"unreadable_summary": 1}
    assert "cannot be read" in runs(tmp_path)[0].outcome.evidence
    write(tmp_path, {}, [score("wifi_off")], name=RESCORED)
    assert {run.task.task_id for run in runs(tmp_path) if run.outcome.success} == {"wifi_off"}


def test_the_harnesss_own_summary_comes_first(tmp_path):
    """What was scored on the day is believed before what was scored again."""
    write(tmp_path, {"wifi_off": context()}, [score("wifi_off", 0.1)])
    write(tmp_path, {}, [score("wifi_off")], name=RESCORED)
    assert runs(tmp_path)[0].outcome.score == 0.1
    (tmp_path / "result_summary.json").unlink()
    assert runs(tmp_path)[0].outcome.score == 1.0


@pytest.mark.parametrize(
    "row",
    [
        None,
        "wifi_off",
        {},
        {"name": "wifi_off"},
        score("wifi_off", similarity="1"),
        score("wifi_off", similarity=float("nan")),
        score("wifi_off", similarity=True),
        score("wifi_off", similarity=5),
        score("wifi_off", exception_type=5),
    ],
)
def test_a_row_that_cannot_be_read_scores_nothing(tmp_path, row):
    """It is counted, and the others count."""
    write(tmp_path, BOTH, [row, score("cellular_off")])
    assert {run.task.task_id: run.outcome.success for run in runs(tmp_path)} == {"wifi_off": None, "cellular_off": True}
    assert notes(tmp_path) == {"unreadable_summary_row": 1}


def test_two_rows_of_one_scenario(tmp_path):
    """Equal ones are one; of two that differ neither is believed."""
    write(tmp_path, BOTH, [score("wifi_off"), score("cellular_off"), score("wifi_off", 0.2), score("cellular_off")])
    assert {run.task.task_id: run.outcome.success for run in runs(tmp_path)} == {"wifi_off": None, "cellular_off": True}
    assert notes(tmp_path) == {"differing_summary_rows": 1}


@pytest.mark.parametrize("exception", sorted(INFRASTRUCTURE))
def test_a_service_that_failed_says_nothing_of_the_agent(tmp_path, exception):
    """Apart from the agent's own failures, which the control below has."""
    write(tmp_path, BOTH, [score("wifi_off", 0, exception_type=exception), score("cellular_off", 0)])
    (refusal,) = refusals(tmp_path)
    assert (refusal.reason, refusal.task_id) == ("inference_error", "wifi_off")
    assert exception in refusal.detail
    assert [run.outcome.success for run in runs(tmp_path)] == [False]


def test_an_exception_of_the_agents_own_is_a_failure(tmp_path):
    """An unknown tool ends a scenario with ``KeyError``: the agent's fault, named in the evidence."""
    write(tmp_path, {"wifi_off": context(ended=False)}, [score("wifi_off", 0, exception_type="KeyError")])
    (run,) = runs(tmp_path)
    assert (run.outcome.success, run.outcome.evidence) == (False, "similarity 0, KeyError")


def test_a_folder_where_a_summary_should_be(tmp_path):
    """Whatever lies there, reading goes on."""
    write(tmp_path, {"wifi_off": context()}, None)
    (tmp_path / "result_summary.json").mkdir()
    assert read_scores(tmp_path).notes == {"unreadable_summary": 1}
    assert outcome(None, 0.9, "why").evidence == "why"


def test_the_summary_keeps_what_it_says(tmp_path):
    """Positive control: rows by name."""
    write(tmp_path, BOTH)
    assert set(read_scores(tmp_path).rows) == set(BOTH)
    assert json.loads((tmp_path / "result_summary.json").read_bytes())["git_sha"] is None
