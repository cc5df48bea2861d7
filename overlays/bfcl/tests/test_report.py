"""The figures of a run, from made-up run directories: what is counted, what is refused, and what ends with code 4."""

from __future__ import annotations

import json
import re

import pytest

from amd.arms import RUN_SETTINGS, replace_text
from amd.arms.kept_split import KeptSplit
from amd.errors import ConfigError, TrajectoryError
from amd_bfcl.families import Category
from amd_bfcl.lines import read_lines, replace_lines
from amd_bfcl.report import report_on
from amd_bfcl.run import Run

IDS = ("multi_turn_base_2", "multi_turn_base_9", "multi_turn_miss_func_9")
SPOILT = {"result": "Error during inference: timed out", "traceback": "..."}


def settle(run, **values):
    """The run as it is with other settings."""
    replace_text(run.path / RUN_SETTINGS, run.settings.model_copy(update=values).model_dump_json())
    return Run(run.path)


def counts(found):
    """How many tasks are wanted, have a line, are missing, and ended in an inference error."""
    stands = found.stands
    return tuple(map(len, (stands.wanted, stands.lines, stands.missing, stands.errors)))


def change(run, task_id, *, category="multi_turn_base", **members):
    """Change members of one line; ``None`` takes one out."""
    lines = read_lines(run.result_file(category))[0]
    (line,) = [line for line in lines if line["id"] == task_id]
    line |= members
    for name in [name for name, value in members.items() if value is None]:
        del line[name]
    replace_lines(run.result_file(category), lines)


def log_of(run, task_id, category="multi_turn_base"):
    """What a line says of its memory."""
    return next(line["amd"] for line in read_lines(run.result_file(category))[0] if line["id"] == task_id)


def forge(run, task_id, own):
    """Let a line say that records of these families were shown."""
    log = log_of(run, task_id)
    for exposure in log["exposures"]:
        if exposure.get("families"):
            exposure["families"] = [own] * len(exposure["families"])
    change(run, task_id, amd=log)


def rename(run, task_id, family):
    """Let the first line be one of another task, from head to foot."""
    log = log_of(run, IDS[0]) | {"task_id": task_id, "family": family}
    log["exposures"] = [{**each, "task_id": task_id} for each in log["exposures"]]
    change(run, IDS[0], id=task_id, amd=log)


def score(run, category, correct, total):
    """A score file as the evaluator writes it: the counts, then the failed ones."""
    header = {"accuracy": correct / total, "correct_count": correct, "total_count": total}
    replace_text(run.score_file(category), json.dumps(header) + '\n{"id": "x", "valid": false}\n')


def test_the_figures_of_a_run(made):
    """Counted anew from the lines: tasks, hints, failed calls, placeholders, what each tier showed."""
    found = report_on(made())
    assert counts(found) == (3, 3, 0, 0)
    figures = found.figures
    assert (figures.tasks, figures.nothing_shown, figures.failed_calls, figures.hints, figures.placeholders) == (
        (3, 0, 3, 3, 3)
    )
    # The task whose gate is locked later cannot use a strategy that locks it.
    shown = {tier.tier: (tier.questions, tier.shown) for tier in figures.tiers}
    assert shown == {"workflow": (3, 2), "subtask": (3, 3), "function": (3, 3)}
    assert (figures.own_family, figures.leaks, figures.label) == (0, 0, "self-excluded")
    assert (found.scores, found.stale) == ({}, ())


def test_a_run_without_memory(made):
    """The same lines, nothing shown."""
    figures = report_on(made(method="none")).figures
    assert (figures.tasks, figures.nothing_shown, figures.hints, figures.failed_calls) == (3, 3, 0, 3)
    assert (figures.tiers, figures.label) == ((), "no memory")


def test_inference_errors_are_no_answers(made):
    """They are counted as lines and left out of the figures."""
    found = report_on(made(spoilt=IDS[1:2]))
    assert (counts(found), found.figures.tasks) == ((3, 3, 0, 1), 2)
    rows = dict(found.rows())
    assert [rows[name] for name in ("tasks wanted", "missing", "inference errors")] == [3, 0, 1]
    assert rows["tasks that came to their end"] == 2


def test_missing_torn_and_double_lines(made):
    """A torn line is a task without a result; of two lines of a task the last one counts."""
    run = made()
    lines = read_lines(run.result_file("multi_turn_base"))[0]
    replace_lines(run.result_file("multi_turn_base"), [{**lines[0], **SPOILT}, lines[0]])
    with run.result_file("multi_turn_base").open("a", encoding="utf-8") as file:
        file.write(json.dumps(lines[1])[:-5])
    found = report_on(run)
    assert (counts(found), found.figures.tasks) == ((3, 2, 1, 0), 2)
    assert found.stands.missing == IDS[1:2]
    assert dict(found.rows())["missing"] == 1


def test_scores_that_count_other_tasks_are_stale(made):
    """A score beside its lines is shown; one of fewer tasks than there are lines says to evaluate again."""
    run = made()
    score(run, "multi_turn_base", 1, 2)
    score(run, "multi_turn_miss_func", 0, 7)
    found = report_on(run)
    assert {name: (each.correct, each.total) for name, each in found.scores.items()} == {Category.BASE: (1, 2)}
    assert found.stale == (Category.MISS_FUNC,)
    rows = dict(found.rows())
    assert rows["multi_turn_base, right"] == "1 of 2"
    assert rows["multi_turn_miss_func, right"] == "evaluate again"
    assert [name for name in rows if name.endswith(", right")] == [f"{name}, right" for name in run.settings.categories]
    assert found.as_json()["scores"] == {"multi_turn_base": {"correct": 1, "total": 2}}
    assert found.as_json()["stale_scores"] == ["multi_turn_miss_func"]


def test_a_category_without_a_score_says_so(made):
    """A missing figure is no zero; every category has its row."""
    run = made()
    score(run, "multi_turn_base", 0, 2)
    rows = dict(report_on(run).rows())
    assert rows["multi_turn_base, right"] == "0 of 2"
    assert rows["multi_turn_miss_func, right"] == "not evaluated"


FAULTY = {
    "empty": "",
    "no object": "[]",
    "no counts": '{"accuracy": 1}',
    "no number": '{"correct_count": "x", "total_count": 2}',
    "torn": "{",
    "torn later": '{"correct_count": 1, "total_count": 2}\n{"id"',
    "a task that did not fail": '{"correct_count": 1, "total_count": 2}\n{"id": "multi_turn_base_2", "valid": true}',
}


@pytest.mark.parametrize("text", FAULTY.values(), ids=FAULTY)
def test_a_score_file_that_says_nothing_of_value_is_told(made, told, text):
    """By its name, in one line; exit code 1. One that says something is taken (the control)."""
    run = made()
    replace_text(run.score_file("multi_turn_base"), text)
    with pytest.raises(TrajectoryError, match=r"multi_turn_base_score\.json.*; evaluate the run again"):
        report_on(run)
    code, out, err = told(run.path)
    assert (code, out, err.count("\n")) == (1, "", 1)
    score(run, "multi_turn_base", 1, 2)
    assert told(run.path)[0] == 0


FOREIGN = {
    "no log": lambda run: change(run, IDS[0], amd=None),
    "log of a newer amd": lambda run: change(run, IDS[0], amd={**log_of(run, IDS[0]), "format": "amd-run/2"}),
    "log of another task": lambda run: change(run, IDS[0], amd=log_of(run, IDS[1])),
    "task that nobody asked for": lambda run: rename(run, "multi_turn_base_3", "multi_turn_3"),
    "task of another category": lambda run: rename(run, "multi_turn_long_context_2", "multi_turn_2"),
    "no task": lambda run: rename(run, "multi_turn_base_200", "multi_turn_200"),
    "another memory": lambda run: change(run, IDS[0], amd={**log_of(run, IDS[0]), "memory": "0" * 64}),
    "another mode": lambda run: change(run, IDS[0], amd={**log_of(run, IDS[0]), "mode": "dynamic"}),
    "another method": lambda run: change(run, IDS[0], amd={**log_of(run, IDS[0]), "method": "workflow"}),
    "another family": lambda run: change(run, IDS[0], amd={**log_of(run, IDS[0]), "family": "multi_turn_5"}),
}


def test_without_chosen_ids_only_the_categories_count(made):
    """A task of a category that is run is no stranger then; one of another category is still."""
    run = settle(made(), ids=None)
    assert counts(report_on(run)) == (400, 3, 397, 0)
    rename(run, "multi_turn_base_3", "multi_turn_3")
    assert counts(report_on(run)) == (400, 3, 397, 0)
    change(run, "multi_turn_base_3", id="multi_turn_long_context_3")
    with pytest.raises(TrajectoryError, match="was not asked for"):
        report_on(run)


@pytest.mark.parametrize("case", FOREIGN)
def test_a_line_of_another_run_is_refused(made, told, case):
    """Exit code 1, one line that names the task; the run as it was made passes (the control)."""
    run = made()
    assert counts(report_on(run)) == (3, 3, 0, 0)
    FOREIGN[case](run)
    code, out, err = told(run.path)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "multi_turn_" in err


def test_a_line_of_an_arm_that_hides_nothing_cannot_pass_for_one_that_does(made):
    """A whole line from an in-sample run: its own-family hits would be no leak there."""
    open_run, run = made("open", protocol="in-sample"), made()
    change(run, IDS[0], amd=log_of(open_run, IDS[0]))
    with pytest.raises(TrajectoryError, match="in-sample"):
        report_on(run)


@pytest.mark.parametrize("spoilt", [None, IDS])
def test_nothing_to_report(made, run_settings, tmp_path, spoilt):
    """No line at all, or none that a student answered: exit code 2, and which run it is."""
    run = made(spoilt=spoilt) if spoilt else Run(tmp_path / "empty")
    run.begin(run.settings if spoilt else run_settings())
    with pytest.raises(ConfigError, match="no task that came to its end") as caught:
        report_on(run)
    assert str(run.path) in str(caught.value)


def test_an_own_family_hit_in_an_excluding_arm_ends_with_4(made, told):
    """D01: counted anew from the families, and by what a line says of itself; the table is printed all the same."""
    run = made()
    assert told(run.path)[0] == 0
    shown = [family for each in log_of(run, IDS[0])["exposures"] for family in each.get("families", ())]
    assert shown
    forge(run, IDS[0], "multi_turn_2")
    code, out, err = told(run.path)
    assert code == 4
    assert "own-family hits" in out
    assert err.count("\n") == 1
    assert str(run.path) in err
    code, out, _ = told("--json", run.path)
    assert code == 4
    assert json.loads(out)["runs"][0]["exposures"]["leaks"] == len(shown)
    honest = made("honest")
    log = log_of(honest, IDS[0])
    log["exposures"][0]["own_family"] = 1
    change(honest, IDS[0], amd=log)
    assert told(honest.path)[0] == 4


def test_what_a_split_holds_out_ends_with_4(made, told, tmp_path):
    """By the split that the run kept, else by its file; without either nobody can say, and that is said."""
    run = made(ids=IDS[:1])
    shown = {family for each in log_of(run, IDS[0])["exposures"] for family in each.get("families", ())}

    def settled(train, *, kept=True):
        path = tmp_path / "split.json"
        value = {"benchmark": "bfcl", "train": sorted(train), "test": ["multi_turn_2"]}
        path.write_text(json.dumps({"format": "amd-split/1", **value}), encoding="utf-8")
        arm = run.settings.arm.model_copy(update={"protocol": "cross-split", "split": path})
        lines = run.result_file("multi_turn_base")
        lines.write_text(lines.read_text("utf-8").replace('"self-excluded"', '"cross-split"'), encoding="utf-8")
        settle(run, arm=arm, split=KeptSplit(**value) if kept else None)
        return path

    settled(shown)
    assert told(run.path)[0] == 0
    for kept in (True, False):
        settled(["multi_turn_77"], kept=kept)
        code, out, err = told(run.path)
        assert code == 4
        assert "outside the split" in out
        assert "of what a split holds out" in err
    settled(["multi_turn_77"], kept=False).unlink()
    code, out, err = told(run.path)
    assert (code, err) == (0, f"NOT CHECKED: {run.path.name} kept no split, and its file is not there any more\n")
    assert "not known" in out


def test_the_own_family_is_the_one_of_all_dresses(made, told):
    """A base task's record is the own one of the same index in another category; of another index it is none."""
    run = made()
    forge(run, "multi_turn_base_9", "multi_turn_3")
    assert told(run.path)[0] == 0
    forge(run, "multi_turn_base_9", "multi_turn_9")
    assert told(run.path)[0] == 4


def test_in_sample_is_said_in_capitals_and_is_no_leak(made, told):
    """The control: own-family hits are counted and expected."""
    run = made(protocol="in-sample")
    code, out, err = told(run.path)
    assert (code, err) == (0, "")
    assert "IN-SAMPLE" in out
    exposures = json.loads(told("--json", run.path)[1])["runs"][0]["exposures"]
    assert exposures["own_family"] > 0
    assert (exposures["leaks"], exposures["label"]) == (0, "IN-SAMPLE")


def test_several_runs_side_by_side(made, told):
    """A column for each; one leak among them ends all with code 4, and names the run that leaks."""
    runs = [
        made("none", method="none"),
        made("static"),
        made("dynamic", mode="dynamic"),
        made("open", protocol="in-sample"),
    ]
    score(runs[0], "multi_turn_base", 1, 2)
    paths = [run.path for run in runs]
    code, out, err = told(*paths)
    assert (code, err) == (0, "")
    table = [[cell.strip() for cell in re.split("[│┃]", line)[1:-1]] for line in out.split("\n")]
    lines = {row[0]: row[1:] for row in reversed(table) if len(row) == 5}
    assert lines[""] == ["none", "static", "dynamic", "open"]
    assert lines["protocol"] == ["no memory", "self-excluded", "self-excluded", "IN-SAMPLE"]
    assert lines["tasks wanted"] == lines["tasks that came to their end"] == ["3"] * 4
    assert lines["missing"] == lines["inference errors"] == ["0"] * 4
    assert lines["multi_turn_base, right"] == ["1 of 2", *["not evaluated"] * 3]
    assert lines["workflow: questions"] == ["", "3", "3", "3"]
    assert lines["memory"] == ["none", *[runs[1].settings.memory_content[:12]] * 3]
    assert [run["run"] for run in json.loads(told("--json", *paths)[1])["runs"]] == [*map(str, paths)]
    forge(runs[1], IDS[0], "multi_turn_2")
    code, _, err = told(*paths)
    assert code == 4
    assert str(paths[1]) in err
    assert str(paths[2]) not in err


def test_the_json_of_a_run(made, told):
    """One object, with every figure of the table."""
    run = made(spoilt=IDS[:1])
    score(run, "multi_turn_base", 1, 2)
    code, out, err = told("--json", run.path)
    assert (code, err) == (0, "")
    (found,) = json.loads(out)["runs"]
    assert [found[name] for name in ("run", "name", "model", "calling")] == [str(run.path), "run-FC", "student", "fc"]
    assert [found[name] for name in ("wanted", "done", "inference_errors")] == [3, 3, 1]
    assert found["exposures"]["tasks"] == 2
    assert found["exposures"]["memory"] == run.settings.memory_content
    assert found == json.loads(json.dumps(report_on(run).as_json()))
