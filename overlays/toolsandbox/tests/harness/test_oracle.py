"""The answer key in the real harness, without memory and with one: scored by its evaluator, and seen on the wire."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from talks import HINT, SCENARIOS, bodies

from amd.traces import strip_memory
from amd_toolsandbox.families import family
from amd_toolsandbox.oracle.player import AGENT, USER

HERE = Path(__file__).parent
KINDS = {
    *("NO_DISTRACTION_TOOLS", "THREE_DISTRACTION_TOOLS", "TEN_DISTRACTION_TOOLS", "ALL_TOOLS_AVAILABLE"),
    *("TOOL_NAME_SCRAMBLED", "TOOL_DESCRIPTION_SCRAMBLED", "ARG_DESCRIPTION_SCRAMBLED", "ARG_TYPE_SCRAMBLED"),
    *("MULTIPLE_USER_TURN", "SINGLE_USER_TURN", "INSUFFICIENT_INFORMATION", "STATE_DEPENDENCY"),
    *("SINGLE_TOOL_CALL", "MULTIPLE_TOOL_CALL", "CANONICALIZATION"),
}
"""The harness's own words for what scenarios are like: eight variants, and every category."""


@pytest.mark.parametrize("arm", ["none", "amd_arm"])
def test_every_scenario_reaches_one(arm, request):
    """Whatever its kind, with memory and without; the harness says itself which kinds there are."""
    arm = request.getfixturevalue(arm)
    assert arm.done.json["scored"] == dict.fromkeys(SCENARIOS, 1.0)
    assert (arm.done.json["infrastructure"], arm.done.json["left"]) == ({}, [])
    (summary,) = arm.run.rglob("result_summary.json")
    rows = json.loads(summary.read_bytes())["per_scenario_results"]
    assert {category for row in rows for category in row["categories"]} >= KINDS
    assert len({family(row["name"]) for row in rows}) >= 12


def hints_of(arm):
    """Every hint of an arm as (scenario, the tool message that it stands in, the row that the harness kept of it)."""
    return [
        (name, message, row)
        for name, talk in arm.talks.items()
        for message, row in talk.results
        if HINT in message["content"]
    ]


def test_there_are_parallel_calls_and_errors(none):
    """Otherwise nothing of the below is seen of them."""
    steps = [message for talk in none.talks.values() for message in talk.last if message.get("tool_calls")]
    assert sum(len(step["tool_calls"]) > 1 for step in steps) >= 3
    assert sum(row.tool_call_exception is not None for talk in none.talks.values() for row in talk.rows) >= 7


def test_the_memory_is_an_oracles_and_the_report_says_so(none, amd_arm, cli):
    """Both arms do the same, and what they were shown is counted; nothing of an own family."""
    done = cli("report", none.run, amd_arm.run, "--json")
    assert done.code == 0, done.err
    without, with_memory = done.json["runs"]
    assert without["success"] == with_memory["success"] == len(SCENARIOS)
    assert (without["memory_from"], with_memory["memory_from"]) == ([], [f"{AGENT} (oracle)"])
    for figure in ("calls", "failed_calls"):
        assert without["exposures"][figure] == with_memory["exposures"][figure] > 0
    assert with_memory["exposures"]["hints"] == len(hints_of(amd_arm))
    assert with_memory["exposures"]["own_family"] == without["exposures"]["hints"] == 0


def test_memory_is_seen_by_one_arms_agent_alone(none, amd_arm):
    """In its system message and behind results, never by the user, and never without memory."""
    assert "<memory" in json.dumps(bodies(amd_arm.server, AGENT))
    for server, model in ((none.server, AGENT), (none.server, USER), (amd_arm.server, USER)):
        asked = bodies(server, model)
        assert len(asked) >= len(SCENARIOS)
        assert "<memory" not in json.dumps(asked)
    roles = {role for talk in amd_arm.talks.values() for role, _ in talk.injected}
    assert roles == {"system", "tool"}


def test_nothing_of_a_memory_is_in_what_the_harness_keeps(amd_arm):
    """The log of what was shown stands beside the run; its trajectories hold none of it."""
    contexts = list(amd_arm.run.rglob("execution_context.json"))
    assert len(contexts) == len(SCENARIOS)
    for path in (*contexts, *amd_arm.run.rglob("conversation.json")):
        assert "<memory" not in path.read_text(encoding="utf-8")
    logs = [json.loads(path.read_bytes())["amd"] for path in (amd_arm.run / "exposures").glob("*.json")]
    assert {log["task_id"] for log in logs} == set(SCENARIOS)


@pytest.mark.parametrize("arm", ["none", "amd_arm"])
def test_without_what_memory_adds_the_agent_sees_the_harness_s_own_messages(arm, request):
    """C16: message by message as the harness kept them, and each request begins with the whole earlier one."""
    for talk in request.getfixturevalue(arm).talks.values():
        sent = [strip_memory(message["content"])[0] for message in talk.last if not message.get("tool_calls")]
        kept = [row.text for row in talk.rows if row.way != ("AGENT", "EXECUTION_ENVIRONMENT")]
        assert sent == kept[:-1]  # the last one is what the agent answers
        for earlier, later in zip(talk.requests, talk.requests[1:], strict=False):
            assert later["messages"][: len(earlier["messages"])] == earlier["messages"]
            assert later["tools"] == earlier["tools"]


def test_a_hint_stands_where_the_harness_recorded_an_exception_and_nowhere_else(none, amd_arm, answer_key):
    """C16, D19: both ways, for each call of each scenario; the harness's own words stand first, whole.

    A tool that no other family called has nothing to show: there is one here, and it is left without.
    """
    real = {shown: name for name, shown in answer_key[1].items()}
    called = {
        (real.get(message["name"], message["name"]), family(name))
        for name, talk in none.talks.items()
        for message, row in talk.results
        if row.tool_call_exception is None
    }
    bare = []
    for name, talk in amd_arm.talks.items():
        assert len(talk.results) == sum(row.way == ("EXECUTION_ENVIRONMENT", "AGENT") for row in talk.rows)
        for message, row in talk.results:
            tool = real.get(message["name"], message["name"])
            known = any(other == tool and of != family(name) for other, of in called)
            if row.tool_call_exception is not None and not known:
                bare.append(tool)
            assert (HINT in message["content"]) is (row.tool_call_exception is not None and known), (name, tool)
            assert message["content"].startswith(row.text)
    assert bare == ["set_location_service_status"]
    assert len(hints_of(amd_arm)) >= 6


def test_memory_names_no_tool_that_is_not_offered(amd_arm, answer_key):
    """Not by a real name and not by a scrambled one; with scrambled names it uses those that are shown."""
    known = {*answer_key[1], *answer_key[1].values()}
    named = {
        name: {word for _, text in talk.injected for word in re.findall(r"\w+", text)} & known
        for name, talk in amd_arm.talks.items()
    }
    for name, tools in named.items():
        assert tools <= amd_arm.talks[name].tools, name
    assert sum(bool(tools) for tools in named.values()) >= 8
    scrambled = [(name, message) for name, message, _ in hints_of(amd_arm) if name.endswith("tool_name_scrambled")]
    assert len(scrambled) >= 2
    for name, message in scrambled:
        assert message["name"] in named[name]
        assert message["name"] not in answer_key[1]


def test_no_scenario_of_1032_is_shown_its_own_family(memory):
    """Asked before the task and after an error of every tool; in-sample is the control."""
    command = [sys.executable, "-W", "ignore", HERE / "ask_all.py", memory, "self-excluded", "in-sample"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert told["self-excluded"]["scenarios"] == told["in-sample"]["scenarios"] == 1032
    assert told["self-excluded"]["own_family"] == 0
    assert told["in-sample"]["own_family"] >= 200
