"""Every task of the benchmark asks a memory that holds its own family: what it is shown, counted from its own logs."""

from __future__ import annotations

import pytest

from amd.arms import Arm, RunLog, report
from amd_bfcl.backends import Backend
from amd_bfcl.families import Category, family
from amd_bfcl.tasks import entries
from amd_bfcl.trial import Trial


def _log(opened, entry):
    """The log of a run that makes a real error in every turn, read back from its JSON."""
    trial = Trial(entry, opened, "json")
    history = trial.first_turn([{"role": "user", "content": entry.users[0]}])
    with Backend(entry) as backend:
        for turn, words in enumerate(entry.users):
            if turn:
                history, said = trial.next_turn(history, [{"role": "user", "content": words or "More tools."}])
                history = [*history, *said]
            call = f"{entry.tools[turn % len(entry.tools)].name}(no_such_argument=1)"
            trial.hinted([call], backend.execute_all([call]))
    return RunLog.read(trial.log().as_json())


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_no_task_of_800_is_shown_its_own_family(memory, package, mode):
    """D01: before the task, before each turn and after an error in each turn. In-sample is the control."""
    hits = {}
    for protocol in ("self-excluded", "in-sample") if mode == "static" else ("self-excluded",):
        with Arm.of({"memory": memory, "protocol": protocol, "mode": mode}).open() as opened:
            logs = [_log(opened, entry) for category in Category for entry in entries(category, package)]
        figures = report(logs, family=family)
        assert figures.tasks == 800
        assert sum(log.failed_calls for log in logs) > 2400
        assert sum(log.memory_assisted for log in logs) > 700
        hits[protocol] = figures.own_family
        assert figures.leaks == 0
    assert hits["self-excluded"] == 0
    assert mode != "static" or hits["in-sample"] > 800
