"""Files that the real harness wrote, where somebody has them: the folder in ``AMD_BFCL_FIXTURES``."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from amd.build import admit
from amd_bfcl.inference_log import read_log
from amd_bfcl.replay import rebuild
from amd_bfcl.result_files import find_result_files
from amd_bfcl.tasks import entry
from amd_bfcl.teacher import BfclOptions, reader

FOLDER = os.environ.get("AMD_BFCL_FIXTURES")
pytestmark = pytest.mark.skipif(not FOLDER, reason="AMD_BFCL_FIXTURES names no folder of result files")


@pytest.fixture
def files(package):
    """The result files below the folder."""
    return find_result_files([Path(FOLDER)])[0]


def test_function_calling_and_prompting_are_read(files):
    """Nothing is unreadable, every score fits; both kinds of handler give the same runs of one task."""
    gate = admit(reader.read([Path(FOLDER)], BfclOptions()), assume_unassisted=True, all_trials=True)
    assert gate.read == sum(len(file.path.read_text(encoding="utf-8").strip().split("\n")) for file in files)
    assert set(gate.refused) <= {"failed", "forced_quit", "duplicate"}
    assert gate.admitted
    assert all(run.calls and run.tools for run in gate.admitted)


def test_the_forced_end_in_a_last_turn_is_refused(files):
    """The evaluator counted it as right."""
    (last,) = [file for file in files if "final_turn_force_quit" in file.path.parts]
    gate = admit(reader.read([last.path], BfclOptions()), assume_unassisted=True)
    assert gate.refused == {"forced_quit": 1}
    assert gate.read == 1


def test_a_replay_sees_what_the_log_says(files, package):
    """Call by call, for every line that has a result."""
    for file in files:
        for text in file.path.read_text(encoding="utf-8").strip().split("\n"):
            value = json.loads(text)
            logged = read_log(value["inference_log"])
            rebuilt = rebuild(value["result"], None, entry(value["id"], package))
            for one, other in zip(logged, rebuilt, strict=True):
                assert one.forced == other.forced
                assert [(s.calls, s.observations) for s in one.steps] == [
                    (s.calls, s.observations) for s in other.steps
                ]
