"""How tasks ended, in the two shapes that AppWorld writes."""

from __future__ import annotations

import json

import pytest
from made_experiments import report, verdict

from amd.errors import TrajectoryError
from amd_appworld.evaluations import Verdict, outcome_of, read_evaluations, read_report


@pytest.fixture
def evaluations(tmp_path):
    """Reads evaluations of these texts, by name."""

    def read(**files):
        for name, content in files.items():
            path = tmp_path / "evaluations" / f"{name}.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(
                content if isinstance(content, str) else json.dumps({"individual": content}), encoding="utf-8"
            )
        return read_evaluations(tmp_path)

    return read


def test_verdicts(evaluations):
    """Success by either name; the tests are counted where they are told."""
    found = evaluations(dev={"a": verdict(), "b": verdict(success=False), "c": {"passes_fully": True}})
    assert found.verdicts == {"a": Verdict(True, 1, 1), "b": Verdict(False, 0, 1), "c": Verdict(True)}
    assert (found.disputed, found.unreadable) == (frozenset(), 0)


@pytest.mark.parametrize(
    "entry",
    [
        {},
        [],
        None,
        {"success": "true"},
        {"success": 1},
        {"success": None},
        {"success": True, "failures": [{"requirement": "x"}]},
        {"success": True, "passes_fully": False},
        {"success": True, "num_tests": -1},
    ],
)
def test_an_entry_that_is_no_verdict(evaluations, entry):
    """It is counted, and the task has none; the others do."""
    found = evaluations(dev={"a": entry, "b": verdict()})
    assert (set(found.verdicts), found.unreadable) == ({"b"}, 1)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"individual": []}', "[" * 100_000, '{"individual": NaN}'])
def test_a_file_that_is_none(evaluations, content):
    """It is counted; what other files say stays."""
    found = evaluations(dev=content, train={"b": verdict()})
    assert (set(found.verdicts), found.unreadable) == ({"b"}, 1)


def test_two_files_that_differ(evaluations):
    """The task is disputed; the same verdict twice is none."""
    assert evaluations(
        a={"x": verdict(), "y": verdict()}, b={"x": verdict(success=False), "y": verdict()}
    ).disputed == {"x"}


def test_no_folder(tmp_path):
    """Nothing is scored."""
    assert read_evaluations(tmp_path).verdicts == {}


def test_report(tmp_path):
    """All passed, some failed, no tests at all; no file is no verdict."""
    place = tmp_path / "evaluation" / "report.md"
    assert read_report(tmp_path) is None
    place.parent.mkdir()
    for (passed, failed), success in {(3, 0): True, (2, 1): False, (0, 0): False}.items():
        place.write_text(report(passed, failed), encoding="utf-8")
        assert read_report(tmp_path) == Verdict(success, passed, passed + failed)
    for text in ("", "Num Passed Tests : 3\n", report().replace("Total  Tests : 3", "Total  Tests : 4")):
        place.write_text(text, encoding="utf-8")
        with pytest.raises(TrajectoryError):
            read_report(tmp_path)


def test_outcome():
    """The score is the share of the tests that passed."""
    assert (outcome_of(None).success, outcome_of(None).score) == (None, None)
    assert (outcome_of(Verdict(False, 1, 4)).score, outcome_of(Verdict(True)).score) == (0.25, None)
