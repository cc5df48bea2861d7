"""What must be survived in the real harness: mistakes of a student, spellings of a server, and no ``git``.

One run with a memory has a slip in each scenario but the last two. A student's mistakes are zeros that the report
counts by their exceptions; what is only spelt otherwise scores as if nothing had been wrong.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter

import pytest
from slips import THOUGHT, Slip, Slipping, empty_arguments, empty_calls, ids, thinking
from talks import HINT, bodies

from amd.traces import Note, Trajectory
from amd_toolsandbox.context import MOST_MESSAGES
from amd_toolsandbox.families import base_of
from amd_toolsandbox.oracle.player import AGENT, USER
from amd_toolsandbox.teacher import reader

LOW_BATTERY, WIFI = "set_low_battery_mode_status", "set_wifi_status"
NO_MAPPING = "search_name_with_relationship"
ADDRESS = "remove_contact_with_id"
PERMUTED = "turn_on_wifi_low_battery_mode"
REPEATED_ID = ("update_contact_relationship_with_relationship", "turn_on_cellular_low_battery_mode")
THINKING = "remove_contact_by_phone_multiple_user_turn"
ENDLESS = "search_phone_number_with_name"
ECHO = "add_contact_with_name_and_phone_number_all_tools"
ALARM = "Error: Rose"

SPELT = {
    "search_message_with_recency_latest_multiple_user_turn": Slip(spelt=empty_calls),
    "send_message_with_contact_content_cellular_off": Slip(spelt=ids("chatcmpl-tool-{}")),
    REPEATED_ID[0]: Slip(spelt=ids("call_0")),
    REPEATED_ID[1]: Slip(spelt=ids("0")),
    "get_wifi": Slip(spelt=empty_arguments),
    THINKING: Slip(spelt=thinking),
}
"""What is only spelt otherwise: nothing is lost."""

MENDED = {
    PERMUTED: Slip([(LOW_BATTERY, '{"on": false}'), (WIFI, '{"on": true}')]),
    ADDRESS: Slip([("remove_contact", '{"person_id": "nobody"}')]),
    NO_MAPPING: Slip([("search_contacts", '["rose"]')]),
    "send_message_with_phone_number_and_content": Slip([("send_message_with_phone_number", "")]),
}
"""Calls that fail and end nothing: the harness records an exception, and the student goes on."""

FATAL = {
    "wifi_off": (Slip([(WIFI, "{on: no}")]), "JSONDecodeError"),
    "cellular_off": (Slip([("set_cellular_service_status", '{"on": NaN}')]), "ValueError"),
    "get_cellular": (Slip([("read_the_future", "{}")]), "KeyError"),
    "find_days_till_holiday_3_distraction_tools_tool_name_scrambled": (Slip([("search_holiday", "{}")]), "KeyError"),
}
"""What ends a scenario. Where names are scrambled, a tool's real name is one that is not there."""

SLIPS = {
    **SPELT,
    **MENDED,
    **{name: slip for name, (slip, _) in FATAL.items()},
    ENDLESS: Slip([("search_contacts", '{"nme": "rose"}')], forever=True),
    ECHO: Slip(
        [
            ("add_contact", json.dumps({"name": ALARM, "phone_number": "+12025550199"})),
            ("search_contacts", json.dumps({"name": ALARM})),
        ]
    ),
}
WELL = ("find_thanksgiving_timestamp", "find_current_location_insufficient_information")
NAMES = (*SLIPS, *WELL)
FAILED = {ENDLESS, ECHO, *FATAL}


@pytest.fixture(scope="module")
def run(played, memory, player, answer_key, tmp_path_factory):
    """All of them in one process, with a memory that is asked before each turn and shown as earlier turns; no git."""
    firsts = {sheet.base: sheet.first for sheet in answer_key[0]}
    slips = {firsts[base_of(name)]: slip for name, slip in SLIPS.items()}
    assert len(slips.keys() | {firsts[name] for name in WELL}) == len(NAMES)
    chat, nowhere = Slipping(player, slips), str(tmp_path_factory.mktemp("path"))
    assert shutil.which("git", path=nowhere) is None
    words = ("--memory", memory, "--mode", "dynamic", "--layout", "turns")
    run = played(*words, scenarios=NAMES, chat=chat, PATH=nowhere)
    assert chat.happened == slips.keys()
    return run


@pytest.fixture(scope="module")
def read(run):
    """Scenario -> what the reader reads of it, and what it counts."""
    items = list(reader.read([run.run], reader.options()))
    runs = {item.task.task_id: item for item in items if isinstance(item, Trajectory)}
    notes = Counter({item.name: item.count for item in items if isinstance(item, Note)})
    assert len(items) == len(runs) + sum(isinstance(item, Note) for item in items)  # nothing is refused
    return runs, notes


def summary(run):
    """What the harness wrote at the end."""
    (path,) = run.run.rglob("result_summary.json")
    return json.loads(path.read_bytes())


def test_other_spellings_and_mended_calls_score_one(run):
    """An empty list of calls, ids that are no names or repeat, empty arguments, thoughts; those beside are unharmed."""
    whole = (*SPELT, *MENDED, *WELL)
    assert {name: run.done.json["scored"][name] for name in whole} == dict.fromkeys(whole, 1.0)


def test_a_students_mistakes_are_zeros_and_counted(run, cli):
    """No JSON, NaN, a tool that is not there: each by its exception, and none of them is a service's fault."""
    assert {name: run.done.json["scored"][name] for name in FATAL} == dict.fromkeys(FATAL, 0.0)
    assert run.done.json["infrastructure"] == {}
    found = {row["name"]: row["exception_type"] for row in summary(run)["per_scenario_results"]}
    assert found == dict.fromkeys(NAMES) | {name: kind for name, (_, kind) in FATAL.items()}
    (report,) = cli("report", run.run, "--json").json["runs"]
    assert report["exceptions"] == Counter(kind for _, kind in FATAL.values())
    assert (report["scored"], report["success"]) == (len(NAMES), len(NAMES) - len(FAILED))


def test_a_student_that_never_ends_is_stopped_and_hinted_once(run, read):
    """C16: at the harness's limit, without an exception; the repeats of an error have no hint."""
    talk = run.talks[ENDLESS]
    assert run.done.json["scored"][ENDLESS] < 1
    assert len(read[0][ENDLESS].calls) >= MOST_MESSAGES // 2 - 1
    assert read[1]["message_limit"] == 1
    hinted = [HINT in message["content"] for message, _ in talk.results]
    assert hinted == [True] + [False] * (len(hinted) - 1)
    assert len(hinted) >= MOST_MESSAGES // 2 - 2


def test_ids_go_back_to_the_server_as_python_names(run):
    """As the harness's code needs them; ones that repeat still repeat."""
    sent = {
        name: [call["id"] for message in talk.last for call in message.get("tool_calls") or ()]
        for name, talk in run.talks.items()
    }
    assert all(each.isidentifier() for found in sent.values() for each in found)
    assert any(each.startswith("chatcmpl_tool_") for each in sent["send_message_with_contact_content_cellular_off"])
    for name in REPEATED_ID:
        assert len(sent[name]) >= 3
        assert len(set(sent[name])) == 1


def test_thoughts_reach_nobody(run):
    """Neither the user, nor the agent's own next request, nor what is scored and kept."""
    for model in (AGENT, USER):
        assert THOUGHT not in json.dumps(bodies(run.server, model))
    kept = [path.read_text(encoding="utf-8") for path in run.run.rglob("trajectories/*/*.json")]
    assert kept
    assert not [text for text in kept if THOUGHT in text or "<think>" in text]


def test_d17_parallel_results_come_permuted_and_the_hint_stands_in_its_own(run, read):
    """D17, C16: the harness tries all orders, and answers in the one that failed; the reader pairs them rightly."""
    talk = run.talks[PERMUTED]
    asked = [call["id"] for message in talk.last for call in message.get("tool_calls") or ()][:2]
    answered = [message["tool_call_id"] for message, _ in talk.results][:2]
    assert answered == asked[::-1]
    assert [(message["name"], HINT in message["content"]) for message, _ in talk.results] == [
        (WIFI, True),
        (LOW_BATTERY, False),
        (WIFI, False),
    ]
    message, row = talk.results[0]
    assert WIFI in message["content"].removeprefix(row.text)
    assert LOW_BATTERY not in message["content"]
    calls = [(call.name, call.ok) for call in read[0][PERMUTED].calls]
    assert calls == [(LOW_BATTERY, True), (WIFI, False), (WIFI, True)]


def test_a_memory_address_is_in_no_record(run, read):
    """The harness writes it into an error; what is read has none, so the same run gives the same records."""
    address = re.compile(r"0x[0-9A-Fa-f]{6,}")
    (failed,) = [row for _, row in run.talks[ADDRESS].results if row.tool_call_exception is not None]
    assert address.search(failed.text)
    (call,) = [call for call in read[0][ADDRESS].calls if not call.ok]
    assert "NoDataError" in call.observation
    assert not address.search(repr(read[0][ADDRESS]))


def test_d19_a_result_that_reads_like_an_error_is_none(run, read):
    """D19, C16: the student made a contact of that name, which the evaluator takes from its score; nothing failed."""
    talk = run.talks[ECHO]
    assert any(ALARM in message["content"] for message, _ in talk.results)
    assert HINT not in json.dumps(talk.last)
    assert all(call.ok for call in read[0][ECHO].calls)
    assert 0 < run.done.json["scored"][ECHO] < 1


def test_d19_a_hint_stands_in_nothing_that_went_well(run):
    """D19: whatever the student wrote; those that fail have one (control), and the harness's own words come first."""
    results = [pair for talk in run.talks.values() for pair in talk.results]
    hinted = [(message, row) for message, row in results if HINT in message["content"]]
    assert len(hinted) >= 5
    assert all(row.tool_call_exception is not None for _, row in hinted)
    assert all(message["content"].startswith(row.text) for message, row in results)
    for name in (NO_MAPPING, "send_message_with_phone_number_and_content", REPEATED_ID[1]):
        assert HINT in run.talks[name].results[0][0]["content"], name


def test_examples_as_earlier_turns_are_looked_through(run):
    """They are in the requests, before the user's own first words, and every request begins with the earlier one."""
    roles = {tuple(message["role"] for message in talk.last[:4]) for talk in run.talks.values()}
    assert ("system", "user", "assistant", "user") in roles
    for talk in run.talks.values():
        for earlier, later in zip(talk.requests, talk.requests[1:], strict=False):
            assert later["messages"][: len(earlier["messages"])] == earlier["messages"]


def test_without_git_the_summary_is_written(run):
    """The harness asks it for a commit at the very end, and would lose every score."""
    assert summary(run)["git_sha"] is None
    assert len(summary(run)["per_scenario_results"]) == len(NAMES)


def test_the_reader_reads_all_of_it(read):
    """Each scenario is a run of the answer key; what an exception ended is no success and says which one."""
    runs, notes = read
    assert set(runs) == set(NAMES)
    assert {run.source.kind for run in runs.values()} == {"oracle"}
    assert {name for name, run in runs.items() if not run.outcome.success} == FAILED
    for name, (_, kind) in FATAL.items():
        assert kind in runs[name].outcome.evidence
    assert notes["unparsable_call"] >= 1
    assert {run.source.memory_assisted for run in runs.values()} == {True, False}
