"""What one run came to: a shape that cannot say two things at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from amd.arms import Arm, RunLog, RunResults, TaskResult
from amd.arms.words import MOST
from amd.errors import TrajectoryError
from amd.testing import run


def log_of(arm, task, memory=None):
    """A log of a run that was shown nothing."""
    return RunLog(
        method=arm.method,
        protocol=arm.protocol,
        mode=arm.mode,
        layout=arm.layout,
        memory=memory,
        task_id=task.task_id,
        family=task.family,
        exposures=(),
        calls=1,
        failed_calls=0,
        hints=0,
        placeholders=0,
        system_changes=0,
    )


def results(arm, *tasks, **values):
    """A run of that arm."""
    return RunResults(path=Path("runs/a"), benchmark="b", student="s", arm=arm, tasks=tasks, **values)


@pytest.mark.parametrize(("success", "fault"), [(None, None), (True, "missing"), (False, "infrastructure")])
def test_a_task_has_a_result_or_a_fault(success, fault):
    """One of both; each alone is fine (the control)."""
    with pytest.raises(TrajectoryError, match="one of both"):
        TaskResult("t", "f", success, fault)
    assert TaskResult("t", "f", success=False).fault is None
    assert TaskResult("t", "f", success=None, fault="missing").success is None


def test_a_task_has_its_own_log():
    """Of its id and of its family."""
    task, arm = run(1).task, Arm(method="none")
    log = log_of(arm, task)
    assert TaskResult(task.task_id, task.family, success=True, log=log).log is log
    for task_id, family in (("t", task.family), (task.task_id, "f")):
        with pytest.raises(TrajectoryError, match="has the log of task"):
            TaskResult(task_id, family, success=True, log=log)


def test_a_run_has_logs_of_its_own_arm():
    """Neither of another method nor of another memory; and each task once."""
    task, none, amd = run(1).task, Arm(method="none"), Arm(method="amd", memory=Path("m"))
    ended = TaskResult(task.task_id, task.family, success=True, log=log_of(amd, task, "c"))
    assert results(amd, ended, memory_content="c").tasks == (ended,)
    for arm, content in ((none, None), (amd, "d")):
        with pytest.raises(TrajectoryError, match="the log of task"):
            results(arm, ended, memory_content=content)
    with pytest.raises(TrajectoryError, match="two results"):
        results(amd, ended, ended, memory_content="c")


def test_the_same_memory_may_lie_anywhere():
    """Places are no part of what an arm is; the content is."""
    one, other = (results(Arm(method="amd", memory=Path(place)), memory_content="c") for place in ("m", "n"))
    assert one.identity() == other.identity()
    assert one.identity() != results(one.arm, memory_content="d").identity()
    assert one.identity() != results(one.arm, memory_content="c", memory_seal="s").identity()
    assert one.identity() != results(one.arm, memory_content="c", terms={"user": "u"}).identity()


@pytest.mark.parametrize(
    "figures", [{"steps": -1}, {"seconds": float("nan")}, {"seconds": float("inf")}, {"prompt_tokens": 10**400}]
)
def test_figures_that_no_run_has_are_refused(figures):
    """Their sums would be no numbers; what a run can have is the control."""
    assert TaskResult("t", "f", success=True, steps=3, seconds=0.5, prompt_tokens=MOST).steps == 3
    with pytest.raises(TrajectoryError, match=next(iter(figures))):
        TaskResult("t", "f", success=True, **figures)
