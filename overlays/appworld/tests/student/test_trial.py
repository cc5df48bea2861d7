"""A task from its first request to its evaluation, in the garden's real server."""

from __future__ import annotations

import json
import socket
import time
from itertools import pairwise
from threading import Thread

import pytest
from greenhouse import TASKS, TRAIN, cell, instruction_of

from amd.errors import ClientError
from amd.testing import Fault
from amd_appworld.answers import EnvironmentGone
from amd_appworld.environment import Environment
from amd_appworld.playing import Limits
from amd_appworld.prompt import CUT_OFF, NO_CODE, ONE_BLOCK, SHOWN
from amd_appworld.run import Run
from amd_appworld.server import Server
from amd_appworld.trial import SharedDocs

LOGIN = 'token = apis.garden.login(username="a", password="b")["access_token"]'
WATER = 'print(apis.garden.water_bed(access_token=token, bed="roses"))'
DONE = "apis.supervisor.complete_task()"
TASK = TRAIN[0]


def lines_of(run, task_id, name="lm_calls.jsonl"):
    """The lines of one of a task's logs."""
    return [json.loads(line) for line in (run.tasks / task_id / "logs" / name).read_text().split("\n") if line]


def rows_of(run, task_id):
    """How many cells a task's log has."""
    return (run.tasks / task_id / "logs" / "environment_io.md").read_text().count("### Environment Interaction")


def test_the_scripted_student_is_right_everywhere(played):
    """Each task, and so each scenario; nothing is left."""
    found, _ = played()
    assert found.stands.success == dict.fromkeys(TRAIN, True)
    assert (found.stands.left, found.faults) == ((), {})
    assert {found.stands.endings[task].ended for task in TRAIN} == {"completed"}


def test_each_request_begins_with_the_whole_earlier_one(played, memory):
    """With memory too, hints and all."""
    _, asked = played(tasks=(TASK,), arm={"memory": str(memory)})
    assert len(asked) > 3
    assert any("<memory_hint>" in message["content"] for message in asked[-1])
    for before, after in pairwise(asked):
        assert after[: len(before)] == before


def test_without_a_memory_the_messages_are_those_of_a_memory_that_shows_nothing(played, memory):
    """Method none is the same loop."""
    nothing = {"memory": str(memory), "workflow_tokens": 0, "subtask_tokens": 0, "function_tokens": 0}
    _, none = played("none", tasks=(TASK,))
    _, shown = played("nothing", tasks=(TASK,), arm=nothing)
    _, some = played("some", tasks=(TASK,), arm={"memory": str(memory)})
    assert none == shown
    assert none != some


def test_the_replies_and_the_cells_stay_in_step(played):
    """A reply without code and one with a broken cell have a row of their own, the last one too."""
    replies = ["I think.", cell("print('"), cell(LOGIN), cell("x = (", "Last.")]
    found, asked = played(tasks=(TASK,), chat=replies, limits=Limits(max_steps=4))
    assert len(lines_of(found.run, TASK)) == rows_of(found.run, TASK) == 4
    assert asked[1][-1]["content"] == f"Output:\n```\nNo code available to execute.\n```\n{NO_CODE}"
    said = [line["output"]["choices"][0]["message"]["content"] for line in lines_of(found.run, TASK)]
    assert said == replies
    assert [line["input"]["messages"] for line in lines_of(found.run, TASK)] == asked
    assert found.stands.endings[TASK].ended == "max_steps"
    assert found.stands.success == {TASK: False}


def test_a_long_output_is_cut_for_the_model_alone(played):
    """Two megabytes: what is left out is said and counted; the log has all of it."""
    code = cell("print('b' * 2_000_000)")
    found, asked = played(tasks=(TASK,), chat=[code, cell(DONE)])
    shown = asked[1][-1]["content"]
    assert len(shown) < SHOWN + 200
    assert f"{2_000_001 - SHOWN} characters are left out here" in shown
    assert found.stands.endings[TASK].left_out == 2_000_001 - SHOWN
    assert (found.run.tasks / TASK / "logs" / "environment_io.md").stat().st_size > 2_000_000


def test_only_the_first_block_is_run_and_what_follows_is_not_kept(played):
    """An output that the model imagined is no part of what it reads later; that there were more blocks is said."""
    first = "One.\n```python\nprint(1)\n```\nOutput: 77\n```python\nprint(2)\n```"
    _, asked = played(tasks=(TASK,), chat=[first, cell(DONE)])
    assert asked[1][-2]["content"] == "One.\n```python\nprint(1)\n```"
    assert asked[1][-1]["content"] == f"Output:\n```\n1\n```\n{ONE_BLOCK}"


def test_a_reply_that_was_cut_off_is_not_run(played):
    """Half a cell may parse, and do half of what was meant."""
    reply = {"content": f"```python\n{LOGIN}\n", "finish_reason": "length"}
    found, asked = played(tasks=(TASK,), chat=[reply, cell(DONE)])
    assert CUT_OFF in asked[1][-1]["content"]
    assert lines_of(found.run, TASK, "api_calls.jsonl")[0]["url"] == "/supervisor/message"


def first_of(request):
    """Whether this is a task's first request to the model, and not the endpoint's probe."""
    return request.path.endswith("/completions") and len(request.body["messages"]) == 2


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_that_is_refused_ends_that_task_alone(played, player, status):
    """It is the student's zero: a prompt that became too long. The other task is played."""

    def chat(request):
        return player(request)

    def fault(request):
        messages = request.body["messages"] if request.path.endswith("/completions") else []
        mine = any(instruction_of(TASK) in str(each["content"]) for each in messages)
        return Fault(status, "maximum context length") if mine and len(messages) > 4 else None

    found, _ = played(tasks=TRAIN[:2], chat=chat, faults=fault)
    assert found.stands.endings[TASK].ended == "refused"
    assert found.stands.success == {TASK: False, TRAIN[1]: True}


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_model_that_answers_no_task_stops_the_run(played, root, status):
    """Three first requests in a row: nothing is scored, and the same command goes on."""
    asked = []

    def fault(request):
        asked.append(first_of(request))
        return Fault(status, "max_tokens is too large") if first_of(request) else None

    with pytest.raises(ClientError, match=r"3 tasks in a row were refused.*max_tokens is too large") as refused:
        played(faults=fault)
    assert (refused.value.status, refused.value.exit_code, sum(asked)) == (status, 3, 3)
    run = Run(root.experiment("run"))
    assert run.evaluations() == {}
    assert [run.ending(task) for task in TRAIN] == [None] * len(TRAIN)
    found, _ = played()
    assert found.stands.right == len(TRAIN)


def test_a_first_request_that_is_refused_is_no_zero(played):
    """That task has no result; the others count, and a task that is answered begins the row anew."""
    refused = [instruction_of(task) for task in (TASKS[0], TASKS[1], TASKS[3], TASKS[4])]

    def fault(request):
        return (
            Fault(400, "too long") if first_of(request) and any(each in str(request.body) for each in refused) else None
        )

    found, _ = played(tasks=TASKS, faults=fault)
    assert found.stands.success == {TASKS[2]: True, TASKS[5]: True}
    assert found.stands.left == (TASKS[0], TASKS[1], TASKS[3], TASKS[4]) == tuple(found.faults)
    assert "too long" in found.faults[TASKS[0]]


@pytest.mark.parametrize("status", [401, 404])
def test_a_service_that_refuses_everything_stops_the_run(played, player, root, status):
    """Nothing is scored; the same command goes on."""
    asked = []

    def fault(request):
        if request.path.endswith("/completions") and len(request.body["messages"]) > 1:
            asked.append(request)
        return Fault(status, "no") if len(asked) > 2 else None

    with pytest.raises(ClientError) as refused:
        played(faults=fault)
    assert refused.value.status == status
    assert Run(root.experiment("run")).evaluations() == {}
    found, _ = played()
    assert found.stands.left == ()


@pytest.mark.parametrize("missing", ["metadata.json", "evaluation.py"])
def test_without_ground_truth_a_task_is_unscored(played, root, missing):
    """It is played once, counted, and is neither right nor wrong."""
    truth = root.path / "data" / "tasks" / TASK / "ground_truth" / missing
    if missing == "metadata.json":
        truth.write_text('{"mode": "minimal"}')
    else:
        truth.unlink()
    found, _ = played(tasks=TRAIN[:2])
    assert found.stands.unscored == (TASK,)
    assert found.stands.success == {TRAIN[1]: True}
    assert found.stands.left == ()
    _, asked = played(tasks=TRAIN[:2])
    assert asked == []


@pytest.mark.parametrize("word", ["die", "hang", "break"])
@pytest.mark.parametrize("times", [1, 2])
def test_a_world_that_breaks_is_begun_anew_once(played, root, servers_of, monkeypatch, word, times):
    """The second time it is infrastructure: no zero, and the same command plays it again."""
    monkeypatch.setattr("amd_appworld.environment._GRACE", 0.5)
    (root.path / "misbehaves").write_text("x\n" * times)
    replies = {0: cell(LOGIN), 2: cell(f"{WATER} #{word}"), 4: cell(DONE)}

    def chat(request):
        return replies[len(request["messages"]) - 2]

    limits = Limits(cell_timeout=1)
    found, asked = played(tasks=(TASK,), chat=chat, limits=limits)
    assert len(asked) == (5 if times == 1 else 4)
    assert (found.run.path / "server-1.log").read_text().count("started") == 2
    if times == 1:
        assert (found.stands.success, found.faults) == ({TASK: True}, {})
    else:
        assert (found.stands.success, found.stands.left, [*found.faults]) == ({}, (TASK,), [TASK])
        assert "execute" in found.faults[TASK]
        again, _ = played(tasks=(TASK,), chat=chat, limits=limits)
        assert again.stands.success == {TASK: True}
    assert servers_of(root) == []


def test_an_evaluation_that_fails_is_no_zero(played, root):
    """The task is not played a second time for it, and has no result."""
    (root.path / "data" / "tasks" / TASK / "unfair").touch()
    found, asked = played(tasks=(TASK,))
    assert "answered evaluate with 500" in found.faults[TASK]
    assert "the evaluation is broken" in found.faults[TASK]
    assert found.stands.left == (TASK,)
    assert sum(len(messages) == 2 for messages in asked) == 1


@pytest.mark.parametrize("times", [1, 2])
def test_a_server_that_dies_in_an_evaluation_is_a_world_that_breaks(played, root, times):
    """The task is played anew, once: the evaluation needs its world."""
    (root.path / "data" / "tasks" / TASK / "deaths").write_text("x\n" * times)
    found, asked = played(tasks=(TASK,))
    assert sum(len(messages) == 2 for messages in asked) == 2
    assert found.stands.success == ({TASK: True} if times == 1 else {})
    assert [*found.faults] == ([] if times == 1 else [TASK])


def test_nothing_behind_an_evaluation_takes_its_result(played):
    """The next world ends the one before it; a server that cannot close one, as the garden's, is not asked to."""
    found, _ = played(tasks=TRAIN[:2])
    assert (found.stands.success, found.faults) == (dict.fromkeys(TRAIN[:2], True), {})


def test_data_of_another_version_gives_no_result(played, root):
    """Each world answers with an error, what it says is told, and after three of them nothing more is tried."""
    version = root.path / "data" / "version.txt"
    version.write_text("0.0.9")
    found, asked = played(tasks=TASKS)
    assert (found.stands.success, asked) == ({}, [])
    assert [*found.faults] == [*TASKS[:3]]
    assert "answered initialize with 500" in found.faults[TASKS[0]]
    assert "version of the task (0.0.9) is not compatible" in found.faults[TASKS[0]]
    assert found.stands.left == TASKS
    version.unlink()
    assert played(tasks=TASKS)[0].stands.right == len(TASKS)


def test_a_bad_server_ends_its_own_worker_alone(played, root, player):
    """The other one plays what is left; what broke has no result, and all are counted as through."""
    (root.path / "bad_servers").write_text("server-1.log")
    log, told = root.experiment("run") / "server-1.log", []

    def chat(request):
        until = time.monotonic() + 30
        while log.read_text().count("started") < 6 and time.monotonic() < until:  # three tasks, two worlds each
            time.sleep(0.05)
        time.sleep(0.2)
        return player(request)

    def progress(*words):
        told.append(words)

    found, _ = played(tasks=TASKS, chat=chat, workers=2, progress=progress)
    assert len(found.faults) == 3
    assert found.stands.left == tuple(task for task in TASKS if task in found.faults)
    assert found.stands.right == 3
    assert told[-1] == ("tasks", len(TASKS), len(TASKS))


def test_a_server_that_hangs_over_the_documents_holds_nobody_else(root, python, tmp_path):
    """Each worker asks its own server until one has been told."""
    docs, server = SharedDocs(), Server(root.path, python, tmp_path / "server.log")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hung = Environment(f"http://127.0.0.1:{silent.getsockname()[1]}", wait=5.0)
        failures = []

        def ask():
            try:
                docs.of(hung)
            except EnvironmentGone as failure:
                failures.append(failure)

        thread = Thread(target=ask)
        thread.start()
        connection, _ = silent.accept()
        environment = Environment(server.start())
        try:
            assert docs.of(environment).apps
            assert failures == []
            assert docs.of(hung) is docs.of(environment)
        finally:
            connection.close()
            thread.join()
            environment.close()
            hung.close()
            server.stop()
    assert len(failures) == 1


def test_two_workers_have_a_world_each(played, root, servers_of):
    """Two servers, each with its log; the tasks do not meet."""
    found, _ = played(workers=2)
    assert found.stands.right == len(TRAIN)
    assert {path.name for path in found.run.path.glob("server-*.log")} == {"server-1.log", "server-2.log"}
    assert servers_of(root) == []
