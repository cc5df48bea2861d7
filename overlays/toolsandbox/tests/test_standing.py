"""How a run stands, from its files alone: what is scored, what was spoilt, and what is left to play."""

from __future__ import annotations

import os

import pytest
from garden import BASES, row, summary
from hypothesis import given
from hypothesis import strategies as st

from amd_toolsandbox.run import Run
from amd_toolsandbox.standing import Standing, harness_folders, standing
from amd_toolsandbox.summary import INFRASTRUCTURE, OURS, RESCORED, Score

A, B, C, D = BASES


@pytest.fixture
def run(run_settings, tmp_path):
    """A run of four scenarios, not begun."""
    made = Run(tmp_path / "run")
    made.begin(run_settings())
    return made


def similarities(run):
    """The scores of a run."""
    return {name: score.similarity for name, score in standing(run).scores.items()}


def test_a_run_that_has_not_begun(run):
    """Everything is left."""
    found = standing(run)
    assert (found.wanted, found.scores, found.faults, found.left) == (BASES, {}, {}, BASES)


def test_a_model_s_own_failure_is_a_score(run):
    """A zero with its exception, which is not played again."""
    summary(run, row(A, 0.0, "KeyError"), row(B, 0.4))
    found = standing(run)
    assert similarities(run) == {A: 0.0, B: 0.4}
    assert found.scores[A].exception_type == "KeyError"
    assert found.left == (C, D)


@pytest.mark.parametrize("fault", sorted(INFRASTRUCTURE | OURS))
def test_a_fault_of_a_service_or_of_ours_is_no_score(run, fault):
    """It is told, and played again."""
    summary(run, row(A, 0.0, fault), row(B))
    found = standing(run)
    assert (dict(found.faults), similarities(run), found.left) == ({A: fault}, {B: 1.0}, (A, C, D))


def test_of_several_folders_the_newest_counts(run):
    """By the date in their names: copying or scoring one again changes its time."""
    newest = summary(run, row(A, 0.9), row(B, 0.0, "KeyError"), hour=12)
    oldest = summary(run, row(A, 0.1), row(C, 0.0, "APIConnectionError"), hour=9)
    middle = summary(run, row(C, 0.3), row(D, 0.0, "ConfigError"), hour=10)
    os.utime(newest, (0, 0))
    assert [folder.path for folder in harness_folders(run)] == [oldest, middle, newest]
    found = standing(run)
    assert similarities(run) == {A: 0.9, B: 0.0, C: 0.3}
    assert dict(found.faults) == {D: "ConfigError"}
    assert found.left == (D,)


def test_a_fault_does_not_take_a_score_away(run):
    """Nobody plays a scored scenario again, but if so its score stays."""
    summary(run, row(A, 0.7), hour=8)
    summary(run, row(A, 0.0, "RateLimitError"), hour=9)
    found = standing(run)
    assert (similarities(run), dict(found.faults)) == ({A: 0.7}, {})


def test_an_interrupted_folder_has_no_scores_until_it_is_scored_again(run):
    """Its scenarios are left."""
    folder = summary(run, hour=8)
    assert standing(run).left == BASES
    assert harness_folders(run)[0].path == folder
    summary(run, row(A, 0.5), hour=8, name=RESCORED)
    assert similarities(run) == {A: 0.5}


def test_a_summary_that_cannot_be_read_scores_nothing(run):
    """Nor do two rows of one scenario that differ."""
    folder = summary(run, row(A), row(B, 0.2), row(B, 0.3))
    assert similarities(run) == {A: 1.0}
    (folder / "result_summary.json").write_text('{"per_scenario_results": [{"na', encoding="utf-8")
    assert standing(run).left == BASES


def test_a_model_may_have_a_slash_in_its_name(run):
    """Its folders lie inside each other."""
    folder = summary(run, row(A, 0.5), model="org/sub/model")
    (found,) = harness_folders(run)
    assert (found.path, found.agent) == (folder, "org/sub/model")
    assert found.began.hour == 8
    assert similarities(run) == {A: 0.5}


def test_a_folder_without_a_date_is_the_oldest(run):
    """Somebody gave it another name."""
    summary(run, row(A, 0.1)).rename(run.path / "agent_my_own")
    summary(run, row(A, 0.2))
    first, second = harness_folders(run)
    assert (first.began, second.began is not None) == (None, True)
    assert similarities(run) == {A: 0.2}


NAMES = st.sampled_from(BASES)


@given(wanted=st.lists(NAMES, unique=True), scored=st.sets(NAMES))
def test_a_wanted_scenario_has_a_score_or_is_left(wanted, scored):
    """Never both."""
    score = Score(name="x", exception_type=None, similarity=1.0, minefield_similarity=0.0)
    found = Standing(tuple(wanted), dict.fromkeys(scored, score), {})
    assert {*found.left} == {*wanted} - scored
