"""Which runs a report sets side by side and whose scores cannot be compared."""

from __future__ import annotations

import json

import pytest

from amd.arms import RUN_SETTINGS, replace_text
from amd_bfcl.report import report_on, unlike
from amd_bfcl.run import Run

IDS = ("multi_turn_base_2", "multi_turn_base_9", "multi_turn_miss_func_9")


def settle(run, **values):
    """The run as it is with other settings."""
    replace_text(run.path / RUN_SETTINGS, run.settings.model_copy(update=values).model_dump_json())
    return Run(run.path)


APART = {
    "model": "another",
    "calling": "prompting",
    "handler": "OtherHandler",
    "harness": ("--temperature", "0.7"),
    "bfcl_eval": "2026.2.9",
    "tasks_sha256": "1" * 64,
}


@pytest.mark.parametrize("name", APART)
def test_runs_of_unlike_students_or_benchmarks_cannot_be_compared(made, told, name):
    """One line on standard error that names both runs and both values; the figures are printed all the same."""
    first, alike = made("first"), made("alike", mode="dynamic")
    other = settle(made("other"), **{name: APART[name]})
    assert unlike(report_on(first), report_on(alike)) == []
    (reason,) = unlike(report_on(first), report_on(other))
    assert reason == f"{name} {getattr(first.settings, name)!r} and {APART[name]!r}"
    code, out, err = told(first.path, alike.path, other.path)
    assert (code, err) == (0, f"NOT COMPARABLE: first and other differ in {reason}\n")
    assert "IN-SAMPLE" not in out
    assert "self-excluded" in out
    code, out, err = told("--json", first.path, other.path)
    assert (code, err.count("NOT COMPARABLE")) == (0, 1)
    assert len(json.loads(out)["runs"]) == 2


def test_runs_over_unlike_tasks_cannot_be_compared(made, told):
    """A task that only one of them has come to the end of, whether the other lacks it or its service failed."""
    first, fewer, spoilt = made("first"), made("fewer", ids=IDS[:2]), made("spoilt", spoilt=IDS[:1])
    assert unlike(report_on(first), report_on(fewer)) == [
        f"1 tasks that only one of them has come to the end of, {IDS[2]} among them"
    ]
    (reason,) = unlike(report_on(spoilt), report_on(first))
    assert IDS[0] in reason
    code, _, err = told(first.path, fewer.path, spoilt.path)
    lines = err.rstrip("\n").split("\n")
    assert code == 0
    assert [line.partition(" differ ")[0] for line in lines] == [
        "NOT COMPARABLE: first and fewer",
        "NOT COMPARABLE: first and spoilt",
    ]


def test_whose_runs_a_memory_is_made_of_is_told(made):
    """In the table and in the object; an arm without memory has it of nobody."""
    assert dict(report_on(made(method="none")).rows())["memory from"] == "none"
    found = report_on(settle(made("with"), memory_from=("one-teacher", "another")))
    assert dict(found.rows())["memory from"] == "one-teacher, another"
    assert found.as_json()["memory_from"] == ["one-teacher", "another"]
