"""Two arms in the real harness, scored by its own evaluator: what was sent, what was kept, what is reported."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import amd
from amd.testing import Fault
from amd_toolsandbox.teacher import reader

HERE = Path(__file__).parent
SCENARIOS = ("cellular_off", "wifi_off", "wifi_off_all_tools", "turn_on_wifi_low_battery_mode")


@pytest.fixture(scope="module")
def memory(cli, served, play_words, tmp_path_factory):
    """What an evaluated run without memory taught: built from the harness's own folder."""
    folder = tmp_path_factory.mktemp("teacher")
    with served() as server:
        assert cli(*play_words(server, folder / "run", SCENARIOS, "--method", "none")).code == 0
    runs = reader.read([folder / "run"], reader.options(success_score=0.4))
    report = amd.build_memory(runs, folder / "memory", embedder=amd.load_embedder("hash"))
    assert report.admitted >= 3
    return folder / "memory"


@pytest.fixture(scope="module")
def arms(cli, served, play_words, memory, tmp_path_factory):
    """Both arms over four scenarios, the one with memory in two processes: (folder, agent's requests of each arm)."""
    folder, sent = tmp_path_factory.mktemp("arms"), {}
    for method, more in (
        ("none", ()),
        ("amd", ("--memory", memory, "--protocol", "in-sample", "-p", "2")),
    ):
        with served() as server:
            done = cli(*play_words(server, folder / method, SCENARIOS, "--method", method, *more))
            sent[method] = [
                each.body for each in server.requests if each.method == "POST" and each.body["model"] == "agent"
            ]
        assert done.code == 0, done.err
        assert set(done.json["scored"]) == set(SCENARIOS)
        assert done.err == ""
    return folder, sent


def test_both_arms_do_the_same_and_the_report_says_so(arms, cli):
    """What was asked for is off, whatever the words score; IN-SAMPLE is said, calls and errors are counted."""
    folder, _ = arms
    done = cli("report", folder / "none", folder / "amd", "--success-score", "0.4", "--json")
    assert done.code == 0, done.err
    none, amd = done.json["runs"]
    assert none["success"] == amd["success"] >= 3
    assert none["similarity"] == amd["similarity"]
    assert none["exposures"]["failed_calls"] == amd["exposures"]["failed_calls"] >= 4
    assert none["exposures"]["hints"] == 0
    assert "IN-SAMPLE" in cli("report", folder / "amd").out


def test_memory_is_on_the_wire_of_one_arm_alone(arms):
    """In its system message and behind failed results; each request begins with the whole one before it."""
    _, sent = arms
    assert "<memory" not in json.dumps(sent["none"])
    talks = {}
    for body in sent["amd"]:
        tools = sorted(tool["function"]["name"] for tool in body["tools"])
        first = json.dumps([body["messages"][:2], tools])
        earlier = talks.setdefault(first, [])
        assert body["messages"][: len(earlier)] == earlier
        talks[first] = body["messages"]
    shown = [message for body in sent["amd"] for message in body["messages"] if "<memory" in str(message["content"])]
    assert {message["role"] for message in shown} <= {"system", "tool"}
    assert shown


def test_nothing_of_a_memory_is_in_what_the_harness_keeps(arms):
    """The log of what was shown stands beside the run; its trajectories hold none of it."""
    folder, _ = arms
    for path in (folder / "amd").rglob("execution_context.json"):
        assert "<memory" not in path.read_text(encoding="utf-8")
    logs = [json.loads(path.read_bytes())["amd"] for path in (folder / "amd" / "exposures").glob("*.json")]
    assert {log["task_id"] for log in logs} == set(SCENARIOS)


def test_no_scenario_of_1032_is_shown_its_own_family(memory):
    """Asked before the task and after an error of every tool; in-sample is the control."""
    command = [sys.executable, "-W", "ignore", HERE / "ask_all.py", memory, "self-excluded", "in-sample"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert told["self-excluded"]["scenarios"] == told["in-sample"]["scenarios"] == 1032
    assert told["self-excluded"]["own_family"] == 0
    assert told["in-sample"]["own_family"] >= 30


def test_a_service_that_fails_is_no_score_and_the_same_command_goes_on(cli, served, play_words, tmp_path):
    """Dead before the start: nothing is played. Dead half-way: told apart, exit code 3, and played again later."""
    words = ("--method", "none")
    done = cli(*play_words("http://127.0.0.1:9/v1", tmp_path / "run", SCENARIOS[:2], *words))
    assert done.code == 3
    assert not list((tmp_path / "run").glob("agent_*"))
    calls = iter(range(10_000))
    with served(faults=lambda request: Fault(500) if request.method == "POST" and next(calls) > 4 else None) as server:
        done = cli(*play_words(server, tmp_path / "run", SCENARIOS[:2], *words))
    assert done.code == 3, done.err
    assert len(done.json["scored"]) == len(done.json["infrastructure"]) == 1
    with served() as server:
        done = cli(*play_words(server, tmp_path / "run", SCENARIOS[:2], *words))
    assert done.code == 0, done.err
    assert set(done.json["scored"]) == set(SCENARIOS[:2])


def test_a_killed_run_keeps_what_was_finished(start, cli, served, play_words, wait_for, tmp_path):
    """The harness writes scores at the very end: what was finished is scored again and not played again."""
    words = play_words("", tmp_path / "run", SCENARIOS, "--method", "none")
    with served(latency=0.3) as server:
        process = start(*[server.url if word == "" else word for word in words])
        wait_for(lambda: list((tmp_path / "run").rglob("conversation.json")), process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    finished = len(list((tmp_path / "run").rglob("conversation.json")))
    assert cli("rescore", tmp_path / "run", "--json").json["rescored"] == finished
    with served() as server:
        done = cli(*[server.url if word == "" else word for word in words])
    assert done.code == 0, done.err
    assert set(done.json["scored"]) == set(SCENARIOS)
    played = [path.name for path in max((tmp_path / "run").glob("agent_*")).glob("trajectories/*")]
    assert len(played) == len(SCENARIOS) - finished


def test_a_name_that_the_harness_does_not_have(cli, served, play_words, tmp_path):
    """One line with the nearest names."""
    with served() as server:
        done = cli(*play_words(server, tmp_path / "run", ["wifi_of"], "--method", "none"))
    assert done.code == 2
    assert "wifi_off" in done.last
