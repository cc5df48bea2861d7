"""What a run came to, for ``amd report``: from made-up run directories with score files as the evaluator has them."""

from __future__ import annotations

import json

import pytest

from amd.arms import RUN_SETTINGS, replace_text
from amd.errors import ConfigError, TrajectoryError
from amd.evaluate.reading import read_run
from amd_bfcl.lines import read_lines, replace_lines
from amd_bfcl.results import read

IDS = ("multi_turn_base_2", "multi_turn_base_9", "multi_turn_miss_func_9")
COUNTED = {
    "result": [["a", "b"], ["c"]],
    "latency": [[0.5, 0.25], [1.0]],
    "input_token_count": [[100, 110], [120]],
    "output_token_count": [[10, 11], [12]],
}


def score(run, category, total, *failed):
    """A score file as the evaluator writes it: the counts, then the failed ones."""
    header = {"accuracy": 1, "correct_count": total - len(failed), "total_count": total}
    lines = [{"id": task_id, "valid": False, "test_category": category} for task_id in failed]
    replace_text(run.score_file(category), "".join(json.dumps(line) + "\n" for line in (header, *lines)))


@pytest.fixture
def scored(made):
    """A run whose base tasks count steps, seconds and tokens; one of them failed."""

    def make(name="run", **values):
        run = made(name, **values)
        path = run.result_file("multi_turn_base")
        lines = [{**line, **COUNTED} if "amd" in line else line for line in read_lines(path)[0]]
        replace_lines(path, lines)
        score(run, "multi_turn_base", len(lines), "multi_turn_base_9")
        score(run, "multi_turn_miss_func", 1)
        return run

    return make


def test_the_results_of_a_run(scored):
    """Each wanted task with its family, its outcome and what the harness counted."""
    run = scored()
    found = read(run.path)
    assert [(task.task_id, task.family, task.success) for task in found.tasks] == [
        ("multi_turn_base_2", "multi_turn_2", True),
        ("multi_turn_base_9", "multi_turn_9", False),
        ("multi_turn_miss_func_9", "multi_turn_9", True),
    ]
    first = found.tasks[0]
    assert (first.steps, first.seconds, first.prompt_tokens, first.completion_tokens) == (3, 1.75, 330, 33)
    assert first.log.task_id == "multi_turn_base_2"
    assert sum(exposure.tokens for exposure in first.log.exposures) > 0
    assert (found.tasks[2].steps, found.tasks[2].seconds, found.tasks[2].prompt_tokens) == (1, None, None)
    assert (found.benchmark, found.student, found.arm.label) == ("bfcl", "student", "self-excluded")
    assert (found.memory_content, found.memory_seal) == (run.settings.memory_content, run.settings.memory_seal)
    assert found.terms["calling"] == "fc"


def test_it_is_offered_to_the_report(scored, tmp_path):
    """By an entry point; other directories are nobody's, or somebody else's."""
    assert read_run(scored().path).benchmark == "bfcl"
    assert read(tmp_path) is None
    replace_text(tmp_path / "other" / RUN_SETTINGS, '{"format": "amd-toolsandbox-run/1"}')
    assert read(tmp_path / "other") is None


def test_missing_and_spoilt_tasks_have_no_result(scored):
    """A service's failure says nothing of the student, even where the evaluator counted it as wrong."""
    run = scored(spoilt=IDS[1:2])
    found = {task.task_id: (task.success, task.fault) for task in read(run.path).tasks}
    assert found["multi_turn_base_9"] == (None, "infrastructure")
    replace_lines(run.result_file("multi_turn_miss_func"), [])
    run.score_file("multi_turn_miss_func").unlink()
    assert read(run.path).tasks[2].fault == "missing"


def test_a_run_that_is_not_evaluated_is_refused(scored):
    """Unscored is not wrong: it says how to score it."""
    run = scored()
    run.score_file("multi_turn_miss_func").unlink()
    with pytest.raises(ConfigError, match="multi_turn_miss_func and no scores; python -m amd_bfcl evaluate"):
        read(run.path)


def test_scores_of_other_results_are_refused(scored):
    """They count other tasks than there are lines."""
    run = scored()
    score(run, "multi_turn_base", 3)
    with pytest.raises(TrajectoryError, match=r"it counts 3 tasks.*evaluate"):
        read(run.path)


def test_a_result_without_a_log_is_refused(scored):
    """Nobody could vouch for what it was shown."""
    run = scored()
    path = run.result_file("multi_turn_base")
    lines = read_lines(path)[0]
    del lines[0]["amd"]
    replace_lines(path, lines)
    with pytest.raises(TrajectoryError, match="says nothing of a memory"):
        read(run.path)


@pytest.mark.parametrize("value", [10**400, float("nan"), [1e308, 1e308], -1.0])
@pytest.mark.parametrize("name", ["latency", "input_token_count"])
def test_a_number_that_no_request_has_is_refused(scored, name, value):
    """It names the task and the member, and no report is made of its sum."""
    run = scored()
    path = run.result_file("multi_turn_base")
    lines = read_lines(path)[0]
    lines[0][name] = [[value]]
    replace_lines(path, lines)
    with pytest.raises(TrajectoryError, match=f"{lines[0]['id']}: {name} holds a number that is none of a run"):
        read(run.path)
