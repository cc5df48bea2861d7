"""A person stops a command, or closes what it writes to: one line or none, and nothing is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from amd.testing import LoopbackServer

AMD = (sys.executable, "-m", "amd")


# Runs the command line, and presses Ctrl-C when a certain module is looked for.
PRESS = """
import signal, sys
from amd.__main__ import main

at, sys.argv[1:] = sys.argv[1], sys.argv[2:]

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == at:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Press())
main()
"""


def test_ctrl_c_is_one_line_and_exit_130(amd, runs, fields, tmp_path):
    """While a service is slow; the next build completes."""
    out = tmp_path / "m"
    with LoopbackServer(latency=20) as server:
        service = ("--embedder", "openai:stub", "--base-url", server.url)
        build = ("build", "openai-chat", runs, *fields, "--out", out, *service)
        process = subprocess.Popen([*AMD, *map(str, build)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not server.requests and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=30)
    lines = [line for line in said.split("\n") if line]
    assert (process.returncode, printed, len(lines)) == (130, "", 1)
    assert "interrupted" in lines[0]
    assert amd("build", "openai-chat", runs, *fields, "--out", out).code == 0


@pytest.mark.parametrize("module", ["amd.cli.app", "typer", "amd.build.pipeline"])
def test_ctrl_c_while_modules_load_is_one_line(module):
    """Exit code 130, no traceback, wherever it comes; without it the help is printed (the control)."""
    for pressed in (module, "no.such.module"):
        words = [sys.executable, "-c", PRESS, pressed, "build", "--help"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if pressed == module:
            assert (done.returncode, done.stdout) == (130, "")
            assert done.stderr.startswith("amd: interrupted")
            assert done.stderr.count("\n") == 1
        else:
            assert (done.returncode, done.stderr) == (0, "")
            assert "Usage: amd build" in done.stdout


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
