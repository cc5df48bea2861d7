"""Finished lines survive whatever happens to the harness's files: each state that a kill or a full disk can leave."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amd.arms import replace_text
from amd_bfcl.families import Category, category
from amd_bfcl.journal import Journal
from amd_bfcl.lines import is_error_line, read_lines, replace_lines
from amd_bfcl.run import Run

SPOILT = "Error during inference: timed out"
NAMES = {"base": Category.BASE, "long": Category.LONG_CONTEXT}


def whole_id(short):
    """The id of a task, of which a test says the end: ``base_1``, ``long_2``."""
    name, _, index = short.partition("_")
    return f"{NAMES[name]}_{index}"


def line(short, *words):
    """A finished line."""
    return {"id": whole_id(short), "result": [list(words)]}


def spoilt(short):
    """A line as the harness writes it when the service failed."""
    return {"id": whole_id(short), "result": SPOILT, "traceback": "..."}


class Folder:
    """A run of two categories: its journal and its result files."""

    def __init__(self, path, run_settings):
        run = Run(path)
        run.begin(run_settings(categories=[*NAMES.values()]))
        self.run = run.path
        self.path = run.path / "journal.jsonl"
        self.files = {name: run.result_file(category) for name, category in NAMES.items()}
        self.scores = {name: run.score_file(category) for name, category in NAMES.items()}

    def open(self):
        """The journal as a new process has it."""
        return Journal(Run(self.run))

    def held(self, name="base"):
        """The lines of a result file."""
        lines, torn = read_lines(self.files[name])
        assert not torn
        return lines


@pytest.fixture
def folder(tmp_path, run_settings):
    """An empty one."""
    return Folder(tmp_path, run_settings)


def test_a_finished_line_is_put_back_where_the_file_lacks_it(folder):
    """File missing, emptied, and with other lines only; what is there already is not touched."""
    folder.open().add(line("base_1"))
    folder.open().add(line("long_7"))
    assert folder.open().restore() == 2
    assert (folder.held(), folder.held("long")) == ([line("base_1")], [line("long_7")])
    folder.files["base"].write_bytes(b"")
    assert folder.open().restore() == 1
    assert folder.held() == [line("base_1")]
    replace_lines(folder.files["base"], [line("base_2")])
    assert folder.open().restore() == 1
    assert folder.held() == [line("base_2"), line("base_1")]
    before = [path.stat().st_ino for path in folder.files.values()]
    assert folder.open().restore() == 0
    assert [path.stat().st_ino for path in folder.files.values()] == before


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", None),
        ('{"id": "multi_turn_ba', None),
        (f"{json.dumps(line('base_1'))}\n", line("base_2")),
        (f"{json.dumps(line('base_1'))}\n{{", None),
        (f"{json.dumps(line('base_1'))}\n" * 2, None),
        (f"{json.dumps(line('base_1'))}\n{json.dumps(spoilt('base_2'))}\n", line("base_2")),
        ("[" * 100_000, None),
        (None, line("base_1")),
    ],
)
def test_a_score_of_other_lines_goes(folder, text, kept):
    """Of a file that is emptied, cut, filled or made; the other category's stays, as do both where all is well."""
    replace_lines(folder.files["long"], [line("long_1")])
    for path in folder.scores.values():
        replace_text(path, '{"correct_count": 1, "total_count": 1}\n')
    replace_lines(folder.files["base"], [line("base_1")])
    folder.open().restore()
    folder.open().close()
    assert all(path.exists() for path in folder.scores.values())
    if text is None:
        folder.files["base"].unlink()
    else:
        folder.files["base"].write_text(text, encoding="utf-8")
    if kept:
        folder.open().add(kept)
    folder.open().restore()
    assert (folder.scores["base"].exists(), folder.scores["long"].exists()) == (False, True)


@pytest.mark.parametrize("text", ["", "\n\n", '{"id": "multi_tu', "[" * 100_000, '{"id": "multi_turn_base_1"}\n'])
def test_a_result_file_without_a_line_goes(folder, text):
    """The harness divides by the number of lines; what has one stays (the control)."""
    folder.files["base"].parent.mkdir(parents=True)
    folder.files["base"].write_text(text, encoding="utf-8")
    assert folder.open().restore() == 0
    assert not folder.files["base"].exists()
    folder.files["base"].write_text(f"{json.dumps(line('base_1'))}\n{text}", encoding="utf-8")
    assert folder.open().restore() == 0
    assert folder.held() == [line("base_1")]


def test_nothing_to_restore_writes_no_result_file(folder):
    """A run that has just begun, and one whose category has no result yet."""
    assert folder.open().restore() == 0
    assert not any(path.exists() for path in folder.files.values())
    folder.open().close()
    assert not folder.path.exists()


def test_a_torn_result_file_is_cut_and_filled(folder):
    """D22: the harness could not read it, the journal has the line whole."""
    folder.open().add(line("base_2", "a long answer"))
    whole = json.dumps(line("base_2", "a long answer"))
    replace_lines(folder.files["base"], [line("base_1")])
    with folder.files["base"].open("a", encoding="utf-8") as file:
        file.write(whole[:20])
    assert folder.open().restore() == 1
    assert folder.held() == [line("base_1"), line("base_2", "a long answer")]


def test_a_torn_file_is_cut_where_the_journal_has_nothing(folder):
    """The task was not finished: it is run again, and the harness can read the file."""
    folder.files["base"].parent.mkdir(parents=True)
    torn = f'{json.dumps(line("base_1"))}\n{{"id": "{whole_id("base_2")}", "resu'
    folder.files["base"].write_text(torn, encoding="utf-8")
    assert folder.open().restore() == 0
    assert folder.held() == [line("base_1")]


def test_a_torn_journal_loses_its_torn_line_alone(folder):
    """Killed while it was written to; what comes after is not glued to the torn end."""
    folder.open().add(line("base_1"))
    with folder.path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line("base_2"))[:15])
    folder.open().add(line("base_3"))
    assert folder.open().restore() == 2
    assert folder.held() == [line("base_1"), line("base_3")]
    assert read_lines(folder.path) == ([line("base_1"), line("base_3")], False)


def test_a_file_never_holds_a_task_twice(folder):
    """The harness refuses such a file. The last line of the file counts, as the benchmark's readers have it."""
    replace_lines(folder.files["base"], [line("base_1", "old"), line("base_2"), line("base_1", "new")])
    folder.open().add(line("base_1", "journal"))
    assert folder.open().restore() == 0
    assert folder.held() == [line("base_1", "new"), line("base_2")]


def test_an_inference_error_is_nothing_to_keep(folder):
    """What ``retry`` takes out does not come back; and it never stands in for a line that was finished."""
    replace_lines(folder.files["base"], [spoilt("base_1"), line("base_2"), spoilt("base_3")])
    folder.open().add(line("base_3"))
    assert folder.open().restore() == 1
    assert folder.held() == [spoilt("base_1"), line("base_2"), line("base_3")]
    replace_lines(folder.files["base"], [line("base_2"), line("base_3")])
    assert folder.open().restore() == 0
    assert folder.held() == [line("base_2"), line("base_3")]


def test_lines_of_an_earlier_run_are_kept_too(folder):
    """A run goes on, or is retried, and the harness writes the whole file anew: killed there, nothing is gone."""
    replace_lines(folder.files["base"], [line("base_1"), line("base_2")])
    folder.open().restore()
    folder.open().add(line("base_3"))
    folder.files["base"].write_bytes(b'{"id": "ba')
    assert folder.open().restore() == 3
    assert folder.held() == [line("base_1"), line("base_2"), line("base_3")]


def test_the_journal_goes_when_the_files_hold_all_of_it(folder):
    """And puts back first what they lack."""
    journal = folder.open()
    journal.add(line("base_1"))
    journal.add(line("long_1"))
    replace_lines(folder.files["base"], [line("base_1")])
    journal.close()
    assert not folder.path.exists()
    assert (folder.held(), folder.held("long")) == ([line("base_1")], [line("long_1")])
    journal.close()
    assert folder.held() == [line("base_1")]


def test_a_category_of_another_wish_is_kept_too(folder):
    """What the journal has of a category that the run's settings do not name goes to that one's file."""
    other = {"id": "multi_turn_miss_func_3", "result": [["x"]]}
    folder.open().add(other)
    folder.open().add(line("base_1"))
    assert folder.open().restore() == 2
    file = Run(folder.run).result_file(Category.MISS_FUNC)
    assert read_lines(file) == ([other], False)
    assert (folder.held(), folder.files["long"].exists()) == ([line("base_1")], False)


def test_a_line_of_no_task_is_nobody_s(folder):
    """The harness has no file for it; the lines around it are put back."""
    for each in ({"id": "multi_turn_base_200", "result": []}, line("base_1"), {"id": "simple_1", "result": []}):
        folder.open().add(each)
    assert folder.open().restore() == 1
    assert folder.held() == [line("base_1")]
    assert read_lines(folder.path) == ([line("base_1")], False)


def test_threads_share_a_journal(folder):
    """Every line whole, none lost."""
    journal = folder.open()
    lines = [line(f"base_{number}", "x" * 5000) for number in range(64)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(journal.add, lines))
    found = read_lines(folder.path)[0]
    assert sorted(found, key=lambda each: each["id"]) == sorted(lines, key=lambda each: each["id"])


IDS = st.sampled_from(["base_1", "base_2", "base_3", "long_1", "long_2"])
WORDS = st.sampled_from(["", "\n", "\u2028", "\ud800", '"', "ü"])
FINISHED = st.builds(line, IDS, WORDS)
CUT = st.none() | st.integers(1, 24)


def tear(path, cut):
    """The beginning of a line, as a kill leaves it."""
    if cut is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(b'{"id": "multi_turn_base_9"'[:cut])


@settings(max_examples=50)  # each writes to the disk for good
@given(
    written=st.lists(FINISHED | st.builds(spoilt, IDS)),
    kept=st.lists(FINISHED, max_size=6),
    cuts=st.tuples(CUT, CUT, CUT),
    keep_at=st.integers(0, 6),
)
def test_each_task_once_and_nothing_finished_is_lost(written, kept, cuts, keep_at, run_settings, tmp_path_factory):
    """Whatever a kill left of journal and files, at any two moments one after the other."""
    folder = Folder(tmp_path_factory.mktemp("run", numbered=True), run_settings)
    for name, path in folder.files.items():
        lines = [each for each in written if category(each["id"]) == NAMES[name]]
        if lines:
            replace_lines(path, lines)
    for number, each in enumerate(kept):
        folder.open().add(each)
        tear(folder.path, cuts[0] if number == keep_at else None)
    tear(folder.files["base"], cuts[1])
    tear(folder.path, cuts[2])
    last = {each["id"]: each for each in written}
    finished = {each["id"]: each for each in kept}
    finished |= {task_id: each for task_id, each in last.items() if not is_error_line(each)}
    for _ in range(2):
        restored = folder.open().restore()
        lines = [each for name in folder.files for each in folder.held(name)]
        by_id = {each["id"]: each for each in lines}
        assert len(by_id) == len(lines)
        assert by_id == {**last, **finished}
        assert restored <= len(finished)
        # Killed in the middle of writing the file anew.
        if folder.files["base"].exists():
            folder.files["base"].write_bytes(folder.files["base"].read_bytes()[:7])
            last = {task_id: each for task_id, each in last.items() if category(task_id) != Category.BASE}


FULL = """
import resource, sys
from pathlib import Path
from amd_bfcl.journal import Journal
from amd_bfcl.run import Run
journal = Journal(Run(Path(sys.argv[1])))
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
try:
    getattr(journal, sys.argv[2])()
except OSError as error:
    print(error.strerror)
"""


@pytest.mark.parametrize("step", ["restore", "close"])
def test_a_full_disk_while_restoring_leaves_everything_as_it_was(folder, step):
    """The old file and the journal stay, byte for byte; with space again nothing is missing."""
    paths = (folder.files["base"], folder.path)
    replace_lines(folder.files["base"], [line("base_1", "x" * 2000)])
    folder.open().add(line("base_2", "y" * 2000))
    before = [path.read_bytes() for path in paths]
    script = [sys.executable, "-c", FULL, str(folder.run), step]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    assert done.stdout == "File too large\n"
    assert [path.read_bytes() for path in paths] == before
    assert folder.open().restore() == 1
    assert [each["id"] for each in folder.held()] == [whole_id("base_1"), whole_id("base_2")]
