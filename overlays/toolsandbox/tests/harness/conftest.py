"""What the tests in the real harness share: where it is, commands as processes, and scripted models with a server."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from amd.testing import LoopbackServer
from amd_toolsandbox.oracle.player import AGENT, USER, Player

# So that tests can import ``talks`` and ``slips``, which are part of no package.
sys.path.append(str(Path(__file__).parent))
from talks import SCENARIOS, Played, talks

HERE = Path(__file__).parent
PATIENCE = 240
PROGRESS = re.compile(r"^scenarios: \d+ of \d+, \d+ s\n", re.MULTILINE)
"""What a command says every half a minute where nobody watches: on a busy machine a run may last as long."""


def _missing() -> str:
    """Why the harness cannot be asked; empty if it can."""
    root = os.environ.get("TOOLSANDBOX_ROOT", "")
    if not root or not (Path(root) / "tool_sandbox").is_dir():
        return f"TOOLSANDBOX_ROOT names no clone of apple/ToolSandbox ({root or 'it is not set'}): make toolsandbox"
    if find_spec("tool_sandbox") is None:
        return "tool_sandbox cannot be imported here, only in the environment of its clone: make toolsandbox"
    return ""


def pytest_collection_modifyitems(items):
    """Mark the tests of this folder, and skip them without the harness, all with one line."""
    missing = _missing()
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.toolsandbox)
            if missing:
                item.add_marker(pytest.mark.skip(reason=missing))


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """What a command with ``--json`` printed."""
        return json.loads(self.out)

    @property
    def last(self):
        """The last line on standard error."""
        return self.err.strip().split("\n")[-1]


@pytest.fixture(scope="session")
def start():
    """Starts ``python -m amd_toolsandbox ARGUMENTS`` as a process of its own: no key, of nobody."""

    def begin(*arguments, module="amd_toolsandbox", python=sys.executable, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "RAPID_"))}
        return subprocess.Popen(
            [python, "-m", module, *map(str, arguments)],
            env={**kept, **more},
            cwd=HERE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return begin


@pytest.fixture(scope="session")
def cli(start):
    """Runs a command to its end: exit code and output."""

    def run(*arguments, **more):
        process = start(*arguments, **more)
        out, err = process.communicate(timeout=PATIENCE)
        return Done(process.returncode, out, PROGRESS.sub("", err))

    return run


@pytest.fixture(scope="session")
def answer_key():
    """The sheets of the installed harness, and the names of its tools where they are scrambled."""
    command = [sys.executable, "-W", "ignore", HERE / "answer_key.py"]
    return pickle.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=PATIENCE).stdout)


@pytest.fixture(scope="session")
def player(answer_key):
    """The scripted agent and user."""
    return Player(*answer_key)


@pytest.fixture(scope="session")
def served(player):
    """Makes a server of the scripted agent and user; more is passed on to the server."""

    def server(**more):
        return LoopbackServer(**{"chat": player, "models": (AGENT, USER), **more})

    return server


@pytest.fixture(scope="session")
def play_words():
    """The words of the command that plays scenarios into a run directory; more of them may follow."""

    def words(server, out, scenarios, *more):
        return (
            *("run", "--out", out, "--agent-model", AGENT, "--user-model", USER, "--json"),
            *("--agent-base-url", getattr(server, "url", server), "--scenarios", ",".join(scenarios), *more),
        )

    return words


@pytest.fixture(scope="session")
def wait_for():
    """Waits until something is so, or fails."""

    def wait(so, process):
        until = time.monotonic() + PATIENCE
        while not so():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.02)

    return wait


@pytest.fixture(scope="session")
def played(cli, served, play_words, answer_key, tmp_path_factory):
    """Plays scenarios in an arm; the answer key, if no other student is given."""

    def play(*more, scenarios=SCENARIOS, chat=None, **environment):
        run = tmp_path_factory.mktemp("arm") / "run"
        with served(**({"chat": chat} if chat else {})) as server:
            done = cli(*play_words(server, run, scenarios, *more), **environment)
        assert (done.code, done.err) == (0, ""), done
        return Played(done, run, server, talks(run, server, answer_key[1]))

    return play


@pytest.fixture(scope="session")
def none(played):
    """The arm without memory, in one process."""
    return played("--method", "none")


@pytest.fixture(scope="session")
def memory(none, cli):
    """What that run taught, built from its folder."""
    done = cli("build", "toolsandbox", none.run, "--out", none.run.parent / "memory", module="amd")
    assert done.code == 0, done.err
    return none.run.parent / "memory"


@pytest.fixture(scope="session")
def amd_arm(played, memory):
    """The arm with that memory, in two processes; nobody sees its own family."""
    return played("--memory", memory, "-p", "2")
