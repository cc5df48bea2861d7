"""``amd coverage``."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import pytest

from amd.cli import coverage as command
from amd.cli import coverage_table, reporting
from amd.testing import run
from amd.traces.canonical import write
from amd.trajectory import Step, ToolCall, Turn


@pytest.fixture
def coverage(amd, runs, fields, memory):
    """Evaluate the memory on the runs that it was built from."""

    def call(*arguments):
        return amd("coverage", "openai-chat", runs, *fields, "--memory", memory, *arguments)

    return call


def test_tables_over_methods_and_protocols(coverage):
    """Each tier alone and all together, hidden and in-sample, the latter in capitals, own records counted."""
    found = coverage()
    assert found.code == 0
    rows = [line for line in found.out.split("\n") if line.startswith("│")]
    named = [tuple(cell.strip() for cell in row.split("│")[1:3]) for row in rows]
    wanted = [(method, label) for method in ("workflow", "subtask", "amd") for label in ("self-excluded", "IN-SAMPLE")]
    assert [name for name in named if name[0]] == wanted * 2
    own = [at for at, (_, label) in enumerate(named) if label.endswith(" own)")]
    assert own
    assert all(named[at - 1][1] == "IN-SAMPLE" for at in own)
    assert {len(line) for line in found.out.split("\n") if line[:1] in "┏┃┡│└"} <= set(range(101))
    assert "refused: " in found.out
    (legend,) = [line for line in found.out.split("\n") if line.startswith("[low, high]: 95 % over families")]
    for head in ("own", "per 100 tokens", "over random", "repeat"):
        assert f"; {head}: " in legend
    assert "ORACLE" not in found.out


def test_the_readme_has_the_heads_that_are_printed():
    """Whoever looks for a figure of the README in the output finds its column."""
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (row,) = [line for line in readme.split("\n") if line.startswith("| mode | method |")]
    printed = {" ".join(head.split()) for head in (*coverage_table._COVERED, *coverage_table._BESIDE)}
    heads = [cell.strip() for cell in row.split("|")[1:-1]]
    assert heads[0] == "mode"
    assert set(heads[1:]) <= printed


def test_progress_counts_questions(amd, runs, fields, memory, monkeypatch):
    """A task is asked many times: of each method and protocol, and for each draw."""
    seen = []
    monkeypatch.setattr(
        command.StageProgress, "__call__", lambda _, stage, done, total: seen.append((stage, done, total))
    )
    amd("coverage", "openai-chat", runs, *fields, "--memory", memory, "--method", "amd", "--draws", 2)
    assert seen[-1] == ("questions asked", 18, 18)
    assert {stage for stage, *_ in seen} == {"read", "questions asked"}


def test_a_table_of_hints_where_errors_were_recorded(amd, coverage, tmp_path):
    """How many have any text, an example, the repair, and the latter by chance; without an error there is no table."""
    assert "hints to recorded errors" not in coverage().out
    calls = [ToolCall("water", {"plot": 4}, "Error: no plot", ok=False), ToolCall("water", {"bed": 4}, "done", ok=True)]
    failing = [
        replace(
            run(at), turns=(Turn(f"Water the {where} beds", tuple(Step(calls=(call,)) for call in calls)),), tools=None
        )
        for at, where in enumerate(("northern", "southern"))
    ]
    write(tmp_path / "failing.jsonl", failing)
    assert amd("build", "amd", tmp_path / "failing.jsonl", "--out", tmp_path / "hinting").code == 0
    found = amd("coverage", "amd", tmp_path / "failing.jsonl", "--memory", tmp_path / "hinting", "--method", "amd")
    _, _, table = found.out.partition("hints to recorded errors")
    row = next(line for line in table.split("\n") if "self-excluded" in line)
    assert [cell.strip() for cell in row.split("│")[1:-1]] == ["amd", "self-excluded", "2", "2", "2", "2", "1.00"]
    assert "names 2" in found.out


def test_without_the_extra_it_names_it(coverage, monkeypatch):
    """Its intervals need it, its pictures do not: there are none."""
    real = importlib.util.find_spec
    for lacking, code in (("scipy", 2), ("statsmodels", 2), ("matplotlib", 0)):
        monkeypatch.setattr(reporting, "find_spec", lambda name, gone=lacking: None if name == gone else real(name))
        found = coverage("--limit", 1)
        assert (found.code, found.out == "") == (code, code == 2)
        assert (f"coverage needs {lacking}, and it is not installed; pip install" in found.err) is (code == 2)


def test_json_has_every_task(coverage):
    """Figures, and each task, draw and hint; shares are shares; an excluding row has no record of its own family."""
    told = coverage("--json", "--draws", 2).json
    assert told["runs"]["read"] == 5
    assert told["runs"]["refused"] == {"failed": 1, "unscored": 1}
    for row in told["rows"]:
        assert (len(row["tasks"]), len(row["random"])) == (3, 6)
        for task in (*row["tasks"], *row["random"]):
            assert 0 <= task["arguments"] <= task["tools"] <= 1
            assert row["protocol"] == "in-sample" or task["own_family"] == 0
    own = [task["own_family"] for row in told["rows"] if row["protocol"] == "in-sample" for task in row["tasks"]]
    assert sum(own) > 0
    assert coverage("--json", "--draws", 2).json == told
    assert coverage("--json", "--draws", 2, "--seed", 1).json != told


def test_what_is_asked_for_is_what_is_printed(coverage):
    """Methods and protocols by name, and only so many tasks."""
    told = coverage("--json", "--method", "workflow+subtask", "--protocol", "in-sample", "--limit", 2).json
    assert [(row["method"], row["label"], len(row["tasks"])) for row in told["rows"]] == [
        ("workflow+subtask", "IN-SAMPLE", 2)
    ]
    assert told["runs"]["beyond_limit"] == 1


def test_across_a_split(amd, runs, fields, memory, tmp_path):
    """All three protocols ask as the same held-out tasks; the whole memory is a leak."""
    split, train = tmp_path / "split.json", tmp_path / "train"
    told = {"format": "amd-split/1", "benchmark": "made-up"}
    told |= {"train": ["multi_turn_0", "multi_turn_1", "multi_turn_3", "multi_turn_4"], "test": ["multi_turn_2"]}
    split.write_text(json.dumps(told), encoding="utf-8")
    assert amd("build", "openai-chat", runs, *fields, "--split", split, "--out", train).code == 0
    asked = ("coverage", "openai-chat", runs, *fields, "--memory", memory, "--split", split)
    found = amd(*asked, "--train-memory", train, "--method", "amd", "--json")
    assert [row["protocol"] for row in found.json["rows"]] == ["self-excluded", "cross-split", "in-sample"]
    assert all([task["family"] for task in row["tasks"]] == ["multi_turn_2"] for row in found.json["rows"])
    assert len(found.json["split"]) == 64
    assert [row["protocol"] for row in amd(*asked, "--method", "amd", "--json").json["rows"]] == [
        "self-excluded",
        "in-sample",
    ]
    leak = amd(*asked, "--protocol", "cross-split")
    assert (leak.code, leak.out) == (4, "")
    assert "not train families" in leak.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--protocol", "deployed"), "use one of self-excluded, cross-split, in-sample"),
        (("--protocol", "cross-split"), "need --split FILE"),
        (("--train-memory", "x"), "need --split FILE"),
        (("--method", "magic"), "no method is called 'magic'"),
    ],
)
def test_a_wrong_option_is_a_usage_error(coverage, arguments, says):
    """It names what there is."""
    found = coverage(*arguments)
    assert (found.code, found.out) == (2, "")
    assert says in found.err


def test_help_says_what_is_measured(amd):
    """Each column has a line."""
    text = amd("coverage", "openai-chat", "--help").out
    for word in ("tools", "args", "over random", "own", "per 100", "repeat", "hints"):
        assert f"\n  {word} " in text.replace("│", " ") or f" {word} " in text
    assert "IN-SAMPLE" in text
