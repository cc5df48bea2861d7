"""What stands around the harness: a git, a log, and somebody who looks how far it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import pytest

from amd_toolsandbox.surroundings import git_on_path, watched


def test_a_git_stands_in_where_there_is_none(tmp_path, monkeypatch):
    """It fails as git does outside a repository, prints nothing, and is gone afterwards."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("git") is None
    with git_on_path():
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    assert shutil.which("git") is None
    assert os.environ["PATH"] == str(tmp_path)


def test_a_git_that_is_there_is_used(tmp_path, monkeypatch):
    """Nothing is put before it."""
    own = tmp_path / "git"
    own.write_text("#!/bin/sh\necho abc\n")
    own.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with git_on_path():
        assert shutil.which("git") == str(own)


PRINT = """
import subprocess, sys
from pathlib import Path
from amd_toolsandbox.surroundings import output_in

before = len([*Path("/dev/fd").iterdir()])
print("a")
try:
    with output_in(Path(sys.argv[1])):
        print("out")
        print("err", file=sys.stderr)
        child = "import sys; print('child'); print('error', file=sys.stderr)"
        subprocess.run([sys.executable, "-c", child], check=True)
        if len(sys.argv) > 2:
            raise KeyboardInterrupt
except KeyboardInterrupt:
    print("interrupted", file=sys.stderr)
print("b", len([*Path("/dev/fd").iterdir()]) - before)
"""


@pytest.mark.parametrize("interrupted", [False, True])
def test_everything_that_is_printed_goes_to_the_log(tmp_path, interrupted):
    """This process's output and its children's, both kinds; before and after it is the terminal's, after errors too."""
    log = tmp_path / "harness.log"
    log.write_text("before\n")
    words = [sys.executable, "-c", PRINT, str(log), *(["x"] if interrupted else [])]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("a\nb 0\n", "interrupted\n" if interrupted else "")
    assert sorted(log.read_text().split()) == ["before", "child", "err", "error", "out"]


def test_progress_counts_what_has_ended_since(tmp_path):
    """Scenarios of an earlier time are not counted; whoever watches is gone at the end."""

    def end(scenario):
        folder = tmp_path / "agent_a_user_u" / "trajectories" / scenario
        folder.mkdir(parents=True)
        (folder / "execution_context.json").touch()

    said = []
    end("earlier")
    with watched(tmp_path, 2, lambda *words: said.append(words)):
        end("one")
        until = time.monotonic() + 10
        while not said and time.monotonic() < until:
            time.sleep(0.05)
    assert said[0] == ("scenarios", 1, 2)
    count = len(said)
    time.sleep(1.2)
    assert len(said) == count
