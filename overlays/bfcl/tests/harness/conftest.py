"""What the tests in the real harness share: its environment, its commands, a memory and a scripted student."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

import amd
from amd.testing import LoopbackServer
from amd_bfcl.families import Category
from amd_bfcl.player import Player
from amd_bfcl.record import record

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Mark the tests of this folder, and skip them where the harness cannot be imported."""
    missing = [name for name in ("overrides", "tree_sitter", "dotenv", "bfcl_eval") if find_spec(name) is None]
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.bfcl)
            if missing:
                item.add_marker(pytest.mark.skip(reason="needs the harness's own environment: make bfcl"))


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


def environment(**more):
    """The environment of a command: no endpoint and no key unless a test gives one."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "BFCL_"))}
    return {**kept, **more}


@pytest.fixture(scope="session")
def start():
    """Starts ``python -m amd_bfcl ARGUMENTS`` as a process of its own."""

    def begin(*arguments, **more):
        return subprocess.Popen(
            [sys.executable, "-m", "amd_bfcl", *map(str, arguments)],
            env=environment(**more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return begin


@pytest.fixture(scope="session")
def cli(start):
    """Runs a command to its end: exit code and output."""

    def run(*arguments, **more):
        process = start(*arguments, **more)
        out, err = process.communicate(timeout=240)
        return Done(process.returncode, out, err)

    return run


@pytest.fixture(scope="session")
def oracle(package):
    """Category -> its answer key as trajectories."""
    known = {}

    def runs(category=Category.BASE):
        if category not in known:
            known[category] = list(record(category, package))
        return known[category]

    return runs


@pytest.fixture(scope="session")
def memory(oracle, tmp_path_factory):
    """A memory of the 200 base tasks."""
    folder = tmp_path_factory.mktemp("base") / "memory"
    amd.build_memory(oracle(), folder, embedder=amd.load_embedder("hash"))
    return folder


@pytest.fixture
def served(oracle):
    """Makes a server of the scripted student with these slips; more is passed on to the server."""

    def server(slips=None, category=Category.BASE, model="student", **more):
        return LoopbackServer(chat=Player(oracle(category), slips), models=(model,), **more)

    return server


@pytest.fixture(scope="session")
def lines_of():
    """Gives the result lines of a run directory by task id."""
    return lambda run: {
        line["id"]: line
        for path in run.glob("result/*/*/*_result.json")
        for line in map(json.loads, path.read_bytes().splitlines())
    }


@pytest.fixture(scope="session")
def chats():
    """Gives the bodies of the chat requests that a server was sent, in order."""
    return lambda server: [request.body for request in server.requests if request.path == "/v1/chat/completions"]
