"""``amd drift``."""

from __future__ import annotations

import json
import re

import pytest

from amd.testing import openai_chat, run
from amd.trajectory import ToolSpec

TOOLS = openai_chat(run(1))["tools"]


@pytest.fixture
def tools(tmp_path):
    """Write a file of tools."""

    def written(value):
        path = tmp_path / "tools.json"
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return written


def renamed():
    """The tools with ``mv`` asking for another argument."""
    changed = json.loads(json.dumps(TOOLS))
    parameters = next(tool for tool in changed if tool["function"]["name"] == "mv")["function"]["parameters"]
    parameters["properties"]["directory"] = parameters["properties"].pop("folder")
    parameters["required"] = ["directory"]
    return changed


def test_the_same_tools_are_no_drift(amd, memory, runs, tools):
    """From a list of functions, or from the runs themselves: exit 0."""
    for path in (tools(TOOLS), runs):
        found = amd("drift", memory, "--tools", path)
        assert (found.code, found.err) == (0, "")
        assert "as its tools are" in found.out


def test_findings_are_lines_that_an_editor_finds(amd, memory, tools):
    """FILE:LINE: KIND: what, the line being that of the record, and whether it is still shown; exit 1."""
    found = amd("drift", memory, "--tools", tools(renamed()))
    assert found.code == 1
    lines = [line for line in found.out.split("\n") if ".json:" in line]
    assert {re.search(r": (\w+): mv ", line)[1] for line in lines} == {"unknown", "required"}
    for line in lines:
        path, number, state, record = re.fullmatch(r"(.*):(\d+): \w+: .*; (.*) \((\w{8}), family \w+\)", line).groups()
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - a line as an editor counts them
            assert record in file.read().split("\n")[int(number) - 1]
        assert state == "not shown"
    assert f"amd reindex {memory}" in found.err


def test_twenty_findings_are_listed_and_all_are_counted(amd, memory, tools):
    """Tools of another benchmark contradict every record: a page of them, with --all and --json every one."""
    path = tools([{"type": "function", "function": {"name": "greenhouse", "parameters": {}}}])
    found = amd("drift", memory, "--tools", path)
    told = amd("drift", memory, "--tools", path, "--json").json
    total = len(told["contradictions"])
    assert total > 20
    assert len([line for line in found.out.split("\n") if ".json:" in line]) == 20
    assert f"and {total - 20} more; --all lists them" in found.out
    assert f"removed {total}" in found.out
    every = amd("drift", memory, "--tools", path, "--all")
    assert (every.code, len([line for line in every.out.split("\n") if ".json:" in line])) == (1, total)
    assert "more; --all" not in every.out


def test_json_and_exit_zero(amd, memory, tools):
    """One object with the same, with the hash of the schema that a tool has now, and 0 for those who want the list."""
    found = amd("drift", memory, "--tools", tools(renamed()), "--json", "--exit-zero")
    assert found.code == 0
    told = found.json
    (mv,) = [tool["function"] for tool in renamed() if tool["function"]["name"] == "mv"]
    now = ToolSpec("mv", parameters=mv["parameters"]).schema_sha256
    assert {(each["tool"], each["schema_sha256"]) for each in told["contradictions"]} == {("mv", now)}
    assert told["found"]["required"] == len([each for each in told["contradictions"] if each["kind"] == "required"])
    assert told["still_shown"] == len([each for each in told["contradictions"] if each["shown"]]) == 0
    assert len(told["seal"]) == 64


def test_what_does_not_know_its_schemas_is_still_shown(amd, tmp_path, tools):
    """Runs whose tools were unknown: their calls are judged by themselves, and a session shows them."""
    runs = tmp_path / "unknown.json"
    runs.write_text(json.dumps([{**openai_chat(run(1)), "tools": None}]), encoding="utf-8")
    assert amd("build", "openai-chat", runs, "--out", tmp_path / "m", "--embedder", "hash").code == 0
    path = tools(renamed())
    told = amd("drift", tmp_path / "m", "--tools", path, "--json").json
    contradicted = {each["record"] for each in told["contradictions"]}
    assert told["still_shown"] == len(contradicted) > 0
    found = amd("drift", tmp_path / "m", "--tools", path)
    assert "STILL SHOWN" in found.out
    assert "not shown (" not in found.out


def test_a_removed_tool_is_passed_over_in_every_tier(amd, memory, tools):
    """Nothing of it is shown any more."""
    told = amd("drift", memory, "--tools", tools(TOOLS[:1]), "--json").json
    assert {each["tier"] for each in told["contradictions"]} == {"workflow", "subtask", "function"}
    assert (set(told["found"]), told["still_shown"]) == ({"removed"}, 0)


def silent(path, *entries):
    """A file of runs, one of which tells no tools."""
    path.write_text(json.dumps([*entries, {**openai_chat(run(2)), "tools": None}]), encoding="utf-8")
    return path


def test_runs_that_tell_no_tools_are_no_proof(amd, memory, tmp_path):
    """What is missing may still exist: refused, and with --partial no tool is called removed."""
    path = silent(tmp_path / "some.json", {**openai_chat(run(1)), "tools": TOOLS[:1]})
    found = amd("drift", memory, "--tools", path)
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert "1 of its 2 runs tell no tools" in found.err
    assert "--partial" in found.err
    part = amd("drift", memory, "--tools", path, "--partial")
    assert (part.code, "drifted" in part.out, "as the tools are that are told" in part.out) == (0, False, True)
    assert "1 of 2" in part.out
    told = amd("drift", memory, "--tools", path, "--partial", "--json").json
    assert (told["partial"], told["runs"], told["runs_without_tools"], told["found"]) == (True, 2, 1, {})


def test_in_part_what_is_told_is_judged(amd, memory, tmp_path, tools):
    """A tool that changed drifts all the same; a list is taken for all tools without the option (the control)."""
    (mv,) = [tool for tool in renamed() if tool["function"]["name"] == "mv"]
    path = silent(tmp_path / "some.json", {**openai_chat(run(1)), "tools": [mv]})
    told = amd("drift", memory, "--tools", path, "--partial", "--json")
    assert (told.code, set(told.json["found"]), told.json["still_shown"]) == (1, {"unknown", "required"}, 0)
    whole = amd("drift", memory, "--tools", tools([mv]), "--json")
    assert (whole.json["partial"], "removed" in whole.json["found"]) == (False, True)
    assert amd("drift", memory, "--tools", tools([mv]), "--partial", "--json").json["found"] == told.json["found"]


def test_in_part_a_missing_tool_hides_nothing(amd, tmp_path, tools):
    """Records that know no schemas may be shown by a task that has their other tools too."""
    runs = tmp_path / "unknown.json"
    runs.write_text(json.dumps([{**openai_chat(run(1)), "tools": None}]), encoding="utf-8")
    assert amd("build", "openai-chat", runs, "--out", tmp_path / "m", "--embedder", "hash").code == 0
    path = tools([tool for tool in renamed() if tool["function"]["name"] == "mv"])
    told = amd("drift", tmp_path / "m", "--tools", path, "--partial", "--json").json
    assert told["contradictions"]
    assert all(each["shown"] for each in told["contradictions"])
    whole = amd("drift", tmp_path / "m", "--tools", path, "--json").json
    assert not all(each["shown"] for each in whole["contradictions"])


def test_a_file_without_tools_is_a_usage_error(amd, memory, tools):
    """It names the file."""
    path = tools([])
    found = amd("drift", memory, "--tools", path)
    assert (found.code, found.out) == (2, "")
    assert str(path) in found.err


def test_help_says_what_is_looked_for(amd):
    """Each kind has a line, and what is still shown is told."""
    text = amd("drift", "--help").out
    for word in ("removed", "unknown", "required", "enum", "type", "schema"):
        assert re.search(rf"^  {word} ", text, re.MULTILINE)
    assert "STILL SHOWN" in text
    assert "amd drift memory --tools tools.json" in text
