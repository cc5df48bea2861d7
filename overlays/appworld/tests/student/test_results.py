"""What a run came to, for ``amd report``: from runs that were played in the greenhouse."""

from __future__ import annotations

import pytest
from greenhouse import TRAIN

from amd.arms import RUN_SETTINGS, replace_text
from amd.errors import TrajectoryError
from amd.evaluate.reading import read_run
from amd_appworld.results import read
from amd_appworld.tasks import family


def test_the_results_of_a_run(played):
    """Each task with its scenario, its cells, its tokens and its log; it is offered to the report."""
    run = played()[0].run
    found = read_run(run.path)
    assert found.benchmark == "appworld"
    assert {task.success for task in found.tasks} == {True}
    assert [task.family for task in found.tasks] == [family(task.task_id) for task in found.tasks]
    first = found.tasks[0]
    assert (first.steps, first.log.task_id) == (run.ending(first.task_id).steps, first.task_id)
    assert first.prompt_tokens > 0
    assert found.terms["max_steps"] == run.settings.max_steps


def test_a_task_that_never_ended_is_missing(played):
    """And one whose log is broken is refused: nobody could vouch for what it was shown."""
    run = played()[0].run
    (run.path / "exposures" / f"{TRAIN[0]}.json").unlink()
    faults = {task.task_id: task.fault for task in read(run.path).tasks}
    assert faults[TRAIN[0]] == "missing"
    assert faults[TRAIN[1]] is None
    ending = run.ending(TRAIN[1])
    run.keep_ending(TRAIN[1], ending.model_copy(update={"amd": None}))
    with pytest.raises(TrajectoryError, match="cannot be read"):
        read(run.path)


def test_another_directory_is_nobodys(tmp_path):
    """Or somebody else's."""
    replace_text(tmp_path / "other" / RUN_SETTINGS, '{"format": "amd-bfcl-run/1"}')
    assert read(tmp_path / "other") is None
    assert read(tmp_path) is None
