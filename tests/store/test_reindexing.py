"""``reindex``: what a person edited is taken in."""

from __future__ import annotations

import numpy as np
import orjson
import pytest

from amd.errors import ClientError, DigestDoesNotMatch, EmbedderDoesNotMatch, StoreError
from amd.exclusion import deployed
from amd.store import check, open_memory, publish, read_memory, reindex
from amd.tier import Query

RECORDS = "generations/000002/workflow/records.json"


@pytest.fixture
def edit(grown):
    """Change the lines of the workflow shelf as a person would; each line as its members."""

    def edit(change):
        path = grown / RECORDS
        lines = [orjson.loads(line.rstrip(b",")) for line in path.read_bytes().split(b"\n")[1:-2]]
        changed = change(lines) or lines
        path.write_bytes(b"[\n" + b",\n".join(orjson.dumps(line) for line in changed) + b"\n]\n")
        return lines

    return edit


def _keys(memory):
    return [each.key for each in memory.shelves["workflow"].records()]


def _assert_rows_are_records(memory, embedder):
    for shelf in memory.shelves.values():
        assert len(shelf.rows) == len(shelf)
        assert np.array_equal(shelf.rows, embedder.embed([each.key for each in shelf.records()]))


def test_an_edited_key_is_embedded_and_found(kit, grown, edit):
    """Only that key; the record has the id of its content; the edit is shown; the new text is found."""
    embedder = kit.FakeEmbedder()
    old = edit(lambda lines: lines[1].update(key="polish the silver"))[1]["id"]
    with pytest.raises(StoreError, match="amd reindex"):
        open_memory(grown, embedder=embedder)
    report = reindex(grown, embedder=embedder)
    assert (report.embedded, report.generation, report.removed) == (1, 3, 0)
    assert embedder.texts == ["polish the silver"]
    memory = open_memory(grown, embedder=embedder)
    found = memory.shelves["workflow"].search(Query("polish the silver"), viewer=deployed()).hits[0].record
    assert found.key == "polish the silver"
    assert found.id != old
    (made,) = report.edits
    assert (made.tier, made.old_id, made.new_id) == ("workflow", old, found.id)
    assert "polish the silver" in made.diff
    assert check(grown).ok
    _assert_rows_are_records(memory, embedder)


def test_bodies_and_states_need_no_embedding(kit, grown, edit):
    """A diff against the kept generation where it has the record; a retired record is not shown."""

    def change(lines):
        lines[0]["body"]["text"] = "Look twice."
        lines[2]["status"] = "retired"

    embedder = kit.FakeEmbedder()
    edit(change)
    report = reindex(grown, embedder=embedder)
    assert (report.embedded, embedder.texts, len(report.edits)) == (0, [], 2)
    assert '-    "text": "Look first, then move report 0."' in report.edits[0].diff
    assert '+    "text": "Look twice."' in report.edits[0].diff
    assert '+  "status": "retired",' in report.edits[1].diff
    assert report.edits[1].old_id == report.edits[1].new_id
    shelf = open_memory(grown, embedder=embedder).shelves["workflow"]
    found = shelf.search(Query("move report2 into folder2", k=9), viewer=deployed(), floored=False)
    assert {hit.record.task.task_id for hit in found.hits} == {"task_0", "task_1", "task_3"}
    assert check(grown).ok


def test_lines_removed_moved_and_added(kit, grown, edit):
    """Rows follow their records by hash, so nothing is embedded again but the added key."""

    def change(lines):
        added = {**lines[0], "key": "a new trick", "id": "", "key_sha256": "", "row_sha256": "", "line_sha256": ""}
        return [added, lines[3], lines[0], lines[2]]

    embedder = kit.FakeEmbedder()
    edit(change)
    report = reindex(grown, embedder=embedder)
    assert (report.embedded, report.removed, embedder.texts) == (1, 1, ["a new trick"])
    memory = open_memory(grown, embedder=embedder)
    assert sorted(each.task.task_id for each in memory.shelves["workflow"].records()) == [
        "task_0", "task_0", "task_2", "task_3"
    ]  # fmt: skip
    _assert_rows_are_records(memory, embedder)
    assert check(grown).ok


@pytest.mark.parametrize(
    ("member", "words"),
    [
        ("family", "family is 'elsewhere'"),
        ("instruction_sha256", "instruction_sha256 is elsewhere"),
        ("task_id", "of task 'elsewhere' and of no run"),
        ("benchmark", "of no run"),
    ],
)
def test_d01_where_a_record_comes_from_cannot_be_edited(kit, grown, edit, member, words):
    """D01: with another family it would be shown to its own task; ``check`` names it, ``reindex`` refuses it."""
    edit(lambda lines: lines[1].update({member: "elsewhere"}))
    before = kit.files(grown)
    with pytest.raises(StoreError, match=rf"records\.json:3: .*{words}"):
        reindex(grown, embedder=kit.FakeEmbedder())
    assert kit.files(grown) == before
    assert any(words in fault.what and "line 3" in fault.what for fault in check(grown).faults)


def test_c13_a_secret_typed_by_hand_is_masked(kit, grown, edit):
    """C13: an edit is a door too; what was not edited is left as it is."""
    edit(lambda lines: lines[0].update(key="mail ann@acme.com", body={"text": "use sk-live-abcdef1234567890"}))
    report = reindex(grown, embedder=kit.FakeEmbedder())
    assert len(report.edits) == 1
    written = b"".join(kit.files(grown).values())
    assert b"ann@acme.com" not in written
    assert b"sk-live" not in written
    assert "mail <email>" in _keys(read_memory(grown))
    assert check(grown).ok


def test_a_removed_line_alone(kit, grown, edit):
    """Nothing to embed, nothing to show, a new generation."""
    edit(lambda lines: lines[1:])
    report = reindex(grown, embedder=kit.FakeEmbedder())
    assert (report.embedded, report.removed, report.edits, report.changed) == (0, 1, (), True)
    assert _keys(read_memory(grown)) == [kit.record(n).key for n in (1, 2, 3)]


def test_nothing_edited_changes_nothing(kit, grown):
    """No embedding, no generation, no byte; and no embedder is needed."""
    before = kit.files(grown)
    report = reindex(grown)
    assert (report.embedded, report.generation, report.changed, report.edits) == (0, 2, False, ())
    assert report.seal == read_memory(grown).seal
    assert kit.files(grown) == before


def test_reformatted_lines_are_written_as_ours_again(kit, grown):
    """No record changed, but the bytes did: published anew without an edit."""
    path = grown / RECORDS
    path.write_bytes(path.read_bytes().replace(b'{"id":', b'{ "id" : '))
    report = reindex(grown)
    assert (report.embedded, report.edits, report.changed) == (0, (), True)
    assert check(grown).ok


def test_c03_another_embedder_embeds_all(kit, grown):
    """C03: afterwards the memory opens with the new one, and no more with the old one."""
    new = kit.FakeEmbedder("fake-b", 32)
    report = reindex(grown, embedder=new)
    texts = {each.key for shelf in read_memory(grown).shelves.values() for each in shelf.records()}
    assert report.embedded == len(texts) == len(new.texts)
    memory = open_memory(grown, embedder=new)
    _assert_rows_are_records(memory, new)
    assert (memory.manifest.embedder.id, memory.manifest.embedder.dim) == ("fake-b", 32)
    with pytest.raises(EmbedderDoesNotMatch):
        open_memory(grown, embedder=kit.FakeEmbedder())
    assert check(grown).ok


def test_c03_the_width_that_is_given_is_stored(kit, grown):
    """C03, third variant: asked for 64, the service gives 48: the manifest says 48."""
    embedder = kit.FakeEmbedder(width=48)
    reindex(grown, embedder=embedder)
    manifest = open_memory(grown, embedder=embedder).manifest
    assert manifest.embedder.dim == 48
    assert {figures.width for figures in manifest.shelves.values()} == {48}


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        pytest.param(lambda lines: lines[1].pop("key"), 3, "key", id="no key"),
        pytest.param(lambda lines: lines[1].update(key=" "), 3, "empty", id="empty key"),
        pytest.param(lambda lines: lines[2].update(tier="subtask"), 4, "tier", id="tier"),
        pytest.param(lambda lines: [lines[0], lines[0]], 3, "the same record as line 2", id="twice"),
    ],
)
def test_a_faulty_line_leaves_all_as_it_was(kit, grown, edit, change, line, words):
    """File and line, and not a byte differs."""
    edit(lambda lines: result if isinstance(result := change(lines), list) else None)
    before = kit.files(grown)
    with pytest.raises(StoreError, match=words) as caught:
        reindex(grown, embedder=kit.FakeEmbedder())
    assert f"{RECORDS}:{line}: " in str(caught.value)
    assert caught.value.fields["line"] == line
    assert kit.files(grown) == before


def test_broken_json_leaves_all_as_it_was(kit, grown):
    """A missing quote is named by file and line."""
    path = grown / RECORDS
    path.write_bytes(path.read_bytes().replace(b'"status":"active', b'"status":active', 1))
    before = kit.files(grown)
    with pytest.raises(StoreError, match=r"workflow/records\.json:2: "):
        reindex(grown, embedder=kit.FakeEmbedder())
    assert kit.files(grown) == before


def test_an_embedder_that_fails_leaves_all_as_it_was(kit, grown, edit):
    """The service's own error comes through; nothing is half done."""
    edit(lambda lines: lines[0].update(key="another key"))
    before = kit.files(grown)
    embedder = kit.FakeEmbedder()

    def embed(texts):
        if texts != ["width"]:
            raise ClientError("the service is gone")
        return kit.FakeEmbedder().embed(texts)

    embedder.embed = embed
    with pytest.raises(ClientError, match="gone"):
        reindex(grown, embedder=embedder)
    assert kit.files(grown) == before


def test_what_is_no_hand_edit_is_tampering(kit, grown):
    """Rows and manifest are nobody's to edit."""
    for name in ("generations/000002/workflow/keys.npy", "manifest.json"):
        path = grown / name
        text = path.read_bytes()
        path.write_bytes(text[:-9] + bytes([text[-9] ^ 1]) + text[-8:])
        with pytest.raises(DigestDoesNotMatch if name != "manifest.json" else StoreError):
            reindex(grown, embedder=kit.FakeEmbedder())
        path.write_bytes(text)
    assert check(grown).ok


def test_a_pin_is_of_the_manifest(kit, grown, edit):
    """The edited files differ by nature; the manifest they belong to must be the pinned one."""
    pin = read_memory(grown).seal
    edit(lambda lines: lines[0].update(key="another key"))
    with pytest.raises(DigestDoesNotMatch):
        reindex(grown, embedder=kit.FakeEmbedder(), pin="0" * 64)
    assert reindex(grown, embedder=kit.FakeEmbedder(), pin=pin).embedded == 1


def test_an_edited_generation_is_not_kept(kit, grown, edit):
    """Its files are no longer what its figures say; the next publish keeps one again."""
    edit(lambda lines: lines[0].update(key="another key"))
    reindex(grown, embedder=kit.FakeEmbedder())
    assert read_memory(grown).manifest.previous is None
    assert [path.name for path in (grown / "generations").iterdir()] == ["000003"]
    publish(grown, kit.union(6))
    assert read_memory(grown).manifest.previous.generation == 3
    assert check(grown).ok


def test_runs_floors_and_the_rest_stay(kit, grown, edit):
    """What a later build needs to know is kept."""
    before = read_memory(grown).manifest
    edit(lambda lines: lines[0].update(key="another key"))
    reindex(grown, embedder=kit.FakeEmbedder())
    after = read_memory(grown).manifest
    for member in ("sources", "method", "benchmark", "all_trials", "distiller", "costs", "embedder"):
        assert getattr(after, member) == getattr(before, member)
    assert after.content != before.content


def test_no_memory_is_left_alone(tmp_path, kit):
    """Not even a lock is made."""
    with pytest.raises(StoreError, match="no memory"):
        reindex(tmp_path / "nowhere", embedder=kit.FakeEmbedder())
    assert not (tmp_path / "nowhere").exists()
