"""What is not scored, and what is read of score files."""

from __future__ import annotations

import json

import pytest

from amd.arms import replace_text
from amd.errors import ClientError, ConfigError, TrajectoryError
from amd_bfcl.evaluate import Score, _check, evaluate, scores_of
from amd_bfcl.families import Category
from amd_bfcl.journal import Journal
from amd_bfcl.lines import read_lines, replace_lines
from amd_bfcl.run import JOURNAL, Run
from amd_bfcl.standing import standing

IDS = ("multi_turn_base_1", "multi_turn_base_2")
FINE = [{"id": task_id, "result": [["Done."]]} for task_id in IDS]
SPOILT = {"id": IDS[1], "result": "Error during inference: the context is too long"}


@pytest.fixture
def run(run_settings, tmp_path):
    """A run of two tasks that were answered, with a score of an earlier evaluation."""
    run = Run(tmp_path / "run")
    run.begin(run_settings(ids=IDS))
    replace_lines(run.result_file(Category.BASE), FINE)
    score(run, 1, 2)
    return run


def score(run, correct, total, name=Category.BASE):
    """A score file as the evaluator writes it."""
    failed = [{"id": f"{name}_{index}", "valid": False} for index in range(total - correct)]
    lines = [{"accuracy": correct / total, "correct_count": correct, "total_count": total}, *failed]
    replace_text(run.score_file(name), "".join(json.dumps(line) + "\n" for line in lines))


def test_missing_tasks_are_not_scored(package, run):
    """With their ids and both ways on; the old score stays as it was."""
    replace_lines(run.result_file(Category.BASE), FINE[:1])
    with pytest.raises(ConfigError, match=r"1 of 2 tasks have no result .*generate again.*--partial") as caught:
        evaluate(run)
    assert caught.value.fields["missing"] == IDS[1:]
    assert scores_of(run) == {Category.BASE: Score(1, 2)}


@pytest.mark.parametrize("partial", [False, True])
def test_inference_errors_are_not_scored(package, run, partial):
    """The first one's words, and both ways on; exit code 3."""
    replace_lines(run.result_file(Category.BASE), [FINE[0], SPOILT])
    with pytest.raises(
        ClientError, match=r"multi_turn_base_2: the context is too long.*retry.*--count-errors"
    ) as caught:
        evaluate(run, partial=partial)
    assert caught.value.exit_code == 3
    assert [*caught.value.fields["errors"]] == [IDS[1]]
    assert scores_of(run) == {Category.BASE: Score(1, 2)}


def test_a_run_without_a_line_is_not_scored(package, run):
    """Not even in part: the harness would divide by nothing. The next step names no way that is none."""
    for text in ("", '{"id": "multi_tu', None):
        replace_lines(run.result_file(Category.BASE), [])
        if text is None:
            run.result_file(Category.BASE).unlink()
        else:
            replace_text(run.result_file(Category.BASE), text)
        with pytest.raises(ConfigError, match="2 of 2 tasks have no result") as caught:
            evaluate(run, partial=True)
        assert "--partial" not in str(caught.value)


def test_what_is_not_the_run_s_own_is_not_scored(package, run):
    """A result of another task, scores of another model: the harness would count them, or fall over them.

    A file beside the folders is nobody's, and without the others the next refusal is about the harness (control).
    """
    foreign = {"id": "multi_turn_base_3", "result": [["Done."]]}
    replace_lines(run.result_file(Category.BASE), [*FINE, foreign])
    with pytest.raises(ConfigError, match=r"has results of 'multi_turn_base_3', which is none of its own"):
        evaluate(run)
    replace_lines(run.result_file(Category.BASE), FINE)
    other = run.path / "score" / "somebody-else-FC"
    other.mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"has scores of 'somebody-else-FC', which is none of its own"):
        evaluate(run)
    assert scores_of(run) == {Category.BASE: Score(1, 2)}
    other.rmdir()
    (run.path / "score" / "data_overall.csv").touch()
    _check(run, standing(run), partial=False, count_errors=False)


def test_damaged_lines_are_mended_before_they_are_counted(package, run):
    """A torn end is cut, and what only the journal has is put back: then both tasks are there."""
    replace_text(run.result_file(Category.BASE), json.dumps(FINE[0]) + '\n{"id": "multi_turn_ba')
    with pytest.raises(ConfigError, match="1 of 2 tasks have no result"):
        evaluate(run)
    assert read_lines(run.result_file(Category.BASE)) == (FINE[:1], False)
    assert scores_of(run) == {}
    Journal(run).add(FINE[1])
    replace_text(run.result_file(Category.BASE), json.dumps(FINE[0]) + '\n{"id": "multi_turn_ba')
    Journal(run).add({"id": "multi_turn_base_3", "result": []})
    with pytest.raises(ConfigError, match="has results of 'multi_turn_base_3'"):
        evaluate(run)
    assert [line["id"] for line in read_lines(run.result_file(Category.BASE))[0]] == [*IDS, "multi_turn_base_3"]
    assert not (run.path / JOURNAL).exists()


def test_two_commands_never_score_one_run(package, run):
    """A generate that is at work there would have its files mended under it."""
    with run.locked(), pytest.raises(ConfigError, match="another command is at work"):
        evaluate(Run(run.path))


def test_the_scores_that_are_there(run, run_settings):
    """By category; of a category that the run is not about none is read, and one without a file has none."""
    score(run, 3, 4, Category.MISS_FUNC)
    assert scores_of(run) == {Category.BASE: Score(1, 2)}
    run.begin(run_settings(ids=IDS))
    run.score_file(Category.BASE).unlink()
    assert scores_of(run) == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"accuracy": 1}',
        '{"correct_count": -1, "total_count": 2}',
        '{"correct_count": 1, "total_count": 2}\n{"id": "multi_turn_base_1", "valid": true}\n',
        '{"correct_count": 1, "total_count": 2}\n{"id": "a", "valid": false}\n{"id": "a", "valid": false}\n',
    ],
)
def test_a_score_file_that_says_nothing_of_value_is_refused(run, text):
    """With its name, and what to do."""
    replace_text(run.score_file(Category.BASE), text)
    with pytest.raises(TrajectoryError, match="evaluate the run again") as caught:
        scores_of(run)
    assert str(run.score_file(Category.BASE)) in str(caught.value)
