"""What the server's process runs, with a stand-in for uvicorn: AppWorld's environment is not needed here."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import pytest

from amd_appworld import serving

UVICORN = """
import sys

class Config:
    def __init__(self, application, **options):
        print("config", application, options, flush=True)

class Server:
    def __init__(self, config):
        import code  # the standard library's, though a file beside ours has its name
        print("code", hasattr(code, "InteractiveConsole"), "stdin", repr(sys.stdin.read()), flush=True)

    def run(self, sockets):
        (listening,) = sockets
        print("address", listening.getsockname()[0], flush=True)
        listening.listen()
        listening.accept()
        while True:  # as a cell that never ends
            pass
"""


@pytest.fixture
def begun(tmp_path):
    """Starts it; gives the process, its port and what it wrote to the log."""
    (tmp_path / "uvicorn.py").write_text(UVICORN)
    processes = []

    @contextmanager
    def start():
        log = tmp_path / "log"
        with log.open("wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-P", serving.__file__, "a:b"],
                env={**os.environ, "PYTHONPATH": str(tmp_path)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )
        processes.append(process)
        with process:
            yield process, int(process.stdout.readline()), log

    yield start
    for process in processes:
        process.kill()


def connected(port):
    """A connection, once somebody listens: the port is told before that."""
    for _ in range(500):
        with suppress(ConnectionRefusedError):
            return socket.create_connection(("127.0.0.1", port), timeout=10)
        time.sleep(0.02)
    raise AssertionError(port)


def test_it_listens_on_this_machine_alone_and_ends_with_its_parent(begun):
    """Though it is busy; what it prints goes to the log, and a cell that reads its input finds none."""
    with begun() as (process, port, log):
        connected(port).close()
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(10) == 1
        assert process.stdout.read() == b""
    said = log.read_text()
    assert "config a:b {'log_level': 'warning', 'access_log': False}" in said
    assert "code True stdin ''" in said
    assert "address 127.0.0.1" in said


def test_two_of_them_have_a_port_each(begun):
    """None is guessed, so that none is taken from another."""
    with begun() as (one, port, _), begun() as (other, other_port, _):
        assert port != other_port
        one.stdin.close()
        other.stdin.close()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone ends a process with its parent")
def test_a_process_that_cannot_listen_ends_with_its_parent():
    """One long call of C keeps every thread of Python's from working; the system itself ends it."""
    child = (
        "import sys; from amd_appworld import serving; serving._end_with_parent(); import os, time;"
        "os.write(1, b'%d\\n' % os.getpid()); time.sleep(60)"
    )
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        began = time.monotonic()
        process.kill()
        process.stdout.read()  # ends when the child, which writes there too, is gone
    assert pid > 0
    assert time.monotonic() - began < 30, "the child would have slept for a minute"
