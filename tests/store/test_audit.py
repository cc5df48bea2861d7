"""``check``: every fault, named."""

from __future__ import annotations

import os

import orjson
import pytest

from amd.json_text import digest
from amd.records import record_id
from amd.store import check, publish, read_memory
from amd.store.lines import line_sha256, origin_sha256
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
    """The lock, the journal, the next generation, older ones that are about to be pruned; any later number is one."""
    (grown / ".journal.jsonl").write_text("")
    for number in (0, 3):
        (grown / f"generations/{number:06d}/workflow").mkdir(parents=True)
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


def _forged(place, tier, line, **changes):
    """Edit a line of the second generation and compute all its hashes anew; the record's id."""
    path = place / f"generations/000002/{tier}/records.json"
    lines = path.read_bytes().split(b"\n")
    fields = {**orjson.loads(lines[line - 1].rstrip(b",")), **changes}
    fields["key_sha256"] = digest(fields["key"].encode())
    fields["id"] = record_id(tier, fields["benchmark"], fields["task_id"], fields["key"], fields["body"])
    fields["origin_sha256"] = origin_sha256(fields)
    fields["line_sha256"] = line_sha256(fields)
    lines[line - 1] = orjson.dumps(fields) + (b"," if lines[line - 1].endswith(b",") else b"")
    path.write_bytes(b"\n".join(lines))
    return fields["id"]


def test_an_edit_whose_hashes_were_all_computed_anew(grown):
    """The file's hash tells that it was edited, the kept generation which line it was."""
    name = _forged(grown, "workflow", 3, key="polish the silver")
    named = [fault for fault in _faults(grown) if f"record {name}, line 3: " in fault]
    assert len(named) == 1
    assert "its row is that of another key" in named[0]


def test_a_body_whose_hashes_were_all_computed_anew(grown):
    """Its row is still right: what the kept generation has not is named, with the record that the last build added."""
    name = _forged(grown, "workflow", 3, body={"text": "Never look."})
    faults = _faults(grown)
    assert any("no line shows an edit" in fault for fault in faults)
    named = [fault for fault in faults if "may be the edited one" in fault]
    assert any(f"record {name}, line 3: " in fault for fault in named)
    assert len(named) == 2


def test_without_a_kept_generation_no_line_can_be_named(kit, place):
    """The shelf did not change, so the kept one is the same file: edited in place, both differ."""
    records = {tier: list(shelf.records()) for tier, shelf in read_memory(place).shelves.items()}
    publish(place, lambda _: kit.contents(records, terms="x"))
    _forged(place, "workflow", 3, body={"text": "Never look."})
    faults = _faults(place)
    assert any("no line shows an edit" in fault for fault in faults)
    assert not any("may be the edited one" in fault for fault in faults)


def test_a_shown_edit_and_a_reformatted_file_are_not_called_silent(grown):
    """Negative controls: spaces are no edit, and a line that shows its edit is enough."""
    path = grown / "generations/000002/function/records.json"
    text = path.read_bytes()
    path.write_bytes(text.replace(b'{"id":', b'{ "id" : '))
    assert not any("no line shows an edit" in fault for fault in _faults(grown))
    path.write_bytes(text)
    _edit(grown, 3, key="edited")
    assert not any("no line shows an edit" in fault for fault in _faults(grown))


def _during(monkeypatch, name, then):
    """Do something just before the file ``name`` is opened, once."""
    real = os.open

    def late(path, *arguments, **options):
        if str(path).endswith(name):
            monkeypatch.setattr(os, "open", real)
            then()
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", late)


def test_a_publish_meanwhile_is_no_fault(kit, grown, monkeypatch):
    """The kept generation is pruned before it is read: what is published now is checked instead."""
    _during(monkeypatch, "000001/workflow/records.json", lambda: publish(grown, kit.union(5)))
    report = check(grown)
    assert report.ok, report.faults
    assert report.seal == read_memory(grown).seal
    assert report.shelves["workflow"] == 5


def test_a_fault_is_told_after_a_publish_too(kit, grown, monkeypatch):
    """Positive control: only the faults of what is published now count, and they do."""
    (grown / "notes.txt").write_text("x")
    _during(monkeypatch, "000001/workflow/records.json", lambda: publish(grown, kit.union(5)))
    assert _faults(grown) == ["notes.txt: does not belong in a memory"]


def test_a_pin_holds_after_a_publish_too(kit, grown, monkeypatch):
    """What is checked then has another seal."""
    pin = read_memory(grown).seal
    _during(monkeypatch, "000001/workflow/records.json", lambda: publish(grown, kit.union(5)))
    assert [fault for fault in _faults(grown, pin=pin) if f"the pin is {pin}" in fault]


def test_a_memory_that_never_rests_is_told(kit, grown, monkeypatch):
    """Published anew during each check: the checks end, and say why they cannot tell."""
    real, numbers = os.open, iter(range(10, 99))

    def late(path, *arguments, **options):
        if str(path).endswith("manifest.json") and not arguments[0] & os.O_WRONLY:
            descriptor = real(path, *arguments, **options)
            monkeypatch.setattr(os, "open", real)
            for _ in range(2):
                publish(grown, kit.union(next(numbers)))
            monkeypatch.setattr(os, "open", late)
            return descriptor
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", late)
    report = check(grown)
    assert not report.ok
    assert "when no writer is at work" in report.faults[0].what
