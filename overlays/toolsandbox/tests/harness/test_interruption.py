"""Runs that do not come to their end in the real harness: a service that fails, a kill, a name that is not there."""

from __future__ import annotations

import signal

from amd.testing import Fault

SCENARIOS = ("cellular_off", "wifi_off", "wifi_off_all_tools", "turn_on_wifi_low_battery_mode")
NONE = ("--method", "none")


def test_a_service_that_fails_is_no_score_and_the_same_command_goes_on(cli, served, play_words, tmp_path):
    """Dead before the start: nothing is played. Dead half-way: told apart, exit code 3, and played again later."""
    run = tmp_path / "run"
    done = cli(*play_words("http://127.0.0.1:9/v1", run, SCENARIOS[:2], *NONE))
    assert done.code == 3
    assert not list(run.glob("agent_*"))
    calls = iter(range(10_000))
    with served(faults=lambda request: Fault(500) if request.method == "POST" and next(calls) > 4 else None) as server:
        done = cli(*play_words(server, run, SCENARIOS[:2], *NONE))
    assert done.code == 3, done.err
    assert len(done.json["scored"]) == len(done.json["infrastructure"]) == 1
    with served() as server:
        done = cli(*play_words(server, run, SCENARIOS[:2], *NONE))
    assert done.code == 0, done.err
    assert done.json["scored"] == dict.fromkeys(SCENARIOS[:2], 1.0)


def test_a_killed_run_keeps_what_was_finished(start, cli, served, play_words, wait_for, tmp_path):
    """The harness writes scores at the very end: what was finished is scored again and not played again."""
    words = play_words("", tmp_path / "run", SCENARIOS, *NONE)
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
    assert done.json["scored"] == dict.fromkeys(SCENARIOS, 1.0)
    played = [path.name for path in max((tmp_path / "run").glob("agent_*")).glob("trajectories/*")]
    assert len(played) == len(SCENARIOS) - finished


def test_a_name_that_the_harness_does_not_have(cli, served, play_words, tmp_path):
    """One line with the nearest names."""
    with served() as server:
        done = cli(*play_words(server, tmp_path / "run", ["wifi_of"], *NONE))
    assert done.code == 2
    assert "wifi_off" in done.last
