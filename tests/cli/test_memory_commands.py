"""``amd check``, ``reindex``, ``show`` and ``ask``."""

from __future__ import annotations

import json

import pytest

TASK = ("--benchmark", "made-up", "--task-id", "multi_turn_base_0")
ASKED = "Turn 0 of task 0: move report_0.txt into folder_0 and count word_0"


def edit(memory, old, new):
    """Change the workflow records as a person would."""
    (path,) = memory.glob("generations/*/workflow/records.json")
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    return path


def test_check_is_quiet_on_a_good_memory(amd, memory):
    """Exit 0, the figures, and the pin holds."""
    found = amd("check", memory, "--json")
    assert (found.code, found.json["ok"], found.json["faults"]) == (0, True, [])
    assert found.json["shelves"] == {"workflow": 3, "subtask": 9, "function": 27}
    assert amd("check", memory, "--pin", found.json["seal"]).code == 0
    assert amd("check", memory, "--pin", "0" * 64).code == 1


def test_check_names_a_hand_edit_and_reindex_takes_it_in(amd, memory):
    """The edit is a fault until it is taken in; then it is shown as a difference and the memory is good."""
    edit(memory, "Enter the given folder", "Go to the folder")
    found = amd("check", memory, "--json")
    assert found.code == 1
    assert any("records.json" in fault["file"] for fault in found.json["faults"])
    assert amd("ask", memory, "--instruction", ASKED, *TASK).code == 1
    taken = amd("reindex", memory, "--json")
    assert (taken.code, taken.json["generation"], taken.json["embedded"]) == (0, 2, 0)
    assert amd("check", memory).code == 0
    assert "Go to the folder" in amd("show", memory, "--tier", "workflow").out


def test_show_prints_records_as_a_student_reads_them(amd, memory):
    """By tier and family; whole records for machines."""
    shown = amd("show", memory, "--tier", "function", "--family", "multi_turn_1", "--limit", "2")
    assert shown.out.count("A call of ") == 2
    assert "multi_turn_1" in shown.out
    assert "multi_turn_0" not in shown.out
    records = amd("show", memory, "--json", "--limit", "100").json["records"]
    assert len(records) == 39
    assert {record["tier"] for record in records} == {"workflow", "subtask", "function"}
    assert amd("show", memory, "--tier", "magic").code == 2


def test_a_page_holds_all_tiers(amd, memory):
    """What a student meets first stands first, and the largest shelf leaves room for the others."""
    tiers = [record["tier"] for record in amd("show", memory, "--json", "--limit", "6").json["records"]]
    assert tiers == ["workflow"] * 2 + ["subtask"] * 2 + ["function"] * 2
    whole = [record["tier"] for record in amd("show", memory, "--json", "--limit", "38").json["records"]]
    rest = [record["tier"] for record in amd("show", memory, "--json", "--limit", "39").json["records"]]
    assert len(whole) == 38
    assert rest.count("function") - whole.count("function") == 1  # the largest shelf alone gives one up


def test_d01_a_task_never_gets_its_own_record(amd, memory):
    """D01: self-excluded by default, another family's near twin is found, and no task id is in the text."""
    found = amd("ask", memory, "--instruction", ASKED, *TASK, "--json").json
    families = {each["family"] for each in found["exposures"]}
    assert families
    assert "multi_turn_0" not in families
    assert found["excluded"]["own_family"] > 0
    assert "multi_turn" not in found["text"]
    own = amd("ask", memory, "--instruction", ASKED, *TASK, "--protocol", "in-sample", "--json").json
    assert {each["family"] for each in own["exposures"]} == {"multi_turn_0"}
    assert own["in_sample"]
    assert "IN-SAMPLE" in amd("ask", memory, "--instruction", ASKED, *TASK, "--protocol", "in-sample").out


def test_asking_changes_nothing(amd, memory):
    """C01: the same question twice gives the same bytes, and the memory's digest stays."""
    before = amd("check", memory, "--json").out
    once = amd("ask", memory, "--instruction", ASKED, *TASK, "--json").out
    assert amd("ask", memory, "--instruction", ASKED, *TASK, "--json").out == once
    assert amd("check", memory, "--json").out == before


def test_a_hint_for_a_failed_call(amd, memory):
    """By the exact tool; a tool that nobody knows gets none."""
    asked = ("ask", memory, "--instruction", ASKED, *TASK, "--json", "--error")
    hint = amd(*asked, "mv", "Error: no such file").json
    assert '{"name": "mv"' in hint["text"]
    assert {each["tier"] for each in hint["exposures"]} == {"function"}
    assert amd(*asked, "fly", "Error: no such tool").json["text"] == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--protocol deployed"),
        (("--benchmark", "made-up"), "--task-id"),
        (("--task-id", "multi_turn_base_0"), "--benchmark"),
        (("--benchmark", "made-up", "--task-id", "unknown_9"), "--family"),
        ((*TASK, "--protocol", "deployed"), "--task-id"),
        ((*TASK, "--protocol", "cross-split"), "--split"),
        ((*TASK, "--protocol", "everything"), "self-excluded"),
        ((*TASK, "--method", "magic"), "magic"),
    ],
)
def test_nothing_widens_silently(amd, memory, arguments, says):
    """What the options leave open is a usage error that says what is missing."""
    found = amd("ask", memory, "--instruction", ASKED, *arguments)
    assert (found.code, found.out) == (2, "")
    assert says in found.err


def test_an_empty_method_is_unknown(amd, memory):
    """It does not mean the memory's own, which leaving the option out does (the control)."""
    asked = ("ask", memory, "--instruction", ASKED, *TASK)
    found = amd(*asked, "--method", "")
    assert (found.code, found.out) == (2, "")
    assert "no method is called ''" in found.err
    assert amd(*asked).code == 0


def test_d07_another_benchmark_is_an_error_unless_asked_for(amd, memory):
    """D07: both are named; told otherwise, the answer says that it widened."""
    task = ("--benchmark", "other", "--task-id", "live_simple_7", "--family", "live_simple_7")
    refused = amd("ask", memory, "--instruction", ASKED, *task)
    assert refused.code == 2
    assert "'made-up'" in refused.err
    assert "'other'" in refused.err
    assert amd("ask", memory, "--instruction", ASKED, *task, "--any-benchmark", "--json").json["widened"] is True


def test_deployed_knows_no_task(amd, memory):
    """Real use: everything may be seen, and it is said by name."""
    found = amd("ask", memory, "--instruction", ASKED, "--protocol", "deployed", "--json").json
    assert found["excluded"] == {}
    assert not found["in_sample"]


def test_a_leaking_split_is_exit_4(amd, memory, tmp_path):
    """A memory that holds a test family is a leak, whoever asks."""
    path = tmp_path / "split.json"
    split = {
        "format": "amd-split/1",
        "benchmark": "made-up",
        "train": ["multi_turn_1", "multi_turn_2"],
        "test": ["multi_turn_0"],
    }
    path.write_text(json.dumps(split), encoding="utf-8")
    found = amd("ask", memory, "--instruction", ASKED, *TASK, "--protocol", "cross-split", "--split", path)
    assert (found.code, found.out) == (4, "")
    assert "multi_turn_0" in found.err


def test_tools_that_the_task_lacks_are_not_named(amd, memory, tmp_path):
    """Records with other tools are passed over."""
    path = tmp_path / "tools.json"
    path.write_text('[{"type": "function", "function": {"name": "pwd"}}]', encoding="utf-8")
    found = amd("ask", memory, "--instruction", ASKED, *TASK, "--tools", path, "--json").json
    assert found["exposures"] == []
    assert found["text"] == ""
    path.write_text("{}", encoding="utf-8")
    assert amd("ask", memory, "--instruction", ASKED, *TASK, "--tools", path).code == 2


def test_a_directory_that_is_no_memory(amd, tmp_path):
    """One line, exit 1."""
    found = amd("ask", tmp_path / "nothing", "--instruction", "x", "--protocol", "deployed")
    assert (found.code, found.out, len(found.err.strip().split("\n"))) == (1, "", 1)
