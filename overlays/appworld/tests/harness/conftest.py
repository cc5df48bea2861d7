"""What the tests with the real AppWorld share: its interpreter and a world, runs of the scripted student, a memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from amd.testing import LoopbackServer
from amd_appworld.exposures import ORACLE
from amd_appworld.oracle.player import Player
from amd_appworld.root import Root

HERE = Path(__file__).parent
PATIENCE = 120
PYTHON, WORLD = "AMD_APPWORLD_PYTHON", "AMD_APPWORLD_ROOT"


def _missing() -> str:
    """Why AppWorld cannot be asked; empty if it can."""
    if not Path(os.environ.get(PYTHON, "")).is_file():
        return f"{PYTHON} names no interpreter of AppWorld's environment (scripts/setup_appworld.sh)"
    if not Path(os.environ.get(WORLD, ""), "data", "datasets").is_dir():
        return f"{WORLD} names no root with AppWorld's data (scripts/appworld_synthetic.py)"
    return ""


def pytest_collection_modifyitems(items):
    """Mark the tests of this folder, and skip them without AppWorld, all with one line."""
    missing = _missing()
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.appworld)
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


@pytest.fixture(scope="session")
def root(tmp_path_factory):
    """A root of its own over the world's data: experiments are written beside it and not into it."""
    path = tmp_path_factory.mktemp("world")
    (path / "data").symlink_to(Path(os.environ[WORLD]).absolute() / "data")
    return Root(path)


@pytest.fixture(scope="session")
def start():
    """Starts ``python -m MODULE ARGUMENTS`` as a process of its own: no key, of nobody."""

    def begin(*arguments, module="amd_appworld"):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
        return subprocess.Popen(
            [sys.executable, "-m", module, *map(str, arguments)],
            env={**kept, "COLUMNS": "200"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return begin


@pytest.fixture(scope="session")
def cli(start, without_progress):
    """Runs a command to its end: exit code and output."""

    def run(*arguments, **more):
        process = start(*arguments, **more)
        out, err = process.communicate(timeout=PATIENCE)
        return Done(process.returncode, out, without_progress(err))

    return run


@pytest.fixture(scope="session")
def words(root):
    """The words of a run; more of them may follow."""

    def of(server, experiment, *more):
        return (
            *("run", "--root", root.path, "--experiment", experiment, "--model", ORACLE, "--base-url", server.url),
            *("--appworld-python", os.environ[PYTHON], "--json", *more),
        )

    return of


@pytest.fixture(scope="session")
def served(root):
    """A server of the scripted student, or of another one."""

    def server(chat=None, **more):
        return LoopbackServer(chat=chat or Player(root), models=(ORACLE,), **more)

    return server


@pytest.fixture(scope="session")
def none(root, cli, served, words):
    """The arm without memory over all tasks with a solution, in two worlds at once."""
    tasks = ",".join(Player(root).tasks)
    with served() as server:
        done = cli(*words(server, "none", "--method", "none", "--tasks", tasks, "-w", "2"))
    assert (done.code, done.err) == (0, "")
    return done


@pytest.fixture(scope="session")
def memory(none, root, cli):
    """What the train tasks of that run taught."""
    path = root.path / "memory"
    done = cli("build", "appworld", root.experiment("none"), "--out", path, "--embedder", "hash", module="amd")
    assert done.code == 0, done.err
    return path


@pytest.fixture(scope="session")
def asked_of():
    """The messages of the last request that a server got in each task, by the task's own words."""

    def of(server):
        last = {}
        for request in server.requests:
            messages = (request.body or {}).get("messages", [])
            if len(messages) > 1:
                told = next(each["content"] for each in messages if "\n\nTask: " in each["content"])
                last[told.partition("\n\nTask: ")[2]] = messages
        return last

    return of
