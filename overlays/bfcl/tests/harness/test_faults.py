"""What a run survives: dead and dying servers, kills, other people's settings, names, and students that misbehave."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import time

import pytest

from amd.testing import Fault
from amd.traces import Trajectory, load_reader
from amd_bfcl.lines import read_lines
from amd_bfcl.slips import Slip

TASKS = [f"multi_turn_base_{index}" for index in (0, 1, 2, 3)]


@pytest.fixture
def generate(cli, tmp_path):
    """Runs four tasks without memory into a folder, against a server."""

    def run(server, *more, out="run", ids=TASKS, **environment):
        url = server if isinstance(server, str) else server.url
        return cli(
            *("generate", "--out", tmp_path / out, "--model", "student", "--method", "none", "--json"),
            *("--base-url", url, "--ids", ",".join(ids), *more),
            **environment,
        )

    return run


def test_a_dead_server_is_told_before_the_first_task(generate, tmp_path, lines_of):
    """Exit code 3, one line, and no result that looks like a wrong answer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    done = generate(url)
    assert done.code == 3
    assert url in done.last
    assert "Traceback" not in done.err
    assert lines_of(tmp_path / "run") == {}


def test_a_model_that_is_not_served_is_told_before_the_first_task(generate, served):
    """The message names what is there."""
    with served() as server:
        done = generate(server, "--model", "qwen3-4b")
    assert done.code == 3
    assert "student" in done.last
    assert "qwen3-4b" in done.last


def test_a_server_that_dies_half_way_stops_the_run_and_the_same_command_goes_on(generate, served, tmp_path, lines_of):
    """No error line is written for what the student never answered; finished tasks are not asked again."""

    class Dies:
        requests = 0

        def __call__(self, request):
            self.requests += request.method == "POST"
            return Fault(cut=True) if self.requests > 30 else None

    with served(faults=Dies()) as server:
        done = generate(server)
    assert done.code == 3, done.err
    assert "run the same command again" in done.last
    first = lines_of(tmp_path / "run")
    assert 0 < len(first) < len(TASKS)
    assert not [line for line in first.values() if isinstance(line["result"], str)]
    with served() as server:
        done = generate(server)
        again = sum(request.method == "POST" for request in server.requests)
    assert done.code == 0, done.err
    lines = lines_of(tmp_path / "run")
    assert sorted(lines) == TASKS
    assert {task: lines[task] for task in first} == first
    with served() as server:
        assert generate(server, out="other").code == 0
        assert again < sum(request.method == "POST" for request in server.requests)


def test_a_slow_server_is_given_up_after_three_tasks(generate, served, tmp_path, lines_of):
    """Two tasks time out and say so, the third ends the run; retry redoes them, evaluate refuses until then."""
    slow = lambda request: Fault(delay=0.8) if request.method == "POST" else None  # noqa: E731
    with served(faults=slow) as server:
        done = generate(server, "--timeout", "0.2")
    assert done.code == 3
    assert "timed out" in done.last.lower()
    assert len(lines_of(tmp_path / "run")) == 2


def test_an_inference_error_is_no_answer(generate, cli, served, tmp_path, lines_of):
    """A refused request leaves an error line: exit code 3, no score without asking; retry makes it good."""
    refused = iter([None] * 6 + [Fault(400, "the context is too long")])
    with served(faults=lambda request: next(refused, None) if request.method == "POST" else None) as server:
        done = generate(server)
    assert done.code == 3, done.err
    (failed,) = done.json["inference_errors"]
    assert failed in done.last
    assert "retry" in done.last
    run = tmp_path / "run"
    scored = cli("evaluate", run, "--json")
    assert scored.code == 3
    assert "retry" in scored.last
    counted = cli("evaluate", run, "--json", "--count-errors")
    assert counted.json["scores"]["multi_turn_base"] == {"correct": 3, "total": 4}
    assert cli("report", run, "--json").json["runs"][0]["inference_errors"] == 1
    with served() as server:
        # The same command leaves the error alone, as the harness does, and says so again.
        assert generate(server).code == 3
        done = cli("retry", run, "--base-url", server.url, "--json")
    assert done.code == 0, done.err
    assert done.json["inference_errors"] == []
    assert "too long" in (run / "inference-errors.jsonl").read_text(encoding="utf-8")
    report = cli("report", run, "--json").json["runs"][0]
    assert cli("evaluate", run, "--json").json["scores"]["multi_turn_base"] == {"correct": 4, "total": 4}
    assert report["inference_errors"] == 0


def test_a_server_that_cannot_read_a_student_s_call_back_fails_that_task_alone(generate, served, tmp_path, lines_of):
    """Some servers answer 500 to a history with a broken call: however many tasks that spoils, the run goes on."""
    slips = {task: [Slip("broken")] for task in TASKS}

    def cannot_read(request):
        calls = [
            call for message in (request.body or {}).get("messages", []) for call in message.get("tool_calls") or ()
        ]
        return Fault(500) if any(not call["function"]["arguments"].endswith("}") for call in calls) else None

    with served(slips, faults=cannot_read) as server:
        done = generate(server)
    assert done.code == 3
    assert sorted(done.json["inference_errors"]) == sorted(lines_of(tmp_path / "run")) == TASKS
    assert "--count-errors" in done.last


def test_a_killed_run_goes_on_with_all_that_was_finished(start, generate, served, tmp_path, lines_of):
    """SIGKILL at several moments; what had an answer is never asked again, whatever the harness was writing."""
    arguments = ("generate", "--out", tmp_path / "run", "--model", "student", "--method", "none")
    kept = {}
    for _ in range(3):
        with served(latency=0.05) as server:
            process = start(*arguments, "--base-url", server.url, "--ids", ",".join(TASKS))
            wanted, until = len(kept) + 1, time.monotonic() + 60
            journal = tmp_path / "run" / "journal.jsonl"
            while time.monotonic() < until and process.poll() is None:
                if len(read_lines(journal)[0]) >= wanted:
                    break
                time.sleep(0.01)
            process.kill()
            process.communicate()
        result = next(iter((tmp_path / "run").glob("result/*/*/*.json")), None)
        if result is not None:
            # And the worst moment: the file was opened to be written anew, and nothing was written yet.
            result.write_bytes(b'{"id": "multi_turn_b')
        kept |= {line["id"]: line for line in read_lines(journal)[0]}
    assert kept
    with served() as server:
        done = generate(server)
    assert done.code == 0, done.err
    lines = lines_of(tmp_path / "run")
    assert sorted(lines) == TASKS
    assert {task: lines[task] for task in kept} == kept
    assert not (tmp_path / "run" / "journal.jsonl").exists()


def test_an_env_file_does_not_take_the_student_elsewhere(generate, served, tmp_path):
    """What is typed comes before .env, which comes before the shell, as the harness has it; the key may be in .env."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".env").write_text("OPENAI_BASE_URL=http://127.0.0.1:9/v1\nOPENAI_API_KEY=from-the-file\n")
    with served(key="from-the-file") as server:
        done = generate(server, ids=TASKS[:1], OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_API_KEY="from-the-shell")
    assert done.code == 0, done.err


def test_another_arm_cannot_go_on_in_a_run(generate, served):
    """One run directory is one arm; the difference is named."""
    with served() as server:
        assert generate(server, ids=TASKS[:1]).code == 0
        done = generate(server, "--temperature", "0.7", ids=TASKS[:1])
        assert done.code == 2
        assert "--temperature" in done.last
        assert generate(server, "--threads", "2", ids=TASKS[:1]).code == 0


@pytest.mark.parametrize("model", ["my_model:awq", "0-shot/FC_model", "student"])
@pytest.mark.parametrize("calling", ["fc", "prompting"])
def test_a_model_may_be_called_anything(cli, oracle, tmp_path, model, calling):
    """``_``, ``:``, ``/``, a digit first, ``FC`` in a prompting student's name: run, evaluated and right."""
    from amd.testing import LoopbackServer
    from amd_bfcl.player import Player

    with LoopbackServer(chat=Player(oracle()), models=(model,)) as server:
        done = cli(
            *("generate", "--out", tmp_path / "run", "--model", model, "--calling", calling, "--method", "none"),
            *("--base-url", server.url, "--ids", TASKS[0]),
        )
        assert done.code == 0, done.err
        assert {request.body["model"] for request in server.requests if request.body} == {model}
    done = cli("evaluate", tmp_path / "run", "--json")
    assert done.code == 0, done.err
    assert done.json["scores"] == {"multi_turn_base": {"correct": 1, "total": 1}}


def test_students_that_misbehave_end_their_turn_and_not_the_run(generate, cli, served, tmp_path, lines_of):
    """Arguments that are no JSON, a turn that never ends, parallel calls of which one fails: each is one outcome."""
    slips = {TASKS[0]: [Slip("broken")], TASKS[1]: [Slip("endless")], TASKS[2]: [Slip("parallel")]}
    with served(slips) as server:
        done = generate(server, "--threads", "4")
    assert done.code == 0, done.err
    lines = lines_of(tmp_path / "run")
    assert "forced to quit" in json.dumps(lines[TASKS[1]])
    assert lines[TASKS[2]]["amd"]["failed_calls"] == 1
    assert cli("evaluate", tmp_path / "run", "--json").json["scores"]["multi_turn_base"] == {"correct": 2, "total": 4}


def test_two_commands_do_not_share_a_run(start, generate, served, tmp_path):
    """The second one is refused in one line, and the first one ends well."""
    with served(latency=0.2) as server:
        process = start(
            *("generate", "--out", tmp_path / "run", "--model", "student", "--method", "none"),
            *("--base-url", server.url, "--ids", TASKS[0]),
        )
        until = time.monotonic() + 60
        while not server.requests and time.monotonic() < until:
            time.sleep(0.02)
        done = generate(server, ids=TASKS[:1])
        _, err = process.communicate(timeout=60)
    assert done.code == 2
    assert "another command" in done.last
    assert process.returncode == 0, err


@pytest.mark.parametrize("threads", [1, 4])
def test_an_interrupt_is_told_and_the_same_command_goes_on(start, generate, served, tmp_path, lines_of, threads):
    """Ctrl-C while tasks run: exit code 130, never 0; what was finished is kept."""
    arguments = ("generate", "--out", tmp_path / "run", "--model", "student", "--method", "none", "--threads", threads)
    with served(latency=0.1) as server:
        process = start(*arguments, "--base-url", server.url, "--ids", ",".join(TASKS))
        journal, until = tmp_path / "run" / "journal.jsonl", time.monotonic() + 60
        while not read_lines(journal)[0] and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    # Python ends by the signal itself where it was inside an eval; a shell says 130 for both.
    assert process.returncode in (130, -signal.SIGINT), err
    with served() as server:
        assert generate(server).code == 0
    assert sorted(lines_of(tmp_path / "run")) == TASKS


def test_an_evaluation_that_wrote_no_score_shows_none(generate, cli, served, tmp_path):
    """An old score file is never taken for a new one: it is gone before the evaluator begins."""
    with served() as server:
        assert generate(server).code == 0
    assert cli("evaluate", tmp_path / "run").code == 0
    score = next((tmp_path / "run").glob("score/*/*/*_score.json"))
    score.write_text('{"accuracy": 0.25, "correct_count": 1, "total_count": 4}\n')
    assert cli("evaluate", tmp_path / "run", "--json").json["scores"]["multi_turn_base"]["correct"] == 4
    score.unlink()
    score.mkdir()  # where nobody can write a file
    done = cli("evaluate", tmp_path / "run", "--json")
    assert done.code != 0
    assert not done.out


def test_a_run_grows_and_never_shrinks(generate, served, tmp_path, lines_of):
    """More tasks of the same arm may be added; fewer would leave lines that nobody asks for."""
    with served() as server:
        assert generate(server, ids=TASKS[:1]).code == 0
        assert generate(server, ids=TASKS[:3]).code == 0
        done = generate(server, ids=TASKS[:2])
    assert done.code == 2
    assert "begun with 3 tasks" in done.last
    assert sorted(lines_of(tmp_path / "run")) == TASKS[:3]


def test_the_answer_key_is_nobody_s_teacher(generate, cli, served, tmp_path):
    """What ``play`` served is read back as oracle, whatever the options say; any other model is a teacher (control)."""
    for model, kind in (("bfcl-oracle", "oracle"), ("student", "teacher")):
        with served(model=model) as server:
            assert generate(server, "--model", model, out=model).code == 0
        assert cli("evaluate", tmp_path / model).code == 0
        reader = load_reader("bfcl")
        runs = [run for run in reader.read([tmp_path / model], reader.options()) if isinstance(run, Trajectory)]
        assert {(run.source.kind, run.source.teacher) for run in runs} == {(kind, model)}


def test_runs_that_cannot_be_compared_are_told(generate, cli, served, tmp_path):
    """Other tasks, another calling: one loud line; alike runs get none (control)."""
    with served() as server:
        for out, more in (("a", ()), ("b", ()), ("c", ("--calling", "prompting"))):
            assert generate(server, *more, out=out, ids=TASKS[:2]).code == 0
        assert generate(server, out="d", ids=TASKS[:1]).code == 0
    assert "NOT COMPARABLE" not in cli("report", tmp_path / "a", tmp_path / "b").err
    done = cli("report", tmp_path / "a", tmp_path / "c", tmp_path / "d")
    assert done.code == 0
    assert "calling 'fc' and 'prompting'" in done.err
    assert "1 tasks that only one of them" in done.err


def test_new_lines_make_an_old_score_worthless(generate, cli, served, tmp_path):
    """Results that were lost and made again by a student that fails are not right because the old ones were."""
    run = tmp_path / "run"
    with served() as server:
        assert generate(server).code == 0
    assert cli("evaluate", run, "--json").json["scores"]["multi_turn_base"]["correct"] == 4
    shutil.rmtree(run / "result")
    with served({task: [Slip("broken")] for task in TASKS}) as server:
        assert generate(server).code == 0
    assert cli("report", run, "--json").json["runs"][0]["scores"] == {}
    reader = load_reader("bfcl")
    runs = [item for item in reader.read([run], reader.options()) if isinstance(item, Trajectory)]
    assert {item.outcome.success for item in runs} == {None}
    assert cli("evaluate", run, "--json").json["scores"]["multi_turn_base"]["correct"] == 0


def test_a_killed_arm_is_not_gone_on_with_by_another(start, generate, served, tmp_path):
    """The journal of a killed run may have lines before there is any result file: they are of that arm alone."""
    arguments = ("generate", "--out", tmp_path / "run", "--model", "student", "--method", "none", "--name", "n-FC")
    journal = tmp_path / "run" / "journal.jsonl"
    for _ in range(5):
        with served() as server:
            process = start(*arguments, "--base-url", server.url, "--ids", ",".join(TASKS))
            until = time.monotonic() + 60
            while not read_lines(journal)[0] and time.monotonic() < until:
                time.sleep(0.001)
            process.kill()
            process.communicate()
    assert read_lines(journal)[0]
    shutil.rmtree(tmp_path / "run" / "result", ignore_errors=True)
    with served(model="other") as server:
        done = generate(server, "--model", "other", "--name", "n-FC")
        assert done.code == 2
        assert "model: 'student', not 'other'" in done.last
        assert server.requests == []
    with served() as server:
        assert generate(server, "--name", "n-FC").code == 0


def test_one_task_that_the_service_cannot_serve_does_not_block_the_others(generate, cli, served, tmp_path):
    """A content filter, a cut connection for one task alone: an error line for it, and results for the rest."""
    poisoned = "multi_turn_base_1"

    for out, fault in (("filter", Fault(403)), ("cut", Fault(cut=True))):
        with served() as calm:
            assert generate(calm, out=f"{out}-calm", ids=[poisoned]).code == 0
            words = next(request for request in calm.requests if request.body).body["messages"][0]["content"]

        def spoils(request, words=words, fault=fault):
            messages = (request.body or {}).get("messages") or [{}]
            return fault if messages[0].get("content") == words else None

        with served(faults=spoils) as server:
            done = generate(server, out=out)
        assert done.code == 3
        assert done.json["inference_errors"] == [poisoned]
        assert done.json["missing"] == []


def test_a_student_is_not_waited_for_without_end(start, served, tmp_path):
    """A service that always says 429 is asked again for a while; a first Ctrl-C waits for it, a second does not."""
    with served(faults=lambda request: Fault(429) if request.method == "POST" else None) as server:
        process = start(
            *("generate", "--out", tmp_path / "run", "--model", "student", "--method", "none"),
            *("--base-url", server.url, "--ids", TASKS[0]),
        )
        until = time.monotonic() + 60
        while not any(request.method == "POST" for request in server.requests) and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, err = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT), err
    assert time.monotonic() - began < 5
    assert "Ctrl-C again" in err


def test_damaged_results_are_mended_or_told_before_they_are_scored(generate, cli, served, tmp_path):
    """A torn end, an empty line, a line twice, a byte order mark: cut, and the rest is scored; foreign ids are told."""
    run = tmp_path / "run"
    with served() as server:
        assert generate(server).code == 0
    path = next(run.glob("result/*/*/*_result.json"))
    whole = path.read_bytes()
    lines = whole.split(b"\n")
    for spoilt in (
        whole + lines[0][:40],
        b"\n\n" + whole,
        whole + lines[0] + b"\n",
        b"\xef\xbb\xbf" + whole,
        whole + b"\x00\n",
    ):
        path.write_bytes(spoilt)
        done = cli("evaluate", run, "--partial", "--json")
        assert done.code == 0, done.err
        assert done.json["scores"]["multi_turn_base"]["correct"] >= 3
    path.write_bytes(whole + lines[0].replace(b"multi_turn_base_0", b"multi_turn_base_9") + b"\n")
    for content in (path.read_bytes(), b"", b"[" * 100_000):
        path.write_bytes(content)
        done = cli("evaluate", run, "--partial")
        assert done.code == 2
        assert "Traceback" not in done.err
        assert len(done.err.strip().split("\n")) == 1
    path.write_bytes(whole)
    (run / "score" / "somebody-else").mkdir(parents=True)
    assert "somebody-else" in cli("evaluate", run).last
