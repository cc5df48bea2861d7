"""``python -m amd_appworld``: the help of its commands, their usage errors, and how they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from greenhouse import TRAIN, cell

from amd.cli.playing import serve_script
from amd.testing import Fault, LoopbackServer
from amd_appworld.exposures import ORACLE

COMMANDS = ("run", "report", "play")
MODEL = ("--model", ORACLE, "--base-url", "http://127.0.0.1:9/v1")
PATIENCE = 60


@pytest.fixture
def refused(told):
    """Runs a command that must be refused: one line on standard error, nothing on standard output."""

    def call(code, *arguments):
        found, out, err = told(*arguments)
        assert (found, out) == (code, "")
        assert err.count("\n") == 1
        assert err.startswith("amd_appworld: ")
        return err

    return call


@pytest.fixture
def words(root, python):
    """The words of a run of the garden."""

    def of(url, *more, experiment="run"):
        return (
            *("run", "--root", root.path, "--experiment", experiment, "--model", ORACLE, "--base-url", url),
            *("--appworld-python", python, *(more or ("--method", "none", "--dataset", "train"))),
        )

    return of


def test_the_help_lists_every_command(told):
    """On standard output, with exit code 0."""
    code, out, err = told("--help")
    assert (code, err) == (0, "")
    assert all(f"\n  {name} " in out for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_has_an_example(told, monkeypatch, command):
    """One line to copy, however narrow the terminal, and a word on each option."""
    monkeypatch.setenv("COLUMNS", "60")
    code, out, err = told(command, "--help")
    assert (code, err) == (0, "")
    examples = [line.strip() for line in out.split("\n") if line.strip().startswith("Example: ")]
    assert examples
    assert all(example.startswith(f"Example: python -m amd_appworld {command}") for example in examples)
    options = out.partition("Options:")[2].strip("\n").split("\n")
    undescribed = [
        line
        for line, after in zip(options, [*options[1:], ""], strict=True)
        if line.startswith("  -") and len(line.split("  ")) < 3 and not after.startswith("      ")
    ]
    assert undescribed == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no-such-command",), "no-such-command"),
        (("run", *MODEL), "--root"),
        (("run", "--root", "x", "--experiment", "e"), "--model"),
        (("run", "--root", "x", "--experiment", "e", *MODEL, "--workers", "0"), "workers"),
        (("run", "--root", "x", "--experiment", "e", *MODEL, "--max-steps", "0"), "max-steps"),
        (("run", "--root", "x", "--experiment", "e", *MODEL, "--no-such-option"), "--no-such-option"),
        (("report",), "RUN"),
        (("play",), "--root"),
        (("play", "--root", "x", "--port", "65536"), "port"),
    ],
)
def test_a_usage_error_is_one_line(refused, arguments, words):
    """Exit code 2, with the word that is wrong, or missing."""
    assert words in refused(2, *arguments)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--dataset", "train"), "--memory"),
        (("--method", "magic", "--dataset", "train"), "magic"),
        (("--method", "none", "--mode", "dynamic", "--dataset", "train"), "one turn"),
        (("--method", "none", "--mode", "sometimes", "--dataset", "train"), "mode"),
        (("--method", "none"), "--dataset"),
        (("--method", "none", "--dataset", "dev"), "'dev'"),
        (("--method", "none", "--tasks", "0a0a0a0_9"), "0a0a0a0_9"),
    ],
)
def test_a_wish_that_cannot_be_is_one_line(refused, root, options, said):
    """Before anything is written, asked or started."""
    assert said in refused(2, "run", "--root", root.path, "--experiment", "run", *MODEL, *options)
    assert not (root.path / "experiments").exists()


def test_a_service_that_is_not_there_is_one_line(refused, words):
    """Exit code 3."""
    assert "127.0.0.1:9" in refused(3, *words("http://127.0.0.1:9/v1"))


def test_an_interpreter_that_is_not_there_is_one_line(refused, words, player, tmp_path):
    """Exit code 2, and what makes it."""
    with serve_script(player, (ORACLE,)) as server:
        more = ("--method", "none", "--dataset", "train", "--appworld-python", tmp_path / "none")
        assert "setup_appworld" in refused(2, *words(server.url, *more))


def test_a_run_tells_how_it_stands(told, words, player, root):
    """By task and by scenario, and what comes next."""
    with serve_script(player, (ORACLE,)) as server:
        code, out, err = told(*words(server.url))
        assert (code, err) == (0, "")
        assert "4 of 4" in out
        assert "2 of 2 run whole" in out
        path = root.experiment("run")
        assert out.endswith(f"next: python -m amd_appworld report {path}\n")
        more = ("--method", "none", "-t", f"{TRAIN[0]},{TRAIN[1]}", "-t", TRAIN[2], "--limit", "3", "--json")
        value = json.loads(told(*words(server.url, *more, experiment="some"))[1])
        assert value["success"] == dict.fromkeys(TRAIN[:3], True)
        assert value["scenarios"] == {"whole": 1, "right": 1, "incomplete": 1}


def test_a_task_without_an_answer_ends_with_exit_code_3(told, words, player):
    """One is no zero, and three stop the run."""

    def fault(request):
        return Fault(400, "too large") if request.path.endswith("/completions") else None

    for tasks, said in (("0a0a0a0_1", "1 of 1 tasks were ended"), (",".join(TRAIN), "3 tasks in a row were refused")):
        with LoopbackServer(chat=player, models=(ORACLE,), faults=fault) as server:
            url = server.url
            code, _, err = told(*words(url, "--method", "none", "--tasks", tasks, experiment=f"run-{len(tasks)}"))
        assert code == 3
        assert said in err
        assert "too large" in err
        assert "no zero was counted" in err


def test_a_world_that_breaks_ends_with_exit_code_3(told, words, root):
    """How the run stands is printed all the same."""
    (root.path / "misbehaves").write_text("x\n" * 9)
    with LoopbackServer(chat=lambda _: cell("print(1) #die"), models=(ORACLE,)) as server:
        code, out, err = told(*words(server.url, "--method", "none", "--dataset", "train"))
    assert code == 3
    assert "3 of 4 tasks were ended by an environment server" in err
    assert "left to play" in out


def started(arguments):
    """A command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "amd_appworld", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def until(so):
    """Wait until something is so, or fail."""
    end = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_server_and_goes_on(words, player, root, servers_of, without_progress, end):
    """Ctrl-C is one line and 130; whatever ended it, the same command plays what is left."""
    with serve_script(player, (ORACLE,)) as server:
        slow = LoopbackServer(chat=player, models=(ORACLE,), latency=0.15)
        with slow, started(words(slow.url, "--method", "none", "--dataset", "train", "-w", "2")) as process:
            until(lambda: len(list(root.experiment("run").glob("exposures/*.json"))) >= 1)
            assert len(servers_of(root)) == 2
            os.kill(process.pid, end)
            _, err = process.communicate(timeout=PATIENCE)
        if end == signal.SIGINT:
            assert process.returncode == 130
            assert without_progress(err).count("\n") == 1
        else:
            assert process.returncode == -end
        until(lambda: servers_of(root) == [])
        with started(words(server.url)) as process:
            out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, without_progress(err)) == (0, "")
    assert "4 of 4" in out


def test_the_scripted_student_is_served_until_ctrl_c(root):
    """It names its address, and ends in peace; a port that is taken is one line."""
    with started(("play", "--root", root.path, "--port", "0")) as process:
        line = process.stdout.readline()
        assert f"serves the model {ORACLE!r}: the solutions of 6 tasks" in line
        port = line.partition(":")[2].partition("/v1")[0].rpartition(":")[2]
        with started(("play", "--root", root.path, "--port", port)) as other:
            _, err = other.communicate(timeout=PATIENCE)
        assert (other.returncode, err.count("\n")) == (2, 1)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "stopped\n", "")


def test_the_real_process_ends_with_the_code_of_its_error(tmp_path):
    """What ``main`` returns is what a shell sees, without a traceback."""
    for arguments, code in ((["--help"], 0), (["report", str(tmp_path / "nowhere")], 2)):
        with started(arguments) as process:
            out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == code
        assert "Traceback" not in err
        assert bool(out) == (code == 0)
