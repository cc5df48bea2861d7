"""Small memories of made-up runs; a made-up overlay whose runs are commands of this Python, and experiments over it."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import amd
from amd.build import build_memory
from amd.embedders import load_embedder
from amd.store import Memory
from amd.testing import StubEmbedder, run
from amd.trajectory import Step, ToolCall, Trajectory, Turn

OVERLAY = """
def commands(run, words):
    return [["garden_student", "play", str(run), *words], ["garden_student", "score", str(run)]]
"""
STUDENT = """
import os, pathlib, sys
what, run, *words = sys.argv[1:]
folder = pathlib.Path(run)
folder.mkdir(parents=True, exist_ok=True)
(folder / "amd-run.json").touch()
with (folder.parent / "asked.txt").open("a") as file:
    print(what, folder.name, *words, file=file)
print("a table")
print(f"{what}: 1 of 1", file=sys.stderr)
broken = os.environ.get("GARDEN_BROKEN", "").split(":")
if broken[0] == folder.name and what == "play":
    print("garden: the well is dry; fill it", file=sys.stderr)
    sys.exit(int(broken[1]))
"""


@pytest.fixture
def overlay(tmp_path, monkeypatch):
    """The overlay of the benchmark ``made-up``, installed, here and for the commands that are run."""
    folder = tmp_path / "site"
    entry = folder / "overlay_beds-1.0.dist-info"
    entry.mkdir(parents=True)
    (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: overlay-beds\nVersion: 1.0\n", encoding="utf-8")
    (entry / "entry_points.txt").write_text("[amd.experiments]\nmade-up = overlay_beds:commands\n", encoding="utf-8")
    (folder / "overlay_beds.py").write_text(OVERLAY, encoding="utf-8")
    (folder / "garden_student.py").write_text(STUDENT, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    importlib.invalidate_caches()
    yield folder
    sys.modules.pop("overlay_beds", None)


@pytest.fixture
def written(tmp_path):
    """Write an experiment of two arms, one student and two seeds; more lines may follow."""

    def write(more="", memory=None):
        place = memory or tmp_path / "memory"
        if not memory:
            build_memory([run(i) for i in range(3)], place, embedder=load_embedder("hash"))
        path = tmp_path / "beds.toml"
        text = f"""
            benchmark = "made-up"
            python = "{sys.executable}"
            out = "{tmp_path / "out"}"
            seeds = 2
            [tasks]
            limit = 4
            [student.small]
            model = "small"
            base_url = "http://127.0.0.1:9/v1"
            [memory.runs]
            path = "{place}"
            [arm.none]
            method = "none"
            [arm.amd]
            memory = "runs"
        """
        path.write_text(textwrap.dedent(text) + textwrap.dedent(more), encoding="utf-8")
        return path

    return write


@pytest.fixture
def asked(tmp_path):
    """What the student was asked so far, a line each."""

    def read():
        path = tmp_path / "out" / "asked.txt"
        return path.read_text(encoding="utf-8").strip().split("\n") if path.exists() else []

    return read


def with_calls(number: int, turns: Sequence[tuple[str, Sequence[ToolCall]]], tools: object = None) -> Trajectory:
    """Run ``number`` with these turns: what the user said, and the calls, one a step."""
    made = tuple(Turn(said, tuple(Step(calls=(call,)) for call in calls)) for said, calls in turns)
    whole = run(number)
    return replace(whole, task=replace(whole.task, instruction=turns[0][0]), turns=made, tools=tools)


@pytest.fixture(scope="session")
def made() -> Callable[..., Trajectory]:
    """``made(number, [(said, calls), ...], tools=None)``."""
    return with_calls


@pytest.fixture
def remember(tmp_path: Path) -> Callable[..., Memory]:
    """Build a memory of runs by the rules, and open it."""

    def built(runs: Iterable[Trajectory], **options: object) -> Memory:
        place = tmp_path / f"memory-{len(list(tmp_path.iterdir()))}"
        options = {"floors": {"workflow": 0.0, "subtask": 0.0}, **options}
        amd.build_memory(list(runs), place, embedder=StubEmbedder(), options=amd.Options(**options))
        return amd.open_memory(place, embedder=StubEmbedder())

    return built
