"""The figures of a run, from made-up run directories: what is counted, what is refused, and what ends with code 4."""

from __future__ import annotations

import json

import pytest
from garden import BASES, row, summary

from amd.arms import RUN_SETTINGS, replace_text
from amd.errors import ConfigError, TrajectoryError
from amd_toolsandbox.families import family
from amd_toolsandbox.report import report_on, unlike
from amd_toolsandbox.run import Run

A, B, C, D = BASES


def settle(run, **values):
    """The run as it is with other settings."""
    replace_text(run.path / RUN_SETTINGS, run.settings.model_copy(update=values).model_dump_json())
    return Run(run.path)


def change(run, scenario, change_log):
    """Change the log of a scenario."""
    path = run.exposures_file(scenario)
    value = json.loads(path.read_bytes())
    change_log(value["amd"])
    replace_text(path, json.dumps(value))


def forge(own):
    """Let a log say that records of this family were shown."""

    def forged(log):
        for exposure in log["exposures"]:
            if exposure.get("families"):
                exposure["families"] = [own] * len(exposure["families"])

    return forged


def test_the_figures_of_a_run(made):
    """Counted anew from the logs, beside the scores."""
    rows = [row(A), row(B, 0.95), row(C, 0.5), row(D, 0.0, "KeyError")]
    found = report_on(made(rows=rows), 0.9)
    figures = found.figures
    assert (figures.tasks, figures.calls, figures.failed_calls, figures.hints, figures.placeholders) == (4, 8, 4, 4, 4)
    assert (figures.own_family, figures.leaks, figures.label) == (0, 0, "self-excluded")
    assert {tier.tier for tier in figures.tiers} == {"workflow", "subtask", "function"}
    assert (found.successes, round(found.similarity, 4)) == (2, 0.6125)
    assert dict(found.exceptions) == {"KeyError": 1}
    told = dict(found.rows())
    assert told["success (similarity 0.9 or more)"] == "2 of 4"
    assert (told["similarity, mean"], told["ended by an exception"]) == ("0.613", "KeyError 1")
    value = found.as_json()
    assert (value["success"], value["scored"], value["exceptions"]) == (2, 4, {"KeyError": 1})
    assert json.loads(json.dumps(value))["exposures"]["hints"] == 4


@pytest.mark.parametrize(("least", "successes"), [(0.0, 3), (0.5, 3), (0.51, 2), (1.0, 1)])
def test_success_is_at_or_above_the_least_similarity(made, least, successes):
    """Without an exception; a minefield is no success whatever its similarity."""
    rows = [row(A), row(B, 0.95), row(C, 0.5), row(D, 1.0, minefield=1.0)]
    assert report_on(made(rows=rows), least).successes == successes


def test_a_run_without_memory(made):
    """Nothing shown."""
    found = report_on(made(method="none"), 0.9)
    assert (found.figures.nothing_shown, found.figures.hints, found.figures.failed_calls) == (4, 0, 4)
    assert (found.figures.tiers, found.figures.label) == ((), "no memory")
    assert dict(found.rows())["memory from"] == "none"


def test_what_a_service_spoilt_is_left_out(made):
    """Of scores and of exposures; it is counted apart."""
    found = report_on(made(rows=[row(A), row(B, 0.0, "APITimeoutError"), row(C, 0.0, "StoreError")]), 0.9)
    assert (found.similarity, found.successes, found.figures.tasks) == (1.0, 1, 1)
    told = dict(found.rows())
    assert (told["scenarios wanted"], told["scored"], told["spoilt by a service or amd"]) == (4, 1, 2)
    assert found.as_json()["infrastructure"] == {B: "APITimeoutError", C: "StoreError"}


def test_a_run_of_which_nothing_is_scored(made):
    """No mean of nothing: what was spoilt, and what to do."""
    with pytest.raises(ConfigError, match=r"no scored scenario, and 1 that .*rescore"):
        report_on(made(rows=[row(A, 0.0, "APIConnectionError")]), 0.9)


@pytest.mark.parametrize(
    "text", [None, "", "{", "[]", "{}", '{"amd": null}', '{"amd": {"format": "amd-run/9"}}', "\x00"]
)
def test_a_scored_scenario_whose_log_is_missing_is_no_figure(made, text):
    """Nobody can say what it was shown: one line that names the file."""
    run = made()
    path = run.exposures_file(B)
    path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    with pytest.raises(TrajectoryError, match=f"what the agent of {B} was shown cannot be read") as caught:
        report_on(run, 0.9)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("member", "value"),
    [("task_id", C), ("protocol", "in-sample"), ("mode", "dynamic"), ("layout", "turns"), ("memory", "0" * 64)],
)
def test_a_log_of_another_run_is_refused(made, member, value):
    """Of another scenario, arm or memory; the message says both."""
    run = made()

    def other(log):
        log[member] = value
        for exposure in log["exposures"]:
            exposure["task_id"], exposure["viewer"] = log["task_id"], log["protocol"]

    change(run, B, other)
    with pytest.raises(TrajectoryError, match="is of another run"):
        report_on(run, 0.9)


def test_a_log_of_another_family_is_refused(made):
    """What was hidden from it was another family's."""
    run = made()
    change(run, B, lambda log: log.update(family=family(C)))
    with pytest.raises(TrajectoryError, match="family"):
        report_on(run, 0.9)


def test_a_leak_ends_with_code_4(made, told):
    """D01: counted from the families that were shown; the figures are printed all the same. Unforged it is 0."""
    run = made()
    assert told("report", run.path)[0] == 0
    change(run, C, forge(family(C)))
    code, out, err = told("report", run.path)
    assert code == 4
    assert "own-family hits" in out
    assert err.startswith("amd_toolsandbox: records were shown that are to be hidden, of a scenario's own family")
    assert err.count("\n") == 1
    code, out, err = told("report", run.path, "--json")
    assert (code, json.loads(out)["runs"][0]["exposures"]["leaks"] > 0) == (4, True)


def test_in_sample_is_always_called_so(made, told):
    """It sees its own family, which is no leak, and never without the label."""
    code, out, err = told("report", made(protocol="in-sample").path)
    assert (code, err) == (0, "")
    assert "IN-SAMPLE" in out
    code, out, _ = told("report", made("other").path)
    assert (code, "IN-SAMPLE" in out) == (0, False)


def test_several_arms_stand_side_by_side(made, told):
    """By the names of their directories."""
    none, amd = made("none", method="none"), made("amd")
    code, out, err = told("report", none.path, amd.path)
    assert (code, err) == (0, "")
    cells = [[cell.strip() for cell in line.split("│")[1:4]] for line in out.split("\n") if "│" in line]
    assert ["protocol", "no memory", "self-excluded"] in cells
    assert ["success (similarity 0.9 or more)", "4 of 4", "4 of 4"] in cells


def test_a_log_without_a_score_counts_for_nothing(made):
    """The scenario was begun and not ended."""
    run = made(rows=[row(A)])
    assert report_on(run, 0.9).figures.tasks == 1


@pytest.mark.parametrize("name", ["agent", "user"])
def test_runs_of_unlike_models_cannot_be_compared(made, told, name):
    """One line on standard error that names both; the figures are printed all the same."""
    first, alike = made("first"), made("alike", mode="dynamic")
    model = getattr(first.settings, name)
    other = settle(made("other"), **{name: model.model_copy(update={"name": "another"})})
    assert unlike(report_on(first, 0.9), report_on(alike, 0.9)) == []
    code, out, err = told("report", first.path, alike.path, other.path)
    what = {"agent": "student", "user": "user"}[name]
    assert (code, err) == (0, f"NOT COMPARABLE: first and other differ in {what} '{model.name}' and 'another'\n")
    assert "another" in out


def test_runs_over_unlike_scenarios_cannot_be_compared(made, told):
    """A scenario that only one of them has a score of, played or not."""
    first, fewer = made("first"), made("fewer", scenarios=BASES[:3])
    spoilt = made("spoilt", rows=[*map(row, BASES[:3]), row(D, 0.0, "RetryError")])
    assert unlike(report_on(first, 0.9), report_on(fewer, 0.9)) == [
        f"1 scenarios that only one of them has a score of, {D} among them"
    ]
    err = told("report", first.path, fewer.path, spoilt.path)[2]
    assert [line.partition(" differ ")[0] for line in err.rstrip("\n").split("\n")] == [
        "NOT COMPARABLE: first and fewer",
        "NOT COMPARABLE: first and spoilt",
    ]


def test_a_second_folder_adds_to_the_figures(made):
    """A run that was begun twice is one run."""
    run = made(rows=[row(A), row(B, 0.0, "APIConnectionError")])
    summary(run, row(B, 0.9), row(C), row(D), hour=9)
    found = report_on(run, 0.9)
    assert (found.successes, found.figures.tasks, len(found.stands.faults)) == (4, 4, 0)
