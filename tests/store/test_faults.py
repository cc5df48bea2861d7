"""Faults injected into the file system, for every operation in turn; and kills."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from amd.errors import AmdError, StoreError
from amd.exclusion import deployed
from amd.store import check, open_memory, publish, read_memory, reindex
from amd.tier import Query

CHILDREN = Path(__file__).with_name("children.py")
OPERATIONS = ("open", "write", "fsync", "link", "replace", "mkdir", "unlink", "rmdir")


@contextmanager
def failing(name, number, code):
    """Let the ``number``-th call of ``os.NAME`` fail; a write is torn in the middle. Yields a list of what failed."""
    real, count, failed = getattr(os, name), 0, []

    def operation(*arguments, **options):
        nonlocal count
        count += 1
        if count != number:
            return real(*arguments, **options)
        if name == "write":
            real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
        failed.append(arguments)
        raise OSError(code, os.strerror(code))

    setattr(os, name, operation)
    try:
        yield failed
    finally:
        setattr(os, name, real)


def _tasks(memory):
    return {
        tier: sorted(each.task.task_id for each in memory.shelves[tier].records()) for tier in ("function", "workflow")
    }


OLD = ["task_0", "task_1", "task_2", "task_3"]
NEW = [*OLD, "task_9"]


def _assert_old_or_new(place, kit):
    """All tiers of one generation, found by search, and the right record comes back (D08a)."""
    memory = open_memory(place, embedder=kit.FakeEmbedder())
    tasks = _tasks(memory)
    assert tasks["workflow"] == tasks["function"]
    assert tasks["workflow"] in (OLD, NEW)
    found = memory.shelves["workflow"].search(Query("move report2 into folder2"), viewer=deployed())
    assert found.hits[0].record.task.task_id == "task_2"


def _assert_next_publish_completes(place, kit):
    publish(place, kit.union(9))
    assert _tasks(read_memory(place)) == {"function": NEW, "workflow": NEW}
    report = check(place)
    assert report.ok, report.faults


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC], ids=["EIO", "ENOSPC"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_of_a_publish_fails_in_turn(kit, grown, tmp_path, name, code):
    """The old generation or the new one, a typed error, and the next publish completes."""
    number, failed = 0, True
    while failed:
        number += 1
        place = shutil.copytree(grown, tmp_path / str(number))
        try:
            with failing(name, number, code) as failed:
                publish(place, kit.union(9))
        except StoreError as error:
            told = str(error)
        else:
            told = os.strerror(code)
        assert os.strerror(code) in told
        # An operation that is not needed may fail unnoticed; what is published is whole either way.
        _assert_old_or_new(place, kit)
        _assert_next_publish_completes(place, kit)
    assert number > 1, "nothing failed: the fault was not injected"


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_of_a_first_publish_fails_in_turn(kit, tmp_path, name):
    """Nothing published, or all of it; a second try completes."""
    number, failed = 0, True
    while failed:
        number += 1
        place = tmp_path / str(number)
        try:
            with failing(name, number, errno.ENOSPC) as failed:
                publish(place, kit.union(0, 1))
        except StoreError:
            assert failed
        if (place / "manifest.json").exists():
            assert len(read_memory(place).shelves["workflow"]) == 2
        publish(place, kit.union(0, 1))
        assert check(place).ok


def test_a_link_that_fails_for_want_of_space_is_told(kit, grown):
    """Only a file system without links gets copies."""
    contents = kit.contents({t: list(s.records()) for t, s in read_memory(grown).shelves.items()}, terms="x")
    before = read_memory(grown).seal
    with failing("link", 2, errno.ENOSPC), pytest.raises(StoreError, match="No space"):
        publish(grown, lambda _: contents)
    assert read_memory(grown).seal == before
    publish(grown, lambda _: contents)
    assert check(grown).ok


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_of_a_reindex_fails_in_turn(kit, grown, tmp_path, name):
    """C03: with the old embedder or with the new one it opens, never with neither."""
    new = kit.FakeEmbedder("fake-b", 32)
    number, failed = 0, True
    while failed:
        number += 1
        place = shutil.copytree(grown, tmp_path / str(number))
        try:
            with failing(name, number, errno.EIO) as failed:
                reindex(place, embedder=new)
        except AmdError:
            assert failed
        stored = read_memory(place).manifest.embedder.id
        open_memory(place, embedder=new if stored == "fake-b" else kit.FakeEmbedder())
        reindex(place, embedder=new)
        assert open_memory(place, embedder=new).manifest.embedder.dim == 32
        assert check(place).ok


def _killed(action, step, place, folder):
    """Copies of a memory, each with a process killed at another operation; the last one got through."""
    folder.mkdir()
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(CHILDREN), "kill", action, str(step), str(place), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [folder / str(number) for number in range(1, int(done.stdout) + 1)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
def test_d08_killed_at_each_operation(kit, grown, tmp_path):
    """D08a, D08b: SIGKILL between any two operations and in the middle of every write."""
    places = _killed("add", 1, grown, tmp_path / "killed")
    assert len(places) > 30
    seen = set()
    for place in places:
        _assert_old_or_new(place, kit)
        seen.add(len(read_memory(place).shelves["workflow"]))
        _assert_next_publish_completes(place, kit)
    assert seen == {4, 5}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked children")
def test_c03_reindex_killed(kit, grown, tmp_path):
    """C03: a reindex that was killed leaves a memory that opens with the old embedder, or is done."""
    ids = set()
    for place in _killed("move", 4, grown, tmp_path / "killed"):
        stored = read_memory(place).manifest.embedder
        ids.add(stored.id)
        open_memory(place, embedder=kit.FakeEmbedder(stored.id, stored.dim))
        reindex(place, embedder=kit.FakeEmbedder("fake-b", 32))
        assert check(place).ok
    assert ids == {"fake-a", "fake-b"}
