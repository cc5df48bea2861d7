"""Publishing: by one writer at a time, all or nothing."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amd.errors import ConfigError, DigestDoesNotMatch, RowsDoNotMatch, StoreError, WidthDoesNotMatch
from amd.store import check, publish, read_memory

CHILDREN = Path(__file__).with_name("children.py")


def _tasks(place):
    return {each.task.task_id for each in read_memory(place).shelves["workflow"].records()}


def test_first_generation(kit, tmp_path):
    """What was composed is what opens: records sorted, rows beside them, figures in the manifest."""
    published = publish(tmp_path / "a/b/memory", kit.union(2, 0, 1))
    assert published.changed
    memory = read_memory(tmp_path / "a/b/memory")
    assert memory.manifest == published.manifest
    assert memory.manifest.generation == 1
    assert memory.manifest.previous is None
    sources = memory.manifest.sources
    assert (sources.read, sources.admitted, sources.refused) == (4, 3, {"failed": 1})
    assert [run.task_id for run in sources.runs] == ["task_0", "task_1", "task_2"]
    assert sources.families == ("family_0", "family_1", "family_2")
    records = list(memory.shelves["workflow"].records())
    assert records == [kit.record(0), kit.record(1), kit.record(2)]
    assert np.array_equal(memory.shelves["workflow"].rows, kit.shelf(records).rows)
    assert memory.manifest.floors.keys() == {"workflow", "subtask"}  # a function shelf has none
    assert memory.shelves["function"].floor == 0


def test_the_same_content_publishes_nothing(kit, place):
    """Generation, seal and every byte stay, whatever the order, the times and the costs."""
    before, seal = kit.files(place), read_memory(place).seal

    def later(current):
        shelves = {tier: list(shelf.records())[::-1] for tier, shelf in current.shelves.items()}
        shelves = {
            tier: [replace(each, created_at="2030-01-01T00:00:00Z") for each in each_shelf]
            for tier, each_shelf in shelves.items()
        }
        return kit.contents(shelves, costs={"seconds": 99})

    published = publish(place, later)
    assert (published.changed, published.manifest.seal) == (False, seal)
    assert kit.files(place) == before


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"pinned_floors": {"workflow": 0.5}}, id="floor"),
        pytest.param({"all_trials": True}, id="all trials"),
        pytest.param({"terms": "CC-BY-4.0"}, id="terms"),
        pytest.param({"runs": 9}, id="runs"),
        pytest.param({"method": "amd"}, id="method"),
    ],
)
def test_what_else_changes_a_memory(kit, place, changes):
    """The same records under another method, floor, set of runs or terms are a new generation."""
    records = {tier: list(shelf.records()) for tier, shelf in read_memory(place).shelves.items()}
    assert not publish(place, lambda _: kit.contents(records)).changed
    if "runs" in changes:
        more = kit.run(kit.record(changes["runs"]))
        changes = {"runs": [*(kit.run(each) for each in records["workflow"]), more]}
    published = publish(place, lambda _: kit.contents(records, **changes))
    assert (published.changed, published.manifest.generation) == (True, 2)
    assert not publish(place, lambda _: kit.contents(records, **changes)).changed


def test_a_record_of_no_run_is_refused(kit, place):
    """Nothing could hide it from its own task: neither without a run, nor with another family than its run's."""
    before = kit.files(place)
    records = {"workflow": [kit.record(0)], "function": [], "subtask": []}
    with pytest.raises(StoreError, match="of no run"):
        publish(place, lambda _: kit.contents(records, runs=[]))
    other = kit.run(kit.record(0, family="another"))
    with pytest.raises(StoreError, match="'family_0', that of its run is 'another'"):
        publish(place, lambda _: kit.contents(records, runs=[other]))
    assert kit.files(place) == before


def test_a_status_alone_is_a_change(kit, place):
    """Retiring a record gives it no new id, and still must be published."""
    records = {tier: list(shelf.records()) for tier, shelf in read_memory(place).shelves.items()}
    records["workflow"][0] = replace(records["workflow"][0], status="retired")
    published = publish(place, lambda _: kit.contents(records))
    assert published.changed
    assert not publish(place, lambda _: kit.contents(records)).changed


def test_content_depends_on_records_alone(kit, tmp_path):
    """In one build or in several, in any order: one content, though the seals differ."""
    publish(tmp_path / "one", kit.union(0, 1, 2, 3))
    for number in (3, 1, 0, 2):
        publish(tmp_path / "many", kit.union(number))
    one, many = read_memory(tmp_path / "one"), read_memory(tmp_path / "many")
    assert one.digest == many.digest
    assert one.seal != many.seal
    publish(tmp_path / "one", kit.union(4))
    assert read_memory(tmp_path / "one").digest != many.digest


def test_unchanged_files_are_linked_and_old_generations_pruned(kit, place):
    """A shelf that stays is one file under two names; two generations are kept, and nothing else."""
    stray = place / "generations/000009"
    (stray / "workflow").mkdir(parents=True)
    shelves = {tier: list(shelf.records()) for tier, shelf in read_memory(place).shelves.items()}
    shelves["workflow"] = [*shelves["workflow"], kit.record(7)]
    for expected in ((1, 2), (2, 3)):
        made = kit.contents(shelves, all_trials=expected[0] == 2)
        publish(place, lambda _, made=made: made)
        kept = sorted(int(path.name) for path in (place / "generations").iterdir())
        assert kept == list(expected)
        old, new = (place / f"generations/{number:06d}" for number in expected)
        assert (old / "function/records.json").samefile(new / "function/records.json")
        assert (old / "function/keys.npy").samefile(new / "function/keys.npy")
        assert (old / "workflow/keys.npy").samefile(new / "workflow/keys.npy") == (expected == (2, 3))
    assert check(place).ok


def test_without_hard_links_files_are_copied(kit, place, monkeypatch):
    """A file system that has none still gets whole generations."""
    import errno
    import os

    def refused(*_, **__):
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refused)
    publish(place, lambda current: kit.contents({t: list(s.records()) for t, s in current.shelves.items()}, terms="x"))
    old, new = (place / f"generations/{number:06d}/workflow/keys.npy" for number in (1, 2))
    assert old.read_bytes() == new.read_bytes()
    assert not old.samefile(new)
    assert check(place).ok


def test_floors_that_move_are_told(kit, tmp_path):
    """The floor is measured anew with each build, and a pinned one stays."""
    records = [kit.record(n) for n in range(15)]
    publish(tmp_path / "m", lambda _: kit.contents({"workflow": records[:3]}))
    published = publish(tmp_path / "m", lambda _: kit.contents({"workflow": records}))
    floor = published.manifest.floors["workflow"]
    assert (floor.source, floor.pairs) == ("quantile", 105)
    assert published.moved_floors == {"workflow": (0.35, floor.value)}
    pinned = publish(tmp_path / "m", lambda _: kit.contents({"workflow": records}, pinned_floors={"workflow": 0.4}))
    assert pinned.manifest.floors["workflow"].model_dump() == {"value": 0.4, "source": "pinned", "pairs": 0}
    assert pinned.moved_floors == {"workflow": (floor.value, 0.4)}
    assert read_memory(tmp_path / "m").shelves["workflow"].floor == 0.4


def _faulty(kit):
    """Contents that must not be published, and the error that says so."""
    good = [kit.record(n) for n in range(3)]
    shelf = kit.shelf(good)
    rows = shelf.rows.copy()
    rows[1] *= 2
    return [
        pytest.param({"workflow": [*good, good[0]]}, {}, StoreError, "twice", id="twice"),
        pytest.param({"function": good}, {}, StoreError, "its shelf is 'function'", id="wrong shelf"),
        pytest.param(
            {"workflow": good}, {"shelves": {"workflow": replace(shelf, rows=rows)}}, StoreError, "row 1", id="row"
        ),
        pytest.param(
            {"workflow": good},
            {"shelves": {"workflow": replace(shelf, rows=rows[:2])}},
            RowsDoNotMatch,
            "2 rows for 3 records",
            id="rows",
        ),
        pytest.param({"workflow": good}, {"width": 63}, WidthDoesNotMatch, "expected 63", id="width"),
        pytest.param({"workflow": good}, {"pinned_floors": {"function": 0.3}}, ConfigError, "'function'", id="floor"),
        pytest.param(
            {"workflow": [*good, replace(good[0], id="0" * 32, body={"text": "\ud83d"})]},
            {},
            StoreError,
            "cannot be written",
            id="surrogate",
        ),
    ]


@pytest.mark.parametrize("number", range(7))
def test_what_cannot_be_published_fails_before_a_file_is_touched(kit, place, number):
    """Faulty contents are typed errors; the published generation is as it was, and no folder is left behind."""
    shelves, changes, error, words = _faulty(kit)[number].values
    before = kit.files(place)
    made = kit.contents(shelves)
    made = replace(made, **changes)
    with pytest.raises(error, match=words):
        publish(place, lambda _: made)
    assert kit.files(place) == before
    assert [path.name for path in (place / "generations").iterdir()] == ["000001"]


def test_what_compose_raises_comes_through(kit, place):
    """Also when it is called on nothing; the lock is free afterwards."""
    with pytest.raises(ZeroDivisionError):
        publish(place, lambda _: 1 / 0)
    assert publish(place, kit.union(5)).changed


def test_a_pin_is_checked_before_anything_is_extended(kit, place, tmp_path):
    """Another seal, or nothing published: no compose, no change."""
    pin = read_memory(place).seal
    before = kit.files(place)
    for where, wrong in ((place, "0" * 64), (tmp_path / "new", pin)):
        with pytest.raises(DigestDoesNotMatch):
            publish(where, lambda _: pytest.fail("composed"), pin=wrong)
    assert kit.files(place) == before
    assert publish(place, kit.union(5), pin=pin).changed


def test_a_wrong_pin_leaves_no_trace(kit, place, tmp_path):
    """No directory, no lock: neither where nothing is, nor in a memory that was copied without its lock."""
    (place / ".lock").unlink()
    (tmp_path / "empty").mkdir()
    for where in (place, tmp_path / "empty", tmp_path / "a/b/new"):
        with pytest.raises(DigestDoesNotMatch):
            publish(where, lambda _: pytest.fail("composed"), pin="0" * 64)
    assert not (place / ".lock").exists()
    assert list((tmp_path / "empty").iterdir()) == []
    assert not (tmp_path / "a").exists()


def test_a_first_publish_that_fails_leaves_an_unfinished_build(kit, tmp_path):
    """Its lock alone; the next publish takes the directory over."""
    with pytest.raises(ZeroDivisionError):
        publish(tmp_path / "new", lambda _: 1 / 0)
    assert [path.name for path in (tmp_path / "new").iterdir()] in ([], [".lock"])
    with pytest.raises(StoreError, match=r"unfinished build|no memory"):
        read_memory(tmp_path / "new")
    assert publish(tmp_path / "new", kit.union(1)).changed


def test_a_tampered_memory_is_not_extended(kit, place):
    """One genuine write would seal it."""
    path = place / "generations/000001/workflow/records.json"
    path.write_bytes(path.read_bytes().replace(b"Look first", b"Never look"))
    with pytest.raises(DigestDoesNotMatch, match="amd check"):
        publish(place, kit.union(5))
    assert not (place / "generations/000002").exists()


def test_four_builders_at_a_barrier_keep_all_records(kit, tmp_path):
    """Different inputs into one directory at once: nothing of any of them is lost."""
    children = [
        subprocess.Popen(
            [
                sys.executable,
                str(CHILDREN),
                "race",
                str(tmp_path / "m"),
                str(first),
                str(first + 1),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for first in (0, 10, 20, 30)
    ]
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        child.communicate(timeout=60)
        assert child.returncode == 0
    expected = {f"task_{first + n}" for first in (0, 10, 20, 30) for n in range(2)}
    assert _tasks(tmp_path / "m") == expected
    assert read_memory(tmp_path / "m").manifest.generation == 8
    assert check(tmp_path / "m").ok


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 5), _TEXT, _TEXT), max_size=8, unique_by=lambda drawn: drawn[1]))
def test_d03_rows_are_records(kit, tmp_path_factory, drawn):
    """D03, D11b: for any texts, what opens has the records that went in, each with the row of its own key."""
    records = [kit.record(n, f"k {key}", body={"text": text}) for n, key, text in drawn]
    place = tmp_path_factory.mktemp("memory")
    embedder = kit.FakeEmbedder()
    publish(place, lambda _: kit.contents({"workflow": records}))
    shelf = read_memory(place).shelves["workflow"]
    found = list(shelf.records())
    assert sorted(found, key=lambda each: each.id) == sorted(records, key=lambda each: each.id)
    assert len(shelf.rows) == len(found) == len(shelf)
    if found:
        assert np.array_equal(shelf.rows, embedder.embed([each.key for each in found]))
