"""What the overlay's tests share: a memory of a made-up garden's runs, and run directories with their logs."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

import amd
from amd.arms import Arm, replace_text
from amd_toolsandbox.commands.app import main
from amd_toolsandbox.family_table import FAMILIES
from amd_toolsandbox.run import Run, Settings
from amd_toolsandbox.trial import Trial

# So that tests can import ``garden``, which is part of no package.
sys.path.append(str(Path(__file__).parent))
from garden import BASES, FROZEN, SYSTEM, calls, garden_run, result, row, summary, tools, user

# As for the library's own tests: a property must not fail because the machine is busy, nor in CI by another draw.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@dataclass(frozen=True)
class Garden:
    """A memory of four bases, and arms that read it."""

    memory: Path

    def arm(self, **values):
        """An arm with that memory; ``method="none"`` is without."""
        return Arm.of({"memory": str(self.memory), **values})


@pytest.fixture(scope="session")
def garden(tmp_path_factory):
    """The garden, its memory built once."""
    folder = tmp_path_factory.mktemp("garden") / "memory"
    runs = [garden_run(base, index) for index, base in enumerate(BASES)]
    report = amd.build_memory(runs, folder, embedder=amd.load_embedder("hash"))
    assert report.admitted == len(BASES)
    return Garden(folder)


@pytest.fixture(scope="session")
def whole_garden(tmp_path_factory):
    """A memory of a run of each of the 129 bases."""
    folder = tmp_path_factory.mktemp("whole") / "memory"
    runs = [garden_run(base, index) for index, base in enumerate(FAMILIES)]
    amd.build_memory(runs, folder, embedder=amd.load_embedder("hash"))
    return Garden(folder)


@pytest.fixture(scope="session")
def run_settings():
    """Settings of a run without memory, but for what a test gives."""

    def made(**values):
        usual = {
            "agent": {"name": "student", "base_url": "http://127.0.0.1:8000/v1"},
            "user": {"name": "user", "base_url": "http://127.0.0.1:8000/v1"},
            "arm": {"method": "none"},
            "scenarios": BASES,
            "timeout": 600.0,
            "memory_content": None,
            "memory_seal": None,
            "memory_from": (),
            "created_at": "2031-05-13T08:00:00+00:00",
        }
        return Settings.model_validate(usual | values)

    return made


@pytest.fixture
def made(garden, run_settings, tmp_path):
    """Makes a run directory: each scenario asks its memory, fails in one call, and has a score."""

    def make(name="run", *, scenarios=BASES, rows=None, **values):
        run, arm = Run(tmp_path / name), garden.arm(**values)
        with arm.open() as opened:
            for scenario in scenarios:
                trial = Trial(scenario, opened)
                asked = [SYSTEM, user(BASES.index(scenario) + 20)]
                trial.request(asked, tools(), [])
                called = calls(("measure", {"bed": "x"}, "call_1"), ("water", {"bed": "<bed>"}, "call_2"))
                results = [result(), result("water", "call_2", "None")]
                trial.request([*asked, called, *results], tools(), [FROZEN, None])
                log = json.dumps({"amd": trial.log().as_json()})
                replace_text(run.exposures_file(scenario), log)
            chosen = {"arm": arm.model_dump(mode="json"), "memory_content": opened.content, "scenarios": scenarios}
            run.begin(run_settings(**chosen))
        summary(run, *(rows if rows is not None else map(row, scenarios)))
        return run

    return make


@pytest.fixture
def told(capsys, monkeypatch):
    """Runs a command in this process: exit code and output, on a wide screen, without a key."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return call
