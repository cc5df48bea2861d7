"""The reader: found by its name, what a run has, and what is refused with a reason."""

from __future__ import annotations

import hashlib
import json
import sys

import pytest
from run_folders import (
    ASKED,
    BRIEF,
    DRY,
    READER,
    call,
    context,
    items,
    notes,
    refusals,
    result,
    runs,
    says,
    score,
    start,
    write,
)

import amd
from amd.arms import Arm
from amd.build import admit
from amd.errors import ConfigError
from amd.traces import reader_options
from amd_toolsandbox import teacher
from amd_toolsandbox.context import MOST_MESSAGES
from amd_toolsandbox.oracle.player import AGENT as ORACLE
from amd_toolsandbox.teacher import ToolSandboxOptions, reader


def test_the_entry_point_is_the_reader():
    """``amd build toolsandbox`` finds it."""
    assert READER is reader
    assert (READER.name, READER.benchmark, READER.options) == ("toolsandbox", "toolsandbox", ToolSandboxOptions)
    assert all(field.description for field in ToolSandboxOptions.model_fields.values())


def test_options_are_checked():
    """A threshold is a similarity; an answer key is nobody's run."""
    for values in ({"success_score": 1.1}, {"success_score": float("nan")}, {"kind": "oracle"}, {"score": 1}):
        with pytest.raises(ConfigError):
            reader_options(READER, values)


def test_a_run_with_all_its_parts(tmp_path):
    """Task, family, words, calls, outcome and source; the instruction is what the agent was told, never the brief."""
    name = "remove_contact_by_phone_no_remove_contact_insufficient_information_all_tools"
    write(tmp_path / "run-1", {name: context()})
    (run,) = runs(tmp_path)
    path = tmp_path / "run-1/trajectories" / name / "execution_context.json"
    assert (run.task.benchmark, run.task.task_id, run.task.family) == ("toolsandbox", name, "remove_contact_by_phone")
    assert run.task.instruction == ASKED
    assert BRIEF not in repr(run)
    assert [(c.name, c.arguments, c.observation, c.ok, c.call_id) for c in run.calls] == [
        ("water", {"bed": 4}, "None", True, "call_1")
    ]
    assert run.tools is None
    assert (run.outcome.success, run.outcome.score) == (True, 1.0)
    assert (run.source.path, run.source.run_id, run.source.kind) == (str(path), "run-1", "teacher")
    assert run.source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("kind", ["teacher", "student"])
def test_a_folder_of_the_scripted_agent_is_an_oracles(tmp_path, kind):
    """Whatever the option says, and whatever the teacher is called; any other agent is what the option says (control).

    An answer key that is played is nobody's skill, and must not pass for it.
    """
    for agent in (ORACLE, "toolsandbox-oracle-2", f"org/{ORACLE}"):
        name = f"agent_{agent}_user_scripted-user_05_13_2031_08_00_00"
        write(tmp_path / name, {"wifi_off": context()})
        for options in ({}, {"teacher": "gpt-9"}):
            (run,) = runs(tmp_path / name, kind=kind, **options)
            assert run.source.kind == ("oracle" if agent == ORACLE else kind)
            assert run.source.teacher == options.get("teacher", agent)


def test_the_memory_of_an_oracle_says_whose_it_is(tmp_path):
    """In its manifest, and so in each report of an arm that reads it."""
    for agent, said in ((ORACLE, f"{ORACLE} (oracle)"), ("gpt", "gpt (teacher)")):
        folder = write(tmp_path / f"agent_{agent}_user_u_05_13_2031_08_00_00", {"wifi_off": context()})
        amd.build_memory(items(folder), tmp_path / agent, embedder=amd.load_embedder("hash"))
        with Arm.of({"memory": str(tmp_path / agent)}).open() as opened:
            assert opened.teachers == (said,)


@pytest.mark.parametrize("name", ["agent_gpt_user_u_05_13_2031_08_00_00", "renamed"])
def test_a_renamed_folder_of_the_oracle_is_still_an_oracles(tmp_path, name):
    """The run's own settings say who played; those of another student are the control."""
    for agent in (ORACLE, "gpt"):
        run = tmp_path / agent
        write(run / name, {"wifi_off": context()})
        (run / "amd-run.json").write_text(json.dumps({"agent": {"name": agent}}), encoding="utf-8")
        (found,) = runs(run / name)
        assert (found.source.kind == "oracle") == (agent == ORACLE)


def test_conversation_json_is_never_opened(tmp_path):
    """It holds the expected answers. Every file that is opened while runs are read is seen here."""
    folder = write(tmp_path, {"wifi_off": context()})
    answers = folder / "trajectories/wifi_off/conversation.json"
    opened = []
    watched = {"on": True}

    def watch(event, arguments):
        if watched["on"] and event == "open":
            opened.append(str(arguments[0]))

    sys.addaudithook(watch)
    assert runs(tmp_path)
    watched["on"] = False
    assert any(path.endswith("execution_context.json") for path in opened)
    assert str(answers) not in opened


def test_a_name_that_the_registry_does_not_know(tmp_path):
    """A family is never guessed: refused, with the name; the others are read."""
    write(tmp_path, {"wifi_off": context(), "wifi_of": context()})
    (refusal,) = refusals(tmp_path)
    assert (refusal.reason, refusal.task_id) == ("unreadable", "wifi_of")
    assert "'wifi_of' is no scenario of ToolSandbox" in refusal.detail
    assert len(runs(tmp_path)) == 1


@pytest.mark.parametrize("cut", [0, 1, 40, 400, -1])
def test_d22_one_bad_file_costs_one_run(tmp_path, cut):
    """D22 (c): a context that was cut is refused with its path, and the other run is built."""
    whole = json.dumps(context(), indent=4).encode()
    write(tmp_path, {"wifi_off": whole[:cut], "cellular_off": whole})
    (refusal,) = refusals(tmp_path)
    assert (refusal.reason, refusal.task_id) == ("unreadable", "wifi_off")
    assert refusal.where.endswith("wifi_off/execution_context.json")
    report = amd.build_memory(items(tmp_path), tmp_path / "memory", embedder=amd.load_embedder("hash"))
    assert (report.admitted, dict(report.refused)) == (1, {"unreadable": 1})


def test_d22_arguments_that_are_a_list(tmp_path):
    """D22 (b): the harness itself fails such a call, and the run goes on without its arguments."""
    bad = [call(written="['a', 'b']"), result(error="TypeError: argument after ** must be a mapping"), says()]
    write(tmp_path, {"wifi_off": context(*bad), "cellular_off": context()})
    gate = admit(items(tmp_path))
    assert (len(gate.admitted), gate.notes["unparsable_call"]) == (2, 1)


def test_d22_a_user_without_a_word(tmp_path):
    """D22 (d): an empty message is no instruction; the first that has words is."""
    rows = [says("How can I help?"), {**says("Water bed 4"), "sender": "USER", "recipient": "AGENT"}, says()]
    write(tmp_path, {"wifi_off": context(*rows, asked="  ")})
    assert runs(tmp_path)[0].task.instruction == "Water bed 4"
    write(tmp_path, {"wifi_off": context(asked="")})
    assert "no instruction" in refusals(tmp_path)[0].detail


def test_a_file_that_is_far_too_large(tmp_path, monkeypatch):
    """It is refused before it is read."""
    write(tmp_path, {"wifi_off": context()})
    assert len(runs(tmp_path)) == 1
    monkeypatch.setattr(teacher, "MOST_BYTES", 100)
    assert "100 are the most" in refusals(tmp_path)[0].detail


def full(count, **more):
    """A context of so many messages whose user never ended it."""
    rows = [each for number in range(count // 2) for each in (call(call_id=f"c{number}"), result(call_id=f"c{number}"))]
    return context(*rows[:count], **more, ended=False)


def test_the_limit_of_messages_is_told(tmp_path):
    """At the limit a run is what its score says, and counted; one that ended by itself is not."""
    write(tmp_path, {"wifi_off": full(MOST_MESSAGES), "cellular_off": context()})
    assert [run.outcome.success for run in runs(tmp_path)] == [True, True]
    assert notes(tmp_path) == {"message_limit": 1}


def test_a_success_of_a_run_that_broke_off_is_not_believed(tmp_path):
    """A summary made afterwards does not know that a server died; where only mistakes count, silence scores 1."""
    write(tmp_path, {"wifi_off": full(4), "cellular_off": context(ended=False, asked="Turn")}, None)
    silent = context()
    silent["_dbs"]["SANDBOX"] = start()
    write(tmp_path, {"get_wifi": silent}, None)
    write(tmp_path, {}, [score(name) for name in ("wifi_off", "cellular_off", "get_wifi")], "amd-rescore.json")
    assert {refusal.task_id: (refusal.reason, refusal.detail.split(", and ")[1]) for refusal in refusals(tmp_path)} == {
        "wifi_off": ("score_mismatch", "it broke off after 4 messages"),
        "cellular_off": ("score_mismatch", "it broke off after 3 messages"),
        "get_wifi": ("score_mismatch", "the agent said and did nothing"),
    }
    write(tmp_path, {}, [score(name, 0.2) for name in ("wifi_off", "cellular_off", "get_wifi")], "amd-rescore.json")
    assert [run.outcome.success for run in runs(tmp_path)] == [False] * 3


def test_a_run_that_declines_teaches_a_workflow_and_nothing_else(tmp_path):
    """No call: nothing for the tiers that need one."""
    folder = write(tmp_path / "a", {"wifi_off": context(says("I have no tool for that."))})
    report = amd.build_memory(items(folder), tmp_path / "memory", embedder=amd.load_embedder("hash"))
    assert dict(report.records) == {"workflow": 1, "subtask": 0, "function": 0}
    assert dict(report.notes) == {"no_call": 1}


def test_c16_an_error_and_its_repair_become_a_pitfall(tmp_path):
    """C16, the builder's half: the class of the recorded exception, and the good call; no false alarm."""
    rows = [
        call(call_id="a"),
        result(call_id="a", error=DRY),
        call("lock", {}, "b"),
        result("lock", "{'errors': 0, 'log': 'failed login attempts: 3'}", "b", arguments={}),
        call(call_id="c"),
        result(call_id="c"),
        says(),
    ]
    folder = write(tmp_path / "a", {"wifi_off": context(*rows)})
    amd.build_memory(items(folder), tmp_path / "memory", embedder=amd.load_embedder("hash"))
    records = json.loads(next((tmp_path / "memory").glob("generations/*/function/records.json")).read_bytes())
    pitfalls = [record["body"] for record in records if record["body"]["kind"] == "pitfall"]
    assert [(body["error_class"], body["tools"]) for body in pitfalls] == [(DRY, ["water", "lock"])]
    assert sorted(record["body"]["tools"][0] for record in records if record["body"]["kind"] == "call") == [
        "lock",
        "water",
    ]
