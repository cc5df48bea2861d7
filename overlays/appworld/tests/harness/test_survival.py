"""What a run must survive in real worlds: bad cells, worlds that die, and its own end."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from amd_appworld.interactions import read_interactions
from amd_appworld.oracle.player import Player
from amd_appworld.prompt import cell_of

PATIENCE = 120


def cell(code):
    """A reply with one cell."""
    return f"Next.\n```python\n{code}\n```"


def until(so):
    """Wait until something is so, or fail."""
    end = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_bad_cells_are_told_and_the_logs_stay_in_step(root, cli, served, words):
    """No code, fences, two megabytes, endless loops, a last syntax error: each reply has its row in AppWorld's log."""
    task = root.datasets["train"][0]
    replies = [
        "I think first.",
        cell("print('```')\nprint('### Environment Interaction 2')"),
        cell("print('b' * 2_000_000)"),
        cell("raise SystemExit"),
        cell("exit()"),
        cell("while True: pass"),
        cell("x = ("),
    ]

    def chat(request):
        return replies[(len(request["messages"]) - 2) // 2]

    with served(chat) as server:
        limits = ("--max-steps", str(len(replies)), "--cell-timeout", "4")
        done = cli(*words(server, "bad", "--method", "none", "--tasks", task, *limits))
        asked = server.requests[-1].body["messages"]
    assert (done.code, done.err) == (0, "")
    assert done.json["success"] == {task: False}
    logs = root.experiment("bad") / "tasks" / task / "logs"
    log = read_interactions((logs / "environment_io.md").read_text(), replies)
    assert [each.code for each in log.cells] == [found.code if (found := cell_of(reply)) else "" for reply in replies]
    assert len((logs / "lm_calls.jsonl").read_text().split("\n")) == len(replies) + 1
    outputs = [each["content"] for each in asked if each["role"] == "user"][1:]
    assert outputs[0].startswith("Output:\n```\nNo code available to execute.\n```\n")
    assert outputs[1].startswith("Output:\n````\n```\n")
    assert "characters are left out here" in outputs[2]
    assert "not allowed" in outputs[4]
    assert "timed out after 4 seconds" in outputs[5]


def test_a_cell_that_asks_without_end_is_told(root, cli, served, words):
    """At 1000 requests, which is AppWorld's own limit and long before the cell's time; the next cell may ask again."""
    task = root.datasets["train"][0]
    ask = "apis.supervisor.show_profile()"
    replies = [cell(f"for _ in range(1001): {ask}"), cell(f"for _ in range(3): print({ask}['first_name'])")]

    def chat(request):
        return replies[(len(request["messages"]) - 2) // 2]

    with served(chat) as server:
        limits = ("--max-steps", "2", "--cell-timeout", "100")
        done = cli(*words(server, "endless", "--method", "none", "--tasks", task, *limits))
    assert (done.code, done.err) == (0, "")
    logs = root.experiment("endless") / "tasks" / task / "logs"
    first, second = read_interactions((logs / "environment_io.md").read_text(), replies).cells
    assert "exceeded the limit of 1000" in first.output
    assert "Execution failed" not in second.output


def test_a_world_that_is_killed_is_begun_anew(root, cli, served, words, servers_of):
    """In the middle of a task: that task is played again from its begin, once, and is right."""
    task = root.datasets["train"][0]
    player = Player(root)
    killed = []

    def chat(request):
        if len(request["messages"]) > 4 and not killed:
            killed.extend(servers_of(root))
            os.kill(killed[0], signal.SIGKILL)
        return player(request)

    with served(chat) as server:
        done = cli(*words(server, "killed", "--method", "none", "--tasks", task))
    assert (done.code, done.err) == (0, "")
    assert len(killed) == 1
    assert done.json["success"] == {task: True}
    assert servers_of(root) == []


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_server_and_goes_on(
    root, start, cli, served, words, servers_of, without_progress, end
):
    """Ctrl-C is one line and 130; the same command plays what is left, and no task twice."""
    tasks = root.datasets["train"][:3]
    options = ("--method", "none", "--tasks", ",".join(tasks))
    name = f"ended-{end.name}"
    with served(latency=0.1) as server:
        process = start(*words(server, name, *options))
        until((root.experiment(name) / "evaluations" / "amd.json").exists)
        os.kill(process.pid, end)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == (130 if end == signal.SIGINT else -end)
    assert without_progress(err).count("\n") == (1 if end == signal.SIGINT else 0)
    until(lambda: servers_of(root) == [])
    before = json.loads((root.experiment(name) / "evaluations" / "amd.json").read_text())["individual"]
    with served() as server:
        done = cli(*words(server, name, *options))
        first = [request for request in server.requests if len((request.body or {}).get("messages", ())) == 2]
    assert done.json["success"] == dict.fromkeys(tasks, True)
    assert len(first) == len(tasks) - len(before)


def test_a_task_without_ground_truth_is_unscored(root, cli, served, words, tmp_path):
    """As with data that leaves it out: played, counted, neither right nor wrong."""
    data = root.path / "data"
    other = tmp_path / "root" / "data"
    (other / "tasks").mkdir(parents=True)
    for path in data.iterdir():
        if path.name != "tasks":
            (other / path.name).symlink_to(path.resolve())
    task = root.datasets["train"][0]
    (other / "tasks" / task).mkdir()
    for path in (data / "tasks" / task).iterdir():
        if path.name != "ground_truth":
            (other / "tasks" / task / path.name).symlink_to(path.resolve())
    with served() as server:
        asked = [*words(server, "untold", "--method", "none", "--tasks", task)]
        asked[asked.index("--root") + 1] = other.parent
        done = cli(*asked)
    assert (done.code, done.err) == (0, "")
    assert done.json["unscored"] == [task]
    assert done.json["success"] == {}
