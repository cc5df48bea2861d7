"""``reindex``: what a person edited is taken in."""

from __future__ import annotations

import re

import numpy as np
import orjson
import pytest
from filelock import FileLock, Timeout

from amd.errors import ClientError, DigestDoesNotMatch, EmbedderDoesNotMatch, StoreError, WidthDoesNotMatch
from amd.exclusion import deployed
from amd.json_text import digest
from amd.records import record_id
from amd.store import check, open_memory, publish, read_memory, reindex
from amd.store.lines import line_sha256, origin_sha256
from amd.store.manifest import published_manifest
from amd.tier import Query

RECORDS = "generations/000002/workflow/records.json"


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


def test_schemas_are_edited_as_a_state_is(kit, grown, edit):
    """The record stays the one that it is, nothing is embedded, and the difference shows it."""
    old = edit(lambda lines: lines[1].update(schemas={"mv": "a" * 64}))[1]["id"]
    embedder = kit.FakeEmbedder()
    before = published_manifest(grown)
    report = reindex(grown, embedder=embedder)
    (made,) = report.edits
    assert (made.old_id, made.new_id, embedder.texts) == (old, old, [])
    assert f'+    "mv": "{"a" * 64}"' in made.diff
    assert (report.digest == before.content, report.seal == before.seal) == (True, False)
    with open_memory(grown, embedder=embedder) as memory:
        kept = {record.id: record.schemas for record in memory.shelves["workflow"].records()}
    assert (kept.pop(old), {len(others) for others in kept.values()}) == ({"mv": "a" * 64}, {0})
    assert check(grown).ok


def test_bodies_and_states_need_no_embedding(kit, grown, edit):
    """The kept generation vouches for keys and gives a diff, where it has the record; a retired one is not shown."""

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


@pytest.mark.parametrize("place_of", [(1, 2), (2, 1)], ids=["before", "after"])
def test_an_untouched_record_keeps_its_row(kit, grown, edit, place_of):
    """A line forged with the key of an untouched one claims another row for it: neither is believed."""
    embedder = kit.FakeEmbedder("fake-b")
    reindex(grown, embedder=embedder)  # so its rows are in no older generation
    embedder.texts.clear()
    owner, forged = place_of
    everything = dict.fromkeys(["key_sha256", "id", "origin_sha256", "line_sha256"])
    edit(lambda lines: _by_hand(lines[forged], key=lines[owner]["key"], **everything), 3)
    assert reindex(grown, embedder=embedder).embedded == 1
    _assert_rows_are_records(open_memory(grown, embedder=embedder), embedder)
    assert check(grown).ok


def test_an_untouched_record_keeps_its_row_across_shelves(kit, place):
    """The forged line may stand on another shelf."""
    embedder = kit.FakeEmbedder()
    paths = [place / f"generations/000001/{tier}/records.json" for tier in ("workflow", "function")]
    key = orjson.loads(paths[1].read_bytes())[0]["key"]
    lines = orjson.loads(paths[0].read_bytes())
    _by_hand(lines[0], key=key, **dict.fromkeys(["key_sha256", "id", "origin_sha256", "line_sha256"]))
    paths[0].write_bytes(b"[\n" + b",\n".join(orjson.dumps(line) for line in lines) + b"\n]\n")
    assert reindex(place, embedder=embedder).embedded == 1
    _assert_rows_are_records(open_memory(place, embedder=embedder), embedder)


def test_two_rows_of_one_key_in_an_untouched_memory_ask_for_nothing(kit, tmp_path):
    """A service may give two rows for one text: without an edit nothing is embedded or written."""
    contents = kit.contents(
        {"workflow": [kit.record(0, "one key")], "function": [kit.record(0, "one key", tier="function")]}
    )
    contents.shelves["function"].rows[:] = kit.FakeEmbedder().embed(["another"])
    publish(tmp_path / "m", lambda _: contents)
    assert not reindex(tmp_path / "m", embedder=kit.FakeEmbedder(fail=ClientError("asked"))).changed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(b'"family":', b'"family":"family_0","family":', id="family"),
        pytest.param(b'"text":', b'"text":"Look.","text":', id="in the body"),
        pytest.param(b'"teacher":', b'"teacher":"x","teacher":', id="in the source"),
    ],
)
def test_a_member_that_stands_twice_is_refused(kit, grown, old, new):
    """A person reads the first, a parser takes the last."""
    path = grown / RECORDS
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    before = kit.files(grown)
    with pytest.raises(StoreError, match=rf"{RECORDS}:2: .*stands twice"):
        reindex(grown, embedder=kit.FakeEmbedder())
    assert kit.files(grown) == before
    assert any("line 2: " in fault.what and "stands twice" in fault.what for fault in check(grown).faults)


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
    embedder = kit.FakeEmbedder("fake-64", width=48)
    reindex(grown, embedder=embedder)
    manifest = open_memory(grown, embedder=embedder).manifest
    assert manifest.embedder.dim == 48
    assert {figures.width for figures in manifest.shelves.values()} == {48}


def test_c03_another_width_under_the_same_id_is_refused(kit, grown, edit):
    """C03: one id is one space. What an id names may change all the same; the way on is told, and it leads there."""
    changed = kit.FakeEmbedder(width=48)
    with pytest.raises(EmbedderDoesNotMatch) as told:
        open_memory(grown, embedder=changed)
    assert told.value.next_step.count("amd reindex") == 2
    edit(lambda lines: lines[0].update(key="another key"))
    before = kit.files(grown)
    with pytest.raises(WidthDoesNotMatch, match="width 48 after rows of width 64"):
        reindex(grown, embedder=changed)
    assert kit.files(grown) == before
    for embedder in (kit.FakeEmbedder("fake-b"), changed):
        reindex(grown, embedder=embedder)
    _assert_rows_are_records(open_memory(grown, embedder=changed), changed)


def test_an_empty_memory_moves_to_another_embedder(kit, tmp_path):
    """There is no text to learn a width from, and none is asked for."""
    publish(tmp_path / "m", lambda _: kit.contents({"workflow": []}))
    new = kit.FakeEmbedder("fake-b", 32, fail=ClientError("asked"))
    assert reindex(tmp_path / "m", embedder=new).changed
    assert read_memory(tmp_path / "m").manifest.embedder.id == "fake-b"
    assert check(tmp_path / "m").ok


class Outside:
    """An embedder that takes the lock of a memory whenever it is asked, and may do something then."""

    def __init__(self, inner, place, then=None):
        self.inner, self.place, self.then, self.asked = inner, place, then, 0
        self.id, self.floor = inner.id, inner.floor

    def embed(self, texts):
        """The inner one's rows; ``filelock.Timeout`` if somebody holds the lock."""
        self.asked += 1
        with FileLock(self.place / ".lock", timeout=0):
            pass
        if self.then and self.asked == 1:
            self.then()
        return self.inner.embed(texts)


@pytest.mark.parametrize("name", ["fake-a", "fake-b"])
def test_no_model_is_called_under_the_lock(kit, grown, edit, name):
    """Other writers never wait for a service; neither for the memory's own embedder nor for a new one."""
    edit(lambda lines: lines[0].update(key="another key"))
    embedder = Outside(kit.FakeEmbedder(name), grown)
    assert reindex(grown, embedder=embedder).changed
    assert embedder.asked == 1

    def compose(_):
        embedder.embed(["a text"])

    with pytest.raises(Timeout):  # positive control: under the lock it would be noticed
        publish(grown, compose)


def test_no_model_is_called_where_nothing_is_to_embed(kit, grown):
    """The memory's own embedder may be out of reach."""
    assert not reindex(grown, embedder=kit.FakeEmbedder(fail=ClientError("asked"))).changed


def test_a_record_that_comes_while_texts_are_embedded_is_embedded_too(kit, place):
    """Another writer publishes meanwhile: nothing of it is lost, and its rows are of the new embedder."""
    new = kit.FakeEmbedder("fake-b", 32)
    reindex(place, embedder=Outside(new, place, then=lambda: publish(place, kit.union(5))))
    assert kit.record(5).key in _keys(read_memory(place))
    _assert_rows_are_records(open_memory(place, embedder=new), new)


def test_an_embedder_that_changes_while_texts_are_embedded(kit, grown, edit):
    """Another reindex moves all to a third embedder meanwhile: never rows of two embedders in one memory."""
    edit(lambda lines: lines[0].update(key="another key"))
    own = kit.FakeEmbedder()
    third = kit.FakeEmbedder("fake-c")
    reindex(grown, embedder=Outside(own, grown, then=lambda: reindex(grown, embedder=third)))
    assert "another key" in _keys(read_memory(grown))
    _assert_rows_are_records(open_memory(grown, embedder=own), own)


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
    edit(change)
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


def _by_hand(line, **changes):
    """Edit a line with its hashes, as far as ``changes`` name them."""
    line.update(changes)
    hashes = {
        "key_sha256": lambda: digest(line["key"].encode()),
        "id": lambda: record_id(line["tier"], line["benchmark"], line["task_id"], line["key"], line["body"]),
        "origin_sha256": lambda: origin_sha256(line),
        "line_sha256": lambda: line_sha256(line),
    }
    for name, make in hashes.items():
        if line[name] is None:
            line[name] = make()


@pytest.mark.parametrize(
    "again",
    [
        ["key_sha256"],
        ["key_sha256", "id", "origin_sha256"],
        ["id", "origin_sha256"],
        ["id", "origin_sha256", "line_sha256"],
    ],
)
@pytest.mark.parametrize("kept", [True, False])
def test_a_key_edited_with_its_hashes_is_embedded(kit, grown, edit, again, kept):
    """D03: short of all hashes, none that a person types makes an old row pass for the row of a new key."""
    if not kept:  # embedded anew, so its rows are in no older generation
        reindex(grown, embedder=kit.FakeEmbedder("fake-b"))
    number = read_memory(grown).manifest.generation
    edit(lambda lines: _by_hand(lines[1], key="polish the silver", **dict.fromkeys(again)), number)
    embedder = kit.FakeEmbedder("fake-a" if kept else "fake-b")
    assert any("edited by hand" in fault.what and "line 3" in fault.what for fault in check(grown).faults)
    report = reindex(grown, embedder=embedder)
    assert embedder.texts == ["polish the silver"]
    assert len(report.edits) == 1
    _assert_rows_are_records(open_memory(grown, embedder=embedder), embedder)


def test_all_hashes_computed_anew(kit, grown, edit):
    """The kept generation knows whose row that was; ``check`` names the line, ``reindex`` embeds its key."""
    name = {}
    everything = dict.fromkeys(["key_sha256", "id", "origin_sha256", "line_sha256"])
    edit(lambda lines: (_by_hand(lines[1], key="polish the silver", **everything), name.update(lines[1])))
    faults = [fault.what for fault in check(grown).faults]
    assert any(f"record {name['id']}, line 3: " in what and "row is that of another key" in what for what in faults)
    embedder = kit.FakeEmbedder()
    assert reindex(grown, embedder=embedder).embedded == 1
    _assert_rows_are_records(open_memory(grown, embedder=embedder), embedder)


def test_the_key_of_an_edited_line_is_embedded_if_no_other_line_vouches_for_it(kit, place):
    """After a first build there is no kept generation: one text for each edited line, and none for the others."""
    path = place / "generations/000001/workflow/records.json"
    path.write_bytes(path.read_bytes().replace(b"Look first, then move report 1", b"Look twice, then move report 1"))
    embedder = kit.FakeEmbedder()
    (made,) = reindex(place, embedder=embedder).edits
    assert embedder.texts == [kit.record(1).key]
    assert made.diff.startswith(f"--- {made.old_id} (the text before is not kept; ")
    assert made.what in made.diff
    _assert_rows_are_records(open_memory(place, embedder=embedder), embedder)


def _fault_in(tier, body):
    return None if isinstance(body.get("text"), str) else f"a {tier} needs a text"


def test_a_body_that_its_tier_cannot_read_is_refused(kit, grown, edit):
    """A session would fail on it later; ``check`` names it too, without the function all pass."""
    edit(lambda lines: (lines[1].update(body={}), lines[2].update(body={"text": "good"})))
    before = kit.files(grown)
    with pytest.raises(StoreError, match=rf"{RECORDS}:3: a workflow needs a text"):
        reindex(grown, embedder=kit.FakeEmbedder(), fault_in=_fault_in)
    assert kit.files(grown) == before
    named = [fault.what for fault in check(grown, fault_in=_fault_in).faults if "needs a text" in fault.what]
    assert len(named) == 1
    assert "line 3" in named[0]
    assert not any("needs a text" in fault.what for fault in check(grown).faults)
    edit(lambda lines: lines[1].update(body={"text": "mended"}))
    assert len(reindex(grown, embedder=kit.FakeEmbedder(), fault_in=_fault_in).edits) == 2
    assert check(grown, fault_in=_fault_in).ok


def test_a_body_that_nobody_edited_is_taken_in(kit, grown, edit):
    """A tier of one's own may write what this function does not know; ``check`` asks about every record."""
    edit(lambda lines: lines[1].update(body={"text": "edited"}))

    def fault_in(tier, body):
        return None if body == {"text": "edited"} else "unknown"

    assert len(reindex(grown, embedder=kit.FakeEmbedder(), fault_in=fault_in).edits) == 1
    assert sum("unknown" in fault.what for fault in check(grown, fault_in=fault_in).faults) == 8


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(lambda line: line.update(status="Aktive"), "'active' or 'retired'", id="status"),
        pytest.param(lambda line: line["source"].update(steps=[5, 1]), "the steps are 5 to 1", id="steps"),
        pytest.param(lambda line: line.update(schemas={"mv": "new"}), r"schemas\.mv: .*64", id="schemas"),
    ],
)
def test_a_word_that_nobody_knows_is_refused(kit, grown, edit, change, words):
    """It would hide a record, or break what reads it."""
    edit(lambda lines: change(lines[1]))
    before = kit.files(grown)
    with pytest.raises(StoreError, match=words):
        reindex(grown, embedder=kit.FakeEmbedder())
    assert kit.files(grown) == before
    assert any(re.search(words, fault.what) for fault in check(grown).faults)


def test_a_wrong_pin_leaves_no_lock(kit, grown):
    """Not in a memory that was copied without one."""
    (grown / ".lock").unlink()
    with pytest.raises(DigestDoesNotMatch):
        reindex(grown, embedder=kit.FakeEmbedder(), pin="0" * 64)
    assert not (grown / ".lock").exists()
