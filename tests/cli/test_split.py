"""``amd split``, and who takes its file."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def split(amd, runs, fields, tmp_path):
    """A split of the five runs' families, drawn by the command."""
    out = tmp_path / "split.json"
    found = amd("split", "openai-chat", runs, *fields, "--test", 0.4, "--seed", 3, "--out", out)
    assert (found.code, found.err) == (0, "")
    return out


def test_a_split_is_drawn_and_named(amd, runs, fields, split):
    """All readable runs count, the failed and the unscored too; again it is the same, and nothing is written."""
    told = json.loads(split.read_text(encoding="utf-8"))
    assert (len(told["train"]), len(told["test"]), told["seed"]) == (3, 2, 3)
    before = split.read_bytes()
    printed = amd("split", "openai-chat", runs, *fields, "--test", 0.4, "--seed", 3, "--out", split).out
    assert f"sha256 {told['sha256']}" in printed.split("\n")
    again = amd("split", "openai-chat", runs, *fields, "--test", 0.4, "--seed", 3, "--out", split, "--json")
    assert (again.code, again.json["written"], again.json["sha256"]) == (0, False, told["sha256"])
    assert split.read_bytes() == before


def test_another_draw_does_not_take_its_place(amd, runs, fields, split):
    """Exit code 2, and the file stays."""
    before = split.read_bytes()
    seeds = [
        amd("split", "openai-chat", runs, *fields, "--test", 0.4, "--seed", each, "--out", split) for each in "456"
    ]
    refused = [each for each in seeds if each.code]
    assert refused
    assert all(each.code == 2 and "holds the split" in each.err for each in refused)
    assert split.read_bytes() == before


def test_build_ask_and_coverage_take_it(amd, runs, fields, split, tmp_path):
    """Test families are counted as held out; a memory of all families is a leak where they are held out."""
    told = json.loads(split.read_text(encoding="utf-8"))
    train = tmp_path / "train"
    built = amd("build", "openai-chat", runs, *fields, "--split", split, "--out", train, "--json")
    assert (built.code, built.json["split"]) == (0, told["sha256"])
    held_out = [family for family in told["test"] if family not in ("multi_turn_3", "multi_turn_4")]
    assert built.json["refused"].get("held_out", 0) == len(held_out)
    assert built.json["read"] == built.json["admitted"] + sum(built.json["refused"].values())
    whole = tmp_path / "whole"
    assert amd("build", "openai-chat", runs, *fields, "--out", whole).code == 0
    task = ("--instruction", "Move it", "--benchmark", "made-up", "--task-id", "t", "--family", told["test"][0])
    asked = ("--protocol", "cross-split", "--split", split)
    assert amd("ask", train, *task, *asked).code == 0
    leak = amd("ask", whole, *task, *asked)
    assert (leak.code, "not train families" in leak.err) == ((4, True) if held_out else (0, False))
    assert held_out  # the seed was chosen so that the control above controls something


def test_the_build_names_it(amd, runs, fields, split, tmp_path):
    """In the table too."""
    told = json.loads(split.read_text(encoding="utf-8"))
    printed = amd("build", "openai-chat", runs, *fields, "--split", split, "--out", tmp_path / "train").out
    assert told["sha256"][:40] in printed


def test_what_is_wrong_is_one_line(amd, runs, fields, tmp_path):
    """A share that is none, and a folder for a file."""
    for arguments, says in (
        (("--test", 2, "--out", tmp_path / "s.json"), "is 2.0"),
        (("--out", tmp_path), "directory"),
    ):
        found = amd("split", "openai-chat", runs, *fields, *arguments)
        assert (found.code, found.out) == (2, "")
        assert says in found.err


def test_help_has_examples(amd):
    """And says what is the same again."""
    text = amd("split", "openai-chat", "--help").out
    assert "amd split openai-chat runs.jsonl --test 0.3 --seed 0 --out split.json" in text
    assert "--seed" in text
