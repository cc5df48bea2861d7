"""``amd lint``."""

from __future__ import annotations

import re

import pytest

CLEAN = ("--only", "value", "--only", "instruction")


def test_findings_are_lines_that_an_editor_finds(amd, memory):
    """FILE:LINE: CHECK: what, the line being that of the record; exit 1, and what to do next."""
    found = amd("lint", memory, "--only", "duplicate")
    assert found.code == 1
    lines = [line for line in found.out.split("\n") if ": duplicate: " in line]
    assert lines
    for line in lines:
        path, number, record = re.fullmatch(r"(.*):(\d+): duplicate: .*\((\w{8}), family \w+\)", line).groups()
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - a line as an editor counts them
            assert record in file.read().split("\n")[int(number) - 1]
    assert f"amd reindex {memory}" in found.err


def test_nothing_found_is_exit_0(amd, memory):
    """A clean memory, or checks that find nothing."""
    found = amd("lint", memory, *CLEAN)
    assert (found.code, found.err) == (0, "")
    assert "nothing to look at" in found.out


def test_exit_zero_finds_the_same(amd, memory):
    """For those who only want the list."""
    one, other = amd("lint", memory), amd("lint", memory, "--exit-zero")
    assert (one.code, other.code) == (1, 0)
    assert one.out == other.out


def test_json_has_all(amd, memory):
    """One object: figures, findings, and for each group what every family may see."""
    found = amd("lint", memory, "--json", "--tier", "workflow")
    assert found.code == 1
    assert (found.json["records"], found.json["found"]) == ({"workflow": 3}, {"duplicate": 1})
    (finding,) = found.json["findings"]
    assert finding["check"] == "duplicate"
    assert finding["group"]["visible"] == {"multi_turn_0": 2, "multi_turn_1": 2, "multi_turn_2": 2}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--only", "magic"), 2, "use one of: body, cue, duplicate"),
        (("--tier", "magic"), 2, "its shelves are"),
    ],
)
def test_a_wrong_option_is_a_usage_error(amd, memory, arguments, code, says):
    """It names what there is."""
    found = amd("lint", memory, *arguments)
    assert (found.code, found.out) == (code, "")
    assert says in found.err


def test_a_memory_that_is_not_good_is_not_linted(amd, memory, tmp_path):
    """An edit that nobody took in, or no memory at all: the error of every command."""
    (path,) = memory.glob("generations/*/workflow/records.json")
    path.write_text(path.read_text(encoding="utf-8").replace("Enter the given", "Go to the"), encoding="utf-8")
    assert "amd check" in amd("lint", memory).err
    assert amd("lint", memory).code == 1
    assert "no memory at" in amd("lint", tmp_path / "nowhere").err


def test_an_edited_record_is_linted_after_reindex(amd, memory):
    """A person's own words are judged as a writer's are."""
    (path,) = memory.glob("generations/*/workflow/records.json")
    path.write_text(
        re.sub(
            r'"text":"[^"]*"',
            '"text":"Move report_0.txt with `teleport()`."',
            path.read_text(encoding="utf-8"),
            count=1,
        ),
        encoding="utf-8",
    )
    assert amd("reindex", memory).code == 0
    found = amd("lint", memory, "--tier", "workflow", "--exit-zero").out
    assert ": value: has values of its run in its words: “report_0.txt”" in found
    assert ": tool: names a tool that no run called: “teleport”" in found
    assert ": cue: " in found


def test_help_says_what_is_looked_for(amd):
    """Each check has a line, and the exit codes are told."""
    text = amd("lint", "--help").out
    for word in ("body", "cue", "duplicate", "instruction", "key", "long", "tool", "value"):
        assert re.search(rf"^  {word} ", text, re.MULTILINE)
    assert "Exit code 0" in text
    assert "amd lint memory --tier workflow" in text
