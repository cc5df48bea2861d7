"""Opening a memory."""

from __future__ import annotations

import os
import shutil
import stat

import pytest

from amd.embedders.hash import HashEmbedder
from amd.errors import DigestDoesNotMatch, EmbedderDoesNotMatch, RowsDoNotMatch, StoreError
from amd.exclusion import deployed
from amd.store import check, open_memory, publish, read_memory
from amd.tier import Query


def _answers(memory):
    question = Query("move report1 into folder1", k=9)
    return {tier: shelf.search(question, viewer=deployed()) for tier, shelf in memory.shelves.items()}


def test_moved_copied_and_read_only(kit, grown, tmp_path):
    """Answers stay the same, and opening writes nothing, not even a lock."""
    before = _answers(open_memory(grown, embedder=kit.FakeEmbedder()))
    copied = shutil.copytree(grown, tmp_path / "copy")
    (copied / ".lock").unlink()
    moved = (tmp_path / "copy").rename(tmp_path / "elsewhere")
    files = kit.files(moved)
    for path in [*moved.rglob("*"), moved]:
        path.chmod(stat.S_IRUSR | (stat.S_IXUSR if path.is_dir() else 0))
    try:
        assert _answers(open_memory(moved, embedder=kit.FakeEmbedder())) == before
        assert check(moved).ok
    finally:
        for path in [moved, *moved.rglob("*")]:
            path.chmod(stat.S_IRWXU)
    assert kit.files(moved) == files
    assert not (moved / ".lock").exists()


def test_a_reader_keeps_its_generation(kit, place):
    """Later publishes, which prune its files, change nothing for a reader that opened before."""
    memory = open_memory(place, embedder=kit.FakeEmbedder())
    for number in range(3, 7):
        publish(place, kit.union(number))
    assert not (place / "generations/000001").exists()
    assert [each.task.task_id for each in memory.shelves["workflow"].records()] == ["task_0", "task_1", "task_2"]
    found = memory.shelves["workflow"].search(Query("move report2 into folder2"), viewer=deployed())
    assert found.considered == 3
    assert found.hits[0].record.task.task_id == "task_2"
    assert len(open_memory(place, embedder=kit.FakeEmbedder()).shelves["workflow"]) == 7


def test_a_pin_names_one_state(kit, place):
    """The pinned seal opens, any other is a typed error with both values."""
    pin = read_memory(place).seal
    assert open_memory(place, pin=pin, embedder=kit.FakeEmbedder()).seal == pin
    publish(place, kit.union(5))
    with pytest.raises(DigestDoesNotMatch) as caught:
        open_memory(place, pin=pin, embedder=kit.FakeEmbedder())
    assert caught.value.fields == {"expected": pin, "found": read_memory(place).seal}


@pytest.mark.parametrize(
    ("members", "named"),
    [
        pytest.param({"id": "fake-b"}, r"'fake-a' \(64 wide\).*'fake-b' \(64 wide\)", id="same width"),
        pytest.param({"id": "fake-c", "width": 32}, r"'fake-a' \(64 wide\).*'fake-c' \(32 wide\)", id="other width"),
        pytest.param({"width": 48}, r"'fake-a' \(64 wide\).*'fake-a' \(48 wide\)", id="same id"),
    ],
)
def test_c03_another_embedder(kit, place, members, named):
    """C03: another id, another width, or the same id with a width that was not asked for."""
    files = kit.files(place)
    with pytest.raises(EmbedderDoesNotMatch, match=named) as caught:
        open_memory(place, embedder=kit.FakeEmbedder(**members))
    assert "amd reindex" in caught.value.next_step
    assert caught.value.fields["stored"] == "fake-a"
    assert kit.files(place) == files
    open_memory(place, embedder=kit.FakeEmbedder())


def test_the_embedder_is_found_by_its_id(kit, tmp_path):
    """Without one, the memory brings the one it was built with; ``read_memory`` waits until it is needed."""
    records = [kit.record(n) for n in range(3)]
    publish(tmp_path / "m", lambda _: kit.contents({"workflow": records}, embedder=HashEmbedder()))
    with open_memory(tmp_path / "m") as memory:
        assert memory.embedder.id == "hash"
        found = memory.shelves["workflow"].search(Query(records[1].key), viewer=deployed())
        assert found.hits[0].record == records[1]
    assert memory.shelves == {}


def test_an_unknown_embedder_is_told_at_opening(place):
    """``fake-a`` is no embedder that an id finds; reading the records needs none."""
    with pytest.raises(Exception, match="fake-a"):
        open_memory(place)
    assert len(read_memory(place).shelves["workflow"]) == 3


@pytest.mark.parametrize("name", ["generations/000002/workflow/keys.npy", "generations/000002/function/records.json"])
def test_a_missing_or_empty_file_is_named(kit, grown, name):
    """Typed, with the file and the next step."""
    (grown / name).write_bytes(b"")
    with pytest.raises(StoreError, match=name) as caught:
        open_memory(grown, embedder=kit.FakeEmbedder())
    assert "amd check" in caught.value.next_step
    (grown / name).unlink()
    with pytest.raises(StoreError, match=name):
        open_memory(grown, embedder=kit.FakeEmbedder())


def test_a_sealed_memory_whose_counts_differ(kit, place):
    """Somebody who can seal still cannot bring another number of rows than of records."""
    from amd.store.manifest import manifest_bytes, read_manifest, sealed

    manifest = read_manifest(place)
    figures = manifest.shelves["workflow"].model_copy(update={"rows": 4})
    wrong = sealed(manifest.model_copy(update={"shelves": {**manifest.shelves, "workflow": figures}}))
    (place / "manifest.json").write_bytes(manifest_bytes(wrong))
    with pytest.raises(RowsDoNotMatch, match="3 records, the manifest says 4"):
        read_memory(place)


def test_a_generation_pruned_while_it_is_opened(kit, place, monkeypatch):
    """Between the manifest and its files two publishes may pass: the reader turns to what is published now."""
    real = os.open

    def late(path, *arguments, **options):
        if "generations/000001" in str(path):
            monkeypatch.setattr(os, "open", real)
            publish(place, kit.union(5))
            publish(place, kit.union(6))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", late)
    memory = read_memory(place)
    assert os.open is real
    assert memory.manifest.generation == 3
    assert len(memory.shelves["workflow"]) == 5
