"""Score files: believed only if every figure fits the results that they lie beside."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from result_lines import score_lines, write_lines

from amd.errors import ConfigError
from amd_bfcl.result_files import ResultFile
from amd_bfcl.scores import Tasks, belongs_to, disagreement, fingerprint, outcome, read_score

NAME = "BFCL_v4_multi_turn_base_score.json"
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


def ids(*numbers, category="multi_turn_base"):
    """Task ids."""
    return [f"{category}_{number}" for number in numbers]


def tasks(*numbers, unreadable=0, category="multi_turn_base"):
    """The tasks of a result file."""
    last = {task_id: at for at, task_id in enumerate(ids(*numbers, category=category))}
    return Tasks(last, {task_id: fingerprint(task_id) for task_id in last}, unreadable=unreadable)


def results(path, model="sample-model-FC", score=None):
    """A result file."""
    return ResultFile(path / "BFCL_v4_multi_turn_base_result.json", model, score)


def score(path, lines, name=NAME):
    """A score file of these lines, read."""
    return read_score(write_lines(path / name, lines))


@SHARED
@given(
    there=st.sets(st.integers(0, 5)),
    failed=st.sets(st.integers(0, 6)),
    correct=st.integers(0, 6),
    total=st.integers(0, 6),
)
def test_a_score_is_believed_exactly_if_its_figures_are_those_of_the_results(tmp_path, there, failed, correct, total):
    """Failed tasks are among the results, the tasks are as many as counted, and so are the successes."""
    lines = score_lines(total, ids(*failed), correct_count=correct)
    found = disagreement(score(tmp_path, lines), results(tmp_path), tasks(*there))
    fits = failed <= there and len(there) == total and len(there - failed) == correct
    assert (found == "") == fits


@SHARED
@given(readable=st.sets(st.integers(0, 3)), torn=st.sets(st.integers(4, 6)), failed=st.sets(st.integers(0, 6)))
def test_a_torn_line_may_be_one_of_the_counted_tasks(tmp_path, readable, torn, failed):
    """D22c: what can still be read is believed, since the figures leave room for the torn lines and for no more."""
    failed &= readable | torn
    found = score(tmp_path, score_lines(len(readable | torn), ids(*failed)))
    assert disagreement(found, results(tmp_path), tasks(*readable, unreadable=len(torn))) == ""
    if torn:
        assert "counts" in disagreement(found, results(tmp_path), tasks(*readable, unreadable=len(torn) - 1))


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (score_lines(2, ids(1), category="multi_turn_miss_func"), "it is of"),
        (score_lines(2, ids(1), model="other/model"), "other/model"),
        (score_lines(2, ids(1, 1)), "twice"),
        (score_lines(3, ids(1)), "counts 3 tasks, the results 2 and 0 unreadable"),
        (score_lines(2, ids(5)), "multi_turn_base_5"),
        (score_lines(2, ids(1), correct_count=2), "2 of 2 as right and lists 1 failed"),
        (score_lines(2, ids(1))[1:], "correct_count"),
        ([], "correct_count"),
        ([*score_lines(2, []), '{"id": "multi_tu'], "not JSON"),
        ([*score_lines(2, ids(1))[:1], {"id": "multi_turn_base_1", "valid": True}], "did not fail"),
        (score_lines(2, ids(1), total_count="2"), "total_count"),
        ([*score_lines(2, []), {"id": 7, "valid": False}], "id"),
    ],
)
def test_a_score_file_of_something_else_is_not_believed(tmp_path, lines, why):
    """And the detail has the figures."""
    assert why in disagreement(score(tmp_path, lines), results(tmp_path), tasks(0, 1))


def test_a_fitting_score_tells_successes_and_what_failed(tmp_path):
    """Positive control; a slash in a model's name is an underscore in its folder."""
    found = score(tmp_path, score_lines(2, ids(1), model="sample/model-FC"))
    assert disagreement(found, results(tmp_path, "sample_model-FC"), tasks(0, 1)) == ""
    right, wrong = (outcome(found, task_id, tasks(0, 1)) for task_id in ids(0, 1))
    assert (right.success, right.score) == (True, 1.0)
    assert (wrong.success, wrong.evidence) == (False, "multi_turn:instance_state_mismatch")
    assert outcome(None, ids(0)[0], tasks(0, 1)).success is None
    assert disagreement(score(tmp_path, score_lines(2, [])), results(tmp_path), tasks(0, 1)) == ""


def test_nobody_knows_which_of_several_lines_was_scored(tmp_path):
    """A task whose lines differ is unscored; one that failed stays failed, and the others are what they were."""
    found = score(tmp_path, score_lines(3, ids(1)))
    several = tasks(0, 1, 2)
    several.rewritten |= {*ids(0, 1)}
    assert [outcome(found, task_id, several).success for task_id in ids(0, 1, 2)] == [None, False, True]
    assert outcome(found, ids(0)[0], several).score is None
    assert outcome(found, ids(0)[0], tasks(0, 1, 2)).success is True


def test_an_explicit_score_finds_its_one_result_file(tmp_path):
    """By place first; else by category, version and model."""
    base, other = (results(tmp_path), tasks(0, 1)), (results(tmp_path / "b", "b-FC"), tasks(0, 1))
    missing = (results(tmp_path / "c"), tasks(0, 1, category="multi_turn_miss_func"))
    named = score(tmp_path, score_lines(2, ids(1)))
    assert belongs_to(named, [missing, base, other]) is base[0]
    beside = results(tmp_path / "d", "d-FC", score=tmp_path / NAME)
    assert belongs_to(named, [base, (beside, tasks(0, 1))]) is beside
    by_lines = score(tmp_path, score_lines(2, ids(1)), "mine.jsonl")
    assert belongs_to(by_lines, [missing, base]) is base[0]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("BFCL_v4_multi_turn_long_context_score.json", score_lines(2, [])),
        ("BFCL_v3_multi_turn_base_score.json", score_lines(2, [])),
        (NAME, score_lines(2, ids(1), model="nobody")),
        ("mine.jsonl", score_lines(2, [])),
    ],
)
def test_an_explicit_score_of_no_result_file_is_an_error_with_both_names(tmp_path, name, lines):
    """Another category, version or model, or a file that says none of them."""
    with pytest.raises(ConfigError, match="none of") as caught:
        belongs_to(score(tmp_path, lines, name), [(results(tmp_path), tasks(0, 1))])
    assert name in str(caught.value)
    assert "BFCL_v4_multi_turn_base_result.json" in str(caught.value)


def test_an_explicit_score_that_could_be_of_two_is_an_error(tmp_path):
    """With nothing failed no model is named."""
    two = [(results(tmp_path), tasks(0, 1)), (results(tmp_path / "b", "b-FC"), tasks(0, 1))]
    with pytest.raises(ConfigError, match="more than one"):
        belongs_to(score(tmp_path, score_lines(2, [])), two)


@pytest.mark.parametrize("member", ["model_result", "model_result_raw"])
def test_a_score_of_another_run_with_the_same_figures_is_not_believed(tmp_path, member):
    """Two trials of one model have the same tasks and counts; a failed line repeats what it scored."""
    header, failed = score_lines(2, ids(1))
    same = score(tmp_path, [header, failed | {member: "multi_turn_base_1"}])
    other = score(tmp_path, [header, failed | {member: [["other"]]}])
    assert disagreement(same, results(tmp_path), tasks(0, 1)) == ""
    assert "another run" in disagreement(other, results(tmp_path), tasks(0, 1))


def test_a_score_of_two_models_is_of_no_file(tmp_path):
    """Even where the place of the results tells no model."""
    header, one, two = score_lines(3, ids(1, 2))
    mixed = score(tmp_path, [header, one, two | {"model_name": "b"}])
    assert "model" in disagreement(mixed, results(tmp_path, model=None), tasks(0, 1, 2))
    assert disagreement(score(tmp_path, [header, one, two]), results(tmp_path, model=None), tasks(0, 1, 2)) == ""


def test_a_run_of_ours_is_scored_by_its_own_evaluation(tmp_path):
    """A score file from elsewhere fits in every figure if nothing failed; inside the run it is believed (control)."""
    run = tmp_path / "run"
    for folder, told in ((tmp_path, "outside"), (run, "")):
        folder.mkdir(exist_ok=True)
        found = disagreement(
            score(folder, score_lines(2, [])), ResultFile(run / "r.json", "sample-model-FC", run=run), tasks(1, 2)
        )
        assert told in found
        assert bool(found) is bool(told)
