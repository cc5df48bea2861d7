"""The server's process: it starts, is watched, and is never left behind; and the client that asks it."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from greenhouse import TRAIN

from amd.errors import ConfigError
from amd_appworld import serving
from amd_appworld.answers import EnvironmentGone, EnvironmentRefused
from amd_appworld.environment import Environment
from amd_appworld.seat import Seat
from amd_appworld.server import Server

TASK = TRAIN[0]


@pytest.fixture
def server(root, python, tmp_path):
    """A server of the garden, stopped at the end."""
    made = Server(root.path, python, tmp_path / "server.log")
    yield made
    made.stop()


@pytest.fixture
def environment(server):
    """Its client."""
    made = Environment(server.start(), cell_timeout=1, grace=0.5)
    yield made
    made.close()


def interpreter(path, script):
    """An interpreter that is none."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def gone(pid):
    """Whether a process is no more, within seconds."""
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False


def test_a_server_starts_when_it_is_asked_for_and_ends_when_it_is_told(server):
    """Once; its address is on this machine alone."""
    assert server.pid is None
    url = server.start()
    pid = server.pid
    assert url.startswith("http://127.0.0.1:")
    assert os.getsid(pid) == pid  # Ctrl-C does not reach it
    assert (server.start(), server.pid) == (url, pid)
    server.stop()
    assert gone(pid)
    assert server.pid is None
    server.stop()


def test_a_server_that_died_is_started_again(server):
    """Another process; it answers."""
    server.start()
    first = server.pid
    os.kill(first, signal.SIGKILL)
    for _ in range(200):  # its threads may outlive it by a moment
        if server.pid is None:
            break
        time.sleep(0.02)
    environment = Environment(server.start())
    assert server.pid != first
    assert "garden" in environment.api_docs()
    environment.close()


@pytest.mark.parametrize("script", ["exit 3", "echo hello", "echo 'No module named uvicorn' >&2; exit 1"])
def test_an_interpreter_that_is_none_is_told_with_its_last_words(root, tmp_path, script):
    """Exit code 2, and where the log is."""
    server = Server(root.path, interpreter(tmp_path / "python", script), tmp_path / "server.log")
    with pytest.raises(ConfigError, match=r"server\.log") as refused:
        server.start()
    assert ("uvicorn" in str(refused.value)) == ("uvicorn" in script)
    assert server.pid is None


def test_an_interpreter_that_is_not_there_is_told(root, tmp_path):
    """Before anything is started."""
    with pytest.raises(ConfigError, match="setup_appworld"):
        Server(root.path, tmp_path / "no-python", tmp_path / "server.log").start()


def test_a_server_that_never_answers_is_gone(root, tmp_path):
    """It is ended, and not waited for without end."""
    script = f'exec {sys.executable} -c \'import socket,time; s=socket.socket(); s.bind(("127.0.0.1", 0)); '
    script += "print(s.getsockname()[1], flush=True); time.sleep(60)'"
    server = Server(root.path, interpreter(tmp_path / "python", script), tmp_path / "server.log", patience=0.3)
    with pytest.raises(EnvironmentGone, match=r"0\.3 seconds"):
        server.start()
    assert server.pid is None


@pytest.mark.parametrize("script", ["exec sleep 20", "sleep 20", "printf 12; exec sleep 20"])
def test_a_server_that_says_nothing_is_gone(root, tmp_path, script):
    """In the same time, though no address was told; also where something else holds its output open."""
    server = Server(root.path, interpreter(tmp_path / "python", script), tmp_path / "server.log", patience=0.3)
    begin = time.monotonic()
    with pytest.raises(EnvironmentGone, match=r"0\.3 seconds"):
        server.start()
    assert time.monotonic() - begin < 10
    assert server.pid is None


def test_a_server_ends_with_the_process_that_started_it(root, python, tmp_path):
    """Even if that one is killed, and cannot end anything."""
    code = (
        "import sys, time; from pathlib import Path; from amd_appworld.server import Server; "
        "s = Server(*map(Path, sys.argv[1:])); s.start(); print(s.pid, flush=True); time.sleep(60)"
    )
    words = [sys.executable, "-c", code, str(root.path), str(python), str(tmp_path / "server.log")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        parent.kill()
    assert gone(pid)


def test_keys_do_not_reach_the_process_in_which_cells_run(root, tmp_path, monkeypatch):
    """What it needs to run does."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    server = Server(root.path, interpreter(tmp_path / "python", f"env > {tmp_path}/env"), tmp_path / "server.log")
    with pytest.raises(ConfigError):
        server.start()
    seen = (tmp_path / "env").read_text()
    assert "sk-secret" not in seen
    assert f"APPWORLD_ROOT={root.path}" in seen
    assert "PATH=" in seen


def test_what_the_process_is_told_to_run(root, tmp_path):
    """Our file, without its folder on the path: there is a ``code.py`` beside it."""
    server = Server(root.path, interpreter(tmp_path / "python", f'echo "$@" > {tmp_path}/words'), tmp_path / "log")
    with pytest.raises(ConfigError):
        server.start()
    assert (tmp_path / "words").read_text().split() == ["-P", serving.__file__, "appworld.serve.environment:app"]


def test_a_proxy_of_the_machine_is_not_asked(root, python, tmp_path, monkeypatch):
    """The server is on this machine."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    server = Server(root.path, python, tmp_path / "server.log")
    environment = Environment(server.start())
    assert "garden" in environment.api_docs()
    environment.close()
    server.stop()


def test_a_world_from_its_begin_to_its_evaluation(environment, root):
    """All questions, in the order in which a task asks them."""
    briefing = environment.initialize(TASK, "run")
    assert (briefing.task_id, briefing.supervisor.first_name) == (TASK, "Ada")
    assert environment.execute(TASK, "print(40 + 2)") == "42\n"
    assert environment.execute(TASK, "") == "No code available to execute."
    assert not environment.completed(TASK)
    environment.execute(TASK, "apis.supervisor.complete_task()")
    assert environment.completed(TASK)
    environment.save_logs(TASK)
    verdict = environment.evaluate(TASK)
    assert (verdict.success, len(verdict.passes), len(verdict.failures)) == (False, 1, 1)
    assert verdict.model_dump()["difficulty"] == 1
    assert (root.experiment("run") / "tasks" / TASK / "evaluation" / "report.md").is_file()


def test_half_a_character_is_replaced(environment):
    """No JSON can carry it."""
    environment.initialize(TASK, "run")
    assert environment.execute(TASK, "print('\ud800')") == "\ufffd\n"


def test_an_error_of_the_server_is_told_apart_from_its_death(environment, root, server):
    """500 is refused, with what it said; no connection is gone."""
    with pytest.raises(EnvironmentRefused) as refused:
        environment.execute(TASK, "print(1)")
    assert (refused.value.status, refused.value.exit_code) == (500, 3)
    assert server.last_words() == "Exception: AppWorld has not been initialized."
    (root.path / "misbehaves").write_text("x\n")
    environment.initialize(TASK, "run")
    with pytest.raises(EnvironmentGone, match="execute"):
        environment.execute(TASK, "print(1) #die")
    with pytest.raises(EnvironmentGone):
        environment.initialize(TASK, "run")


def test_a_server_that_hangs_is_gone(environment, root):
    """After the cell's own limit and a while."""
    (root.path / "misbehaves").write_text("x\n")
    environment.initialize(TASK, "run")
    with pytest.raises(EnvironmentGone, match="Timeout"):
        environment.execute(TASK, "print(1) #hang")


def test_a_seat_gives_a_client_until_it_is_given_up(server):
    """After that it starts nothing any more."""
    seat = Seat(server)
    first = seat.environment()
    assert seat.environment() is first
    seat.reset()
    assert server.pid is None
    assert seat.environment() is not first
    seat.close()
    assert server.pid is None
    with pytest.raises(EnvironmentGone):
        seat.environment()
    seat.reset()
