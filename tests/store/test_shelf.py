"""One tier's search."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from amd.errors import EmbedderDoesNotMatch, LeakageError
from amd.exclusion import Split, cross_split, deployed, in_sample, self_excluded
from amd.store import open_memory, publish
from amd.tier import Query
from amd.trajectory import Task

TASK = Task("demo", "task_1", "family_1", "do task 1")
C01 = [
    "Move report.txt from drafts to archive and sort it",
    "Copy notes.md into backup, then count its lines",
    "Post a message saying the car is at 60 psi",
    "Book a flight from RMS to SBK with card 12",
    "move REPORT.txt from drafts to archive and sort it ",
]
VERBS = re.findall(r"\w+", "move copy list sort count rename delete archive share merge split print zip open lock")


@pytest.fixture
def opened(kit, tmp_path):
    """Publish records and open their workflow shelf."""

    def opened(records, **changes):
        place = tmp_path / "shelf"
        publish(place, lambda _: kit.contents({"workflow": records}, **changes))
        return open_memory(place, embedder=kit.FakeEmbedder()).shelves["workflow"]

    return opened


def _ids(found):
    return [hit.record.id for hit in found.hits]


def test_c01_own_task_and_its_copy_are_hidden(kit, opened):
    """C01: the task's own record and the same text under another name; a near twin is found (positive control)."""
    shelf = opened([kit.record(n, text, instruction=text) for n, text in enumerate(C01)])
    asking = Task("demo", "task_0", "family_0", C01[0])
    found = shelf.search(Query(C01[0], k=5), viewer=self_excluded(asking), floored=False)
    assert {hit.record.task.task_id for hit in found.hits} == {"task_1", "task_2", "task_3"}
    assert found.excluded == {"own_family": 1, "same_text": 1}
    control = shelf.search(Query(C01[0]), viewer=in_sample(asking), floored=False)
    assert control.hits[0].record.task.task_id in ("task_0", "task_4")
    assert control.hits[0].score == pytest.approx(1)
    assert shelf.search(Query(C01[0], k=5), viewer=self_excluded(asking), floored=False) == found


def test_c02_nothing_relevant(kit, opened):
    """C02: an unrelated question finds nothing, and says how near the nearest came; a related one is found."""
    shelf = opened([kit.record(n, f"{verb} the files in folder {verb}s") for n, verb in enumerate(VERBS)])
    found = shelf.search(Query("zebra quintet ferments marmalade"), viewer=deployed())
    assert (found.hits, found.considered, found.below_floor) == ((), 15, 15)
    assert found.best is not None
    assert found.best < shelf.floor
    control = shelf.search(Query("sort the files in folder sorts"), viewer=deployed())
    assert [hit.record.key for hit in control.hits] == ["sort the files in folder sorts"]
    every = shelf.search(Query("sort the files in folder sorts", k=15), viewer=deployed(), floored=False)
    assert control.below_floor == sum(hit.score < shelf.floor for hit in every.hits) > 0
    assert (len(every.hits), every.below_floor) == (15, 0)


def test_c02_scores_do_not_depend_on_the_pool(kit, opened):
    """C02: a hundred irrelevant records change no bit of the scores of the first fifteen, nor their order."""
    first = [kit.record(n, f"{verb} the files in folder {verb}s") for n, verb in enumerate(VERBS)]
    others = [kit.record(n, f"noise {n} about weather {n * 7}") for n in range(100, 200)]
    query = Query("sort and archive the files", k=200)
    scores = []
    for records in (first, first + others):
        found = opened(records).search(query, viewer=deployed(), floored=False)
        keys = {each.key for each in first}
        scores.append([(hit.record.key, hit.score) for hit in found.hits if hit.record.key in keys])
    assert scores[0] == scores[1]
    assert len(scores[0]) == 15


def test_ties_are_broken_by_record_id(kit, opened):
    """Equal keys have equal scores: the smaller id comes first, dense and fused."""
    records = [kit.record(n, "move the file") for n in range(20)]
    shelf = opened(records)
    for fused in (False, True):
        found = shelf.search(Query("move the file", k=20), viewer=deployed(), fused=fused)
        assert _ids(found) == sorted(each.id for each in records)
        assert {hit.score for hit in found.hits} == {found.best}


def test_accept_passes_over_with_a_reason(kit, opened):
    """The next one is tried; what comes after the last hit is not asked about."""
    shelf = opened([kit.record(n, f"move the file {'x ' * n}") for n in range(40)])
    asked = []

    def accept(record):
        asked.append(record.id)
        return None if len(asked) > 35 else "stale_schema" if len(asked) % 2 else "tool_not_offered"

    found = shelf.search(Query("move the file"), viewer=deployed(), floored=False, accept=accept)
    assert len(found.hits) == 1
    assert len(asked) == 36
    assert asked[-1] == found.hits[0].record.id
    plain = shelf.search(Query("move the file", k=36), viewer=deployed(), floored=False)
    assert _ids(plain) == asked


def test_where_narrows_by_tool_and_by_members(kit, opened):
    """The tool narrows what is considered; another member only decides among candidates."""
    records = [
        kit.record(n, f"call number {n}", tool="cd" if n % 2 else "mv", body={"category": f"c{n % 3}"})
        for n in range(12)
    ]
    shelf = opened(records)
    found = shelf.search(
        Query("call number 1", k=9, where={"tool": "cd", "category": "c1"}), viewer=deployed(), floored=False
    )
    assert found.considered == 6
    assert {hit.record.key for hit in found.hits} == {"call number 1", "call number 7"}
    nothing = shelf.search(Query("call number 1", where={"tool": "ls"}), viewer=deployed())
    assert (nothing.hits, nothing.considered, nothing.best) == ((), 0, None)


def test_fused_search_lets_words_decide_and_keeps_the_cosine(kit, opened):
    """A rare shared word lifts a record; its score is its cosine, and the floor judges that."""
    # Both keys share half of the question's words; only one shares the rare one.
    common = [kit.record(n, "move the file", instruction=f"t{n}") for n in range(8)]
    rare = kit.record(50, "the zanzibar of things there are many in one long key of words")
    shelf = opened([*common, rare], pinned_floors={"workflow": 0.1})
    query = Query("move zanzibar", k=9)
    dense = shelf.search(query, viewer=deployed())
    fused = shelf.search(query, viewer=deployed(), fused=True)
    assert _ids(dense).index(rare.id) == 8
    assert _ids(fused).index(rare.id) < 8
    assert {hit.record.id: hit.score for hit in fused.hits} == {hit.record.id: hit.score for hit in dense.hits}
    floor = (dense.hits[-1].score + dense.hits[0].score) / 2
    strict = opened([*common, rare], pinned_floors={"workflow": floor}).search(query, viewer=deployed(), fused=True)
    assert rare.id not in _ids(strict)
    assert strict.below_floor == 1


def test_fused_ranks_are_over_visible_rows(kit, opened):
    """Hiding a family gives the order that a shelf without it gives."""
    records = [kit.record(n, f"move {'file ' * (n % 4)} {'folder ' * (n % 3)} {n}") for n in range(12)]
    query, viewer = Query("move file folder", k=20), self_excluded(TASK)
    hidden = opened(records).search(query, viewer=viewer, fused=True, floored=False)
    assert "family_1" not in {hit.record.task.family for hit in hidden.hits}
    assert len(hidden.hits) == 11
    control = opened(records).search(query, viewer=deployed(), fused=True, floored=False)
    assert len(control.hits) == 12


def test_a_leak_is_told_at_the_first_search(kit, opened):
    """A memory with a test family, asked across the split: an error each time, never an answer."""
    shelf = opened([kit.record(n) for n in range(3)])
    split = Split("demo", frozenset({"family_0", "family_1"}), frozenset({"family_2"}))
    for _ in range(2):
        with pytest.raises(LeakageError, match="family_2"):
            shelf.search(Query("move"), viewer=cross_split(TASK, split))
    whole = Split("demo", frozenset({"family_0", "family_1", "family_2"}), frozenset())
    found = shelf.search(Query("move report0", k=3), viewer=cross_split(TASK, whole), floored=False)
    assert len(found.hits) == 2


def test_an_empty_shelf_answers_without_asking(kit, tmp_path):
    """Nothing is embedded for a shelf with nothing to see."""
    publish(tmp_path / "m", lambda _: kit.contents({"workflow": []}))
    embedder = kit.FakeEmbedder()
    shelf = open_memory(tmp_path / "m", embedder=embedder).shelves["workflow"]
    for fused in (False, True):
        found = shelf.search(Query("move"), viewer=deployed(), fused=fused)
        assert (found.hits, found.considered, found.below_floor, found.best) == ((), 0, 0, None)
    assert embedder.texts == []
    assert (len(shelf), list(shelf.records()), list(shelf.key_rows())) == (0, [], [])


def test_d03_each_record_is_found_by_its_own_key(kit, opened):
    """D03: rows and records are never shifted against each other."""
    records = [kit.record(n, f"query {n} alpha{n} beta{n}") for n in range(60)]
    shelf = opened(records)
    assert len(shelf.rows) == len(shelf) == 60
    rows = dict(shelf.key_rows())
    for row, each in enumerate(shelf.records()):
        assert shelf.record(row) == each
        found = shelf.search(Query(each.key), viewer=deployed())
        assert _ids(found) == [each.id]
    assert len(rows) == 60


def test_an_embedder_that_changes_its_width_is_told(kit, place):
    """C03, third variant: the service answers with another width than when it was asked first."""
    embedder = kit.FakeEmbedder()
    shelf = open_memory(place, embedder=embedder).shelves["workflow"]
    assert shelf.search(Query("move report1"), viewer=deployed()).hits
    embedder.width = 48
    with pytest.raises(EmbedderDoesNotMatch, match=r"64 wide.*48 wide"):
        shelf.search(Query("another question"), viewer=deployed())


def test_one_question_is_embedded_once(kit, place):
    """Several shelves are asked the same text."""
    embedder = kit.FakeEmbedder()
    memory = open_memory(place, embedder=embedder)
    for _ in range(3):
        for shelf in memory.shelves.values():
            shelf.search(Query("move report1"), viewer=deployed())
    assert embedder.texts == ["move report1"]


def test_many_threads_share_a_shelf(kit, opened):
    """The same answers as one thread, dense and fused, from the very first question on."""
    shelf = opened([kit.record(n, f"move file {n} to folder {n % 7}") for n in range(100)])
    tasks = [Task("demo", f"task_{n}", f"family_{n}", f"do task {n}") for n in range(16)]
    start = threading.Barrier(8)

    def ask(number):
        start.wait(timeout=30)
        return [
            shelf.search(
                Query(f"move file {n} to folder 3", k=3), viewer=self_excluded(tasks[(n + number) % 16]), fused=fused
            )
            for n in range(16)
            for fused in (True, False)
        ]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    with ThreadPoolExecutor(1) as pool:
        start = threading.Barrier(1)
        assert answers == [pool.submit(ask, number).result() for number in range(8)]


def test_rows_are_read_only(place, kit):
    """Nobody can change what others search."""
    shelf = open_memory(place, embedder=kit.FakeEmbedder()).shelves["workflow"]
    with pytest.raises(ValueError, match="read-only"):
        shelf.rows[0, 0] = 1
    assert np.allclose(np.linalg.norm(shelf.rows, axis=1), 1)
