"""What the tests of the student's side share: the garden's root, its server, memories of it, and commands."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import amd
from amd.arms import Arm
from amd.testing import LoopbackServer

# So that tests can import ``greenhouse``, which is part of no package.
sys.path.append(str(Path(__file__).parent))
from greenhouse import TRAIN, garden_run, plant

from amd_appworld.commands.app import main
from amd_appworld.exposures import ORACLE
from amd_appworld.oracle.player import Player
from amd_appworld.playing import play_arm
from amd_appworld.root import Root
from amd_appworld.run import Model


@pytest.fixture
def root(tmp_path):
    """A root of the garden."""
    return Root(plant(tmp_path / "root"))


@pytest.fixture(scope="session")
def python(tmp_path_factory):
    """What stands in the place of AppWorld's interpreter: it serves the garden, whatever it is told to run."""
    path = tmp_path_factory.mktemp("bin") / "python"
    server = Path(__file__).parent / "greenhouse_server.py"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{server}"\n')
    path.chmod(0o755)
    return path


@pytest.fixture(scope="session")
def memory(tmp_path_factory):
    """A memory of the garden's train tasks."""
    folder = tmp_path_factory.mktemp("garden") / "memory"
    options = amd.Options(floors={"workflow": -1.0, "subtask": -1.0})  # so few tasks have too few words in common
    report = amd.build_memory(map(garden_run, TRAIN), folder, embedder=amd.load_embedder("hash"), options=options)
    assert report.admitted == len(TRAIN)
    return folder


@pytest.fixture
def player(root):
    """The scripted student of the garden."""
    return Player(root)


@pytest.fixture
def played(root, python, player):
    """Plays tasks in an arm and gives what :func:`play_arm` does, with the requests that the model got."""

    def play(experiment="run", *, chat=None, tasks=TRAIN, faults=(), **more):
        arm = Arm.of(more.pop("arm", {"method": "none"}))
        with LoopbackServer(chat=chat or player, models=(ORACLE,), faults=faults) as server:
            agent = Model(name=ORACLE, base_url=server.url)
            found = play_arm(root, experiment, arm, agent=agent, python=python, tasks=tasks, **more)
        asked = [
            request.body["messages"]
            for request in server.requests
            if request.path.endswith("/completions") and len(request.body["messages"]) > 1
        ]
        return found, asked

    return play


@pytest.fixture
def told(capsys, monkeypatch, without_progress):
    """Runs a command in this process: exit code and output, on a wide screen, without a key."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, without_progress(err)

    return call
