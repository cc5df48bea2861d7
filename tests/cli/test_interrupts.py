"""A person stops a command, or closes what it writes to: one line or none, and nothing is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from amd.testing import LoopbackServer

AMD = (sys.executable, "-m", "amd")


@pytest.mark.parametrize("moment", ["embedding", "loading"])
def test_ctrl_c_is_one_line_and_exit_130(amd, runs, fields, tmp_path, moment):
    """While a service is slow, and while modules are loaded; the next build completes."""
    out = tmp_path / "m"
    with LoopbackServer(latency=20 if moment == "embedding" else 0) as server:
        build = (
            "build",
            "openai-chat",
            runs,
            *fields,
            "--out",
            out,
            "--embedder",
            "openai:stub",
            "--base-url",
            server.url,
        )
        process = subprocess.Popen([*AMD, *map(str, build)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if moment == "embedding":
            while not server.requests and process.poll() is None:
                time.sleep(0.01)
        else:
            time.sleep(0.15)
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=30)
    lines = [line for line in said.split("\n") if line]
    if moment == "embedding":
        assert (process.returncode, printed) == (130, "")
    # While Python itself starts, before any of our code runs, the interpreter answers on its own.
    assert process.returncode in (130, -signal.SIGINT)
    if process.returncode == 130:
        assert len(lines) == 1
        assert "interrupted" in lines[0]
    assert amd("build", "openai-chat", runs, *fields, "--out", out).code == 0


def test_a_closed_pipe_is_no_error(memory):
    """As with ``amd show | head -1``."""
    show = subprocess.Popen(
        [*AMD, "show", str(memory), "--limit", "500"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    show.stdout.close()
    assert show.wait(timeout=30) == 0
    assert b"Traceback" not in show.stderr.read()
    show.stderr.close()


def test_an_output_that_cannot_spell(memory):
    """Another encoding, or no output at all: what cannot be written is escaped or dropped, never a traceback."""
    show = [*AMD, "show", str(memory), "--tier", "workflow"]
    environment = {"PYTHONIOENCODING": "latin-1", "PATH": ""}
    done = subprocess.run(show, capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    closed = subprocess.run(["sh", "-c", f"{' '.join(show)} >&-"], capture_output=True, check=False)
    assert closed.returncode == 0
    assert b"Traceback" not in closed.stderr


def test_read_does_not_write_over_its_input(amd, runs, fields):
    """The file is what it was."""
    before = runs.read_bytes()
    found = amd("read", "openai-chat", runs, *fields, "--out", runs)
    assert found.code == 2
    assert "name another file" in found.err
    assert amd("read", "openai-chat", runs.parent, "--out", runs.parent / "new.jsonl").code == 2
    assert amd("read", "openai-chat", runs, "--out", "/").code == 2
    assert runs.read_bytes() == before
