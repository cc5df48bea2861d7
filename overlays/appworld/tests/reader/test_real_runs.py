"""Logs that the real environment wrote, where a folder of them is named; the figures were counted by hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from made_experiments import READER, told

from amd.build import admit
from amd.traces import Trajectory, reader_options
from amd_appworld.failing import failing_api
from amd_appworld.interactions import read_interactions

ROOT = os.environ.get("AMD_APPWORLD_RUNS", "")
pytestmark = pytest.mark.skipif(not ROOT, reason="AMD_APPWORLD_RUNS names no folder of real runs")

LIBRARY = "spotify.show_song_library"
# Interaction -> the API that failed in it, of the 27 cells that the environment's errors were first told by.
CATALOGUE = {
    2: LIBRARY,
    3: "spotify.login",
    4: "spotify.login",
    5: LIBRARY,
    6: "spotify.show_song",
    7: "spotify.list_songs",
    8: "spotfy.login",
    9: "spotify.login",
    10: LIBRARY,
    11: LIBRARY,
    12: "simple_note.search_notes",
    13: LIBRARY,
    21: LIBRARY,
    22: LIBRARY,
    23: LIBRARY,
    26: "simple_note.show_note",
    27: LIBRARY,
}


def items():
    """Everything that the reader gives for the folder."""
    return list(READER.read([Path(ROOT)], reader_options(READER, {})))


def run_of(task_id):
    """One task's run."""
    (run,) = [item for item in items() if isinstance(item, Trajectory) and item.task.task_id == task_id]
    return run


def test_admitted_and_refused():
    """Three successes, one failure, one that nobody graded; the datasets are not there, and it is said."""
    gate = admit(items())
    assert (len(gate.admitted), gate.refused) == (3, {"failed": 1, "unscored": 1})
    assert gate.notes["no_datasets"] == 2


def test_the_catalogue_of_errors_is_named_from_text_alone():
    """All 27, the log among them read as it was written."""
    cells = read_interactions((Path(ROOT) / "errors_environment_io.md").read_text(encoding="utf-8")).cells
    failures = {number: failing_api(cell.code, cell.output) for number, cell in enumerate(cells, 1)}
    assert len(failures) == 27
    assert {number: failure.api for number, failure in failures.items() if failure and failure.api} == CATALOGUE


def test_words_calls_and_answers():
    """Of the run whose model's log is there."""
    run = run_of("aaaa111_1")
    assert [step.text for step in run.turns[0].steps] == ["I try the notes app.", "Log in first.", "", "", ""]
    calls = told(run)
    assert [(name, ok) for name, ok, _ in calls] == [
        ("simple_note.search_notes", False),
        ("supervisor.show_account_passwords", True),
        ("simple_note.login", True),
        ("simple_note.search_notes", True),
        ("simple_note.add_content_to_note", True),
        ("simple_note.show_note", True),
        ("supervisor.complete_task", True),
    ]
    assert calls[3][2].startswith('[\n {\n  "note_id": 1,')
    assert calls[5][2] == '{"content": "milk\\neggs\\ntea\\nbread"}'
    assert [observation for _, _, observation in (calls[1], calls[2], calls[4])] == ["", "", ""]


def test_an_answer_with_fences_is_read():
    """The fourth cell prints what looks like the end of its own answer."""
    cells = read_interactions(Path(run_of("aaaa111_2").source.path).read_text(encoding="utf-8")).cells
    assert (len(cells), cells[3].output) == (5, "```\n\n```\nsaved")


def test_the_log_that_lost_its_tail():
    """Its last cell is missing, and nobody graded it."""
    run = run_of("bbbb222_3")
    assert (len(run.turns[0].steps), run.outcome.success) == (2, None)
