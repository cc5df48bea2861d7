"""``amd coverage``."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def coverage(amd, runs, fields, memory):
    """Evaluate the memory on the runs that it was built from."""

    def call(*arguments):
        return amd("coverage", "openai-chat", runs, *fields, "--memory", memory, *arguments)

    return call


def test_one_table_over_methods_and_protocols(coverage):
    """Each tier alone and all together, hidden and in-sample, the latter in capitals, own records counted."""
    found = coverage()
    assert found.code == 0
    rows = [line for line in found.out.split("\n") if line.startswith("│")]
    named = [tuple(cell.strip().split(" (")[0] for cell in row.split("│")[1:3]) for row in rows]
    assert named == [
        ("workflow", "self-excluded"),
        ("workflow", "IN-SAMPLE"),
        ("subtask", "self-excluded"),
        ("subtask", "IN-SAMPLE"),
        ("amd", "self-excluded"),
        ("amd", "IN-SAMPLE"),
    ]
    assert all(("own)" in row) == ("IN-SAMPLE" in row) for row in rows)
    assert "refused: " in found.out
    assert "ORACLE" not in found.out


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
    for word in ("tools", "arguments", "over random", "per 100", "repeat", "hints"):
        assert f"\n  {word} " in text.replace("│", " ") or f" {word} " in text
    assert "IN-SAMPLE" in text
