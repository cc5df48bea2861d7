"""C09: a build with a model is killed after any step, and goes on as if nothing had been."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from amd.store.place import JOURNAL
from amd.testing import run
from amd.traces import write
from amd.trajectory import Turn

PROGRAM = Path(__file__).parent / "resumed_build.py"
RUNS = 10
REQUESTS = 2 * RUNS


def build(runs: Path, memory: Path, log: Path, workers: int = 1) -> dict[str, object]:
    """A whole build."""
    command = [sys.executable, str(PROGRAM), str(runs), str(memory), str(log), str(workers)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def asked(log: Path) -> list[str]:
    """The requests so far."""
    return log.read_text(encoding="utf-8").split("\n")[:-1] if log.exists() else []


def killed(runs: Path, memory: Path, log: Path, after: int, workers: int = 1) -> None:
    """A build that is killed once so many requests were sent."""
    command = [sys.executable, str(PROGRAM), str(runs), str(memory), str(log), str(workers)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        until = time.monotonic() + 60
        while len(asked(log)) < after and process.poll() is None and time.monotonic() < until:
            time.sleep(0.0005)
        process.send_signal(signal.SIGKILL)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten runs as a file."""
    path = tmp_path_factory.mktemp("runs") / "runs.jsonl"
    write(path, [run(i) for i in range(RUNS)])
    return path


@pytest.fixture(scope="module")
def whole(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> object:
    """The digest of a build that nobody interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    told = build(runs, folder / "memory", folder / "log")
    assert len(asked(folder / "log")) == REQUESTS
    return told["digest"]


@pytest.mark.parametrize("after", [1, 2, 3, 7, 12, 19, 20])
def test_c09_a_killed_build_repeats_at_most_the_request_in_flight(
    runs: Path, whole: object, tmp_path: Path, after: int
) -> None:
    """The digest is that of an uninterrupted build, and the journal is gone."""
    memory, log = tmp_path / "memory", tmp_path / "log"
    killed(runs, memory, log, after)
    assert build(runs, memory, log)["digest"] == whole
    assert REQUESTS <= len(asked(log)) <= REQUESTS + 1
    assert not (memory / JOURNAL).exists()


def test_c09_twenty_kills_at_random_end_in_the_same_digest(runs: Path, whole: object, tmp_path: Path) -> None:
    """With four workers: each kill loses at most the four requests in flight."""
    memory, log = tmp_path / "memory", tmp_path / "log"
    dice = random.Random(7)
    for _ in range(20):
        killed(runs, memory, log, len(asked(log)) + dice.randint(0, 2), workers=4)
    assert build(runs, memory, log, workers=4)["digest"] == whole
    assert len(set(asked(log))) == REQUESTS
    assert len(asked(log)) <= REQUESTS + 20 * 4


def test_c09_a_changed_run_is_redone_alone_and_a_removed_one_is_told(runs: Path, tmp_path: Path) -> None:
    """T4 is edited and T2 removed between kill and resume."""
    memory, log = tmp_path / "memory", tmp_path / "log"
    killed(runs, memory, log, 19)
    before = len(asked(log))
    changed = [run(i) for i in range(RUNS) if i != 2]
    changed[3] = replace(changed[3], turns=(Turn("Move everything away this time", changed[3].turns[0].steps),))
    write(tmp_path / "changed.jsonl", changed)
    told = build(tmp_path / "changed.jsonl", memory, log)
    assert told["unused"] == 4  # two replies of T2, two of the old T4
    assert len(asked(log)) - before <= 2 + 2
    clean = build(tmp_path / "changed.jsonl", tmp_path / "clean", tmp_path / "other-log")
    assert told["digest"] == clean["digest"]


def test_the_costs_of_a_resumed_build_are_those_of_the_whole(runs: Path, tmp_path: Path) -> None:
    """What was paid before the kill is in the manifest too."""
    memory, log = tmp_path / "memory", tmp_path / "log"
    killed(runs, memory, log, 11)
    told = build(runs, memory, log)
    manifest = json.loads((memory / "manifest.json").read_bytes())
    assert manifest["costs"]["insight.prompt_tokens"] == manifest["costs"]["segments.prompt_tokens"] == 100
    assert manifest["costs"] == {"model_calls": 20, **told["costs"]}  # type: ignore[dict-item]
