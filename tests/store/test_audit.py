"""``check``: every fault, named."""

from __future__ import annotations

import os

import orjson
import pytest

from amd.store import check, publish, read_memory
from amd.store.manifest import manifest_bytes, read_manifest, sealed

RECORDS = "generations/000002/workflow/records.json"
KEYS = "generations/000002/workflow/keys.npy"


def _edit(place, line, **changes):
    path = place / RECORDS
    lines = path.read_bytes().split(b"\n")
    fields = orjson.loads(lines[line - 1].rstrip(b","))
    lines[line - 1] = orjson.dumps({**fields, **changes}) + (b"," if lines[line - 1].endswith(b",") else b"")
    path.write_bytes(b"\n".join(lines))
    return fields["id"]


def _faults(place, **options):
    return [f"{fault.file}: {fault.what}" for fault in check(place, **options).faults]


def test_a_good_memory(kit, grown):
    """No fault; digest, seal and counts; nothing is changed, not even by a lock file."""
    before = kit.files(grown)
    memory = read_memory(grown)
    report = check(grown, pin=memory.seal, embedder=kit.FakeEmbedder())
    assert report.ok
    assert (report.digest, report.seal) == (memory.digest, memory.seal)
    assert report.shelves == {"function": 4, "subtask": 1, "workflow": 4}
    assert kit.files(grown) == before


def test_every_fault_is_named(kit, grown):
    """Two edits in one file, a row that is gone, a stray file, a wrong pin: all of them."""
    first, second = _edit(grown, 2, key="edited"), _edit(grown, 4, status="retired")
    (grown / KEYS).unlink()
    (grown / "notes.txt").write_text("x")
    (grown / "generations/000001/workflow/extra").write_text("x")
    pin = "0" * 64
    faults = _faults(grown, pin=pin)
    for words in (
        f"{RECORDS}: sha256",
        f"{RECORDS}: record {first}, line 2: its key was edited by hand",
        f"{RECORDS}: record {second}, line 4: edited by hand beside its key and body",
        f"{KEYS}: ",
        "notes.txt: does not belong",
        "generations/000001/workflow/extra: does not belong",
        f"the pin is {pin}",
        "the records give the content digest",
    ):
        assert any(words in fault for fault in faults), (words, faults)


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"key": "k"}, "its key"), ({"body": {}}, "its content has the id"), ({"tool": "cd"}, "beside its key and body")],
)
def test_a_hand_edit_is_named_by_record_and_line(grown, changes, words):
    """What was edited, where."""
    name = _edit(grown, 3, **changes)
    assert any(f"record {name}, line 3: " in fault and words in fault for fault in _faults(grown))


def test_broken_lines_removed_lines_and_order(grown):
    """The line that cannot be read; how many are missing; an order that is not ours."""
    path = grown / RECORDS
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], lines[2], lines[1], b"{torn", *lines[5:]]))
    faults = _faults(grown)
    assert any(f"{RECORDS}: line 4: " in fault for fault in faults)
    assert any("2 records, the manifest says 4" in fault for fault in faults)
    assert any("not in the order" in fault for fault in faults)


def test_rows_that_belong_to_other_records(kit, grown):
    """Two rows swapped and everything sealed again: the hash in each line still tells."""
    text = bytearray((grown / KEYS).read_bytes())
    text[-512:-256], text[-256:] = text[-256:], text[-512:-256]
    (grown / KEYS).write_bytes(text)
    manifest = read_manifest(grown)
    from amd.json_text import digest

    figures = manifest.shelves["workflow"]
    figures = figures.model_copy(update={"files": {**figures.files, "keys.npy": digest(bytes(text))}})
    wrong = sealed(manifest.model_copy(update={"shelves": {**manifest.shelves, "workflow": figures}}))
    (grown / "manifest.json").write_bytes(manifest_bytes(wrong))
    read_memory(grown)  # opening trusts the seal; this is what check is for
    faults = _faults(grown)
    assert len(faults) == 2
    assert all("is not the row of record" in fault for fault in faults)


def test_a_wrong_content_digest(grown):
    """Sealed again, but the records give another digest."""
    wrong = sealed(read_manifest(grown).model_copy(update={"content": "0" * 64}))
    (grown / "manifest.json").write_bytes(manifest_bytes(wrong))
    assert any("content digest" in fault for fault in _faults(grown))


def test_another_embedder_is_a_fault(kit, place):
    """Only if one is given."""
    assert any("'fake-b'" in fault for fault in _faults(place, embedder=kit.FakeEmbedder("fake-b")))


def test_what_belongs_to_writers_is_no_fault(kit, grown):
    """The lock, the journal, the next generation; any other number is one."""
    (grown / ".journal.jsonl").write_text("")
    (grown / "generations/000003/workflow").mkdir(parents=True)
    assert check(grown).ok
    (grown / "generations/000007").mkdir()
    assert _faults(grown) == ["generations/000007: does not belong in a memory"]


@pytest.mark.parametrize("names", [[], [".lock"], ["notes.txt"]])
def test_no_memory_is_one_fault(tmp_path, names):
    """Nothing there, an unfinished build, something else: a report, never a traceback."""
    for name in names:
        (tmp_path / name).write_text("")
    for path in (tmp_path, tmp_path / "nowhere"):
        report = check(path)
        assert (report.ok, len(report.faults), report.seal) == (False, 1, "")


def test_a_file_that_cannot_be_read_is_a_fault(grown, monkeypatch):
    """A disk that fails is told like a byte that differs."""
    real = os.open

    def failing(path, *arguments, **options):
        if str(path).endswith(KEYS):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", failing)
    assert any("Permission denied" in fault for fault in _faults(grown))


def test_folders_where_files_should_be(grown):
    """Whatever lies there."""
    for name in (RECORDS, "manifest.json"):
        (grown / name).unlink()
        (grown / name).mkdir()
        assert not check(grown).ok


def test_c02_content_of_a_memory_that_grew(kit, grown):
    """A publish after a check is checked again."""
    publish(grown, kit.union(8))
    assert check(grown).ok
