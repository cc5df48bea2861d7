"""A records file as a person may have left it."""

from __future__ import annotations

import numpy as np
import orjson
import pytest

from amd.store.edits import difference, parse_lines
from amd.store.lines import document, encode

ROW = np.array([1, 0], np.float32)


@pytest.fixture
def fields(kit):
    """The members of one line."""
    return orjson.loads(encode(kit.record(), ROW))


@pytest.mark.parametrize(
    "form", [b"[\n%s,\n%s\n]\n", b"[\r\n%s,\r\n%s,\r\n]", b"\n[\n\n%s\n  %s  \n]\n\n", b"[\n%s ,\n%s , \n]"]
)
def test_spacing_and_commas_do_not_matter(kit, form):
    """What editors and deletions leave between records."""
    lines = [encode(kit.record(n), ROW) for n in range(2)]
    parsed, broken = parse_lines(form % tuple(lines))
    assert broken == []
    assert [line.record for line in parsed] == [kit.record(0), kit.record(1)]
    assert [line.changes for line in parsed] == ["", ""]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"key": "new"}, "its key", id="key"),
        pytest.param({"body": {"text": "new"}}, "its content has the id", id="body"),
        pytest.param({"status": "retired"}, "beside its key and body", id="status"),
        pytest.param({"family": "other"}, "beside its key and body", id="family"),
        pytest.param({"id": ""}, "added by hand", id="added"),
    ],
)
def test_an_edit_is_said_in_words(fields, changes, words):
    """Key, body, anything else, or a new record."""
    parsed, broken = parse_lines(document([orjson.dumps({**fields, **changes})]))
    assert broken == []
    assert words in parsed[0].changes


@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param(b"{", "", id="torn"),
        pytest.param(b"[1]", "", id="no object"),
        pytest.param(b'{"key": 1}', "family", id="members missing"),
        pytest.param(b"\xff", "", id="no text"),
        pytest.param(b"[" * 100_000, "", id="too deep"),
        pytest.param(b'{"a": NaN}', "NaN", id="NaN"),
    ],
)
def test_a_broken_line_is_named(line, words):
    """Its number and the reason; the others are still read."""
    parsed, broken = parse_lines(b"[\n" + line + b"\n]\n")
    assert parsed == []
    assert [entry.number for entry in broken] == [2]
    assert words in broken[0].what


@pytest.mark.parametrize("changes", [{"body": {"text": "\ud83d"}}, {"key": 7}, {"extra": 1}, {"source": {}}])
def test_a_line_of_another_shape_is_broken(fields, changes):
    """Types, unknown members and lone surrogates."""
    import json

    parsed, broken = parse_lines(b"[\n" + json.dumps({**fields, **changes}).encode() + b"\n]\n")
    assert (len(parsed), len(broken)) == (0, 1)


@pytest.mark.parametrize("text", [b"", b"{}", b"[", b"]", b'"x"'])
def test_brackets_are_missed(text):
    """What is no array of lines."""
    assert parse_lines(text)[1]


def test_empty_arrays():
    """An empty shelf, as written and as emptied by hand."""
    assert parse_lines(b"[]\n") == parse_lines(b"[\n]\n") == ([], [])


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"status": "Aktive"}, id="status"),
        pytest.param({"status": ""}, id="no status"),
        pytest.param({"steps": [5, 1]}, id="backwards"),
        pytest.param({"steps": [0, 3]}, id="from no call"),
        pytest.param({"steps": [-1, -1]}, id="under zero"),
        pytest.param({"steps": [1]}, id="one"),
        pytest.param({"steps": [1, 2, 3]}, id="three"),
    ],
)
def test_a_word_or_a_step_that_is_none_is_broken(fields, changes):
    """States and steps are read by others: a line is taken in with known ones only."""
    if "steps" in changes:
        changes = {"source": {**fields["source"], **changes}}
    parsed, broken = parse_lines(document([orjson.dumps({**fields, **changes})]))
    assert (len(parsed), len(broken)) == (0, 1)
    assert any(word in broken[0].what for word in ("active", "steps"))


@pytest.mark.parametrize("steps", [[0, 0], [1, 1], [2, 9]])
def test_good_steps_are_taken_in(fields, steps):
    """Positive control: no call, one, several."""
    parsed, _ = parse_lines(document([orjson.dumps({**fields, "source": {**fields["source"], "steps": steps}})]))
    assert parsed[0].record.source.steps == tuple(steps)


def _edited(record, changes):
    """The line of a record that a person edited."""
    line = orjson.dumps({**orjson.loads(encode(record, ROW)), **changes})
    return parse_lines(document([line]))[0][0]


def test_difference_is_a_unified_diff(kit):
    """Old and new side."""
    old = kit.record(body={"text": "old text"})
    line = _edited(old, {"body": {"text": "new text"}, "status": "retired"})
    lines = difference(old, line).split("\n")
    assert lines[:2] == [f"--- {old.id}", f"+++ workflow/{line.record.id}"]
    assert '-    "text": "old text"' in lines
    assert '+    "text": "new text"' in lines
    assert '+  "status": "retired",' in lines


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"key": "new"}, "its key was edited"),
        ({"body": {"text": "new"}}, "its body, or its key and key_sha256"),
        ({"status": "retired"}, "beside its key and body"),
    ],
)
def test_a_difference_without_the_text_before_says_so(kit, changes, words):
    """Every line is new, and the head says why, and what the hashes tell of the edit."""
    old = kit.record()
    before, *rest = difference(None, _edited(old, changes)).split("\n")
    assert before.startswith(f"--- {old.id} (the text before is not kept; ")
    assert words in before
    assert all(line[0] in "+@" for line in rest)


def test_a_record_that_was_added_had_no_text_before(kit):
    """Nothing is missed there."""
    assert difference(None, _edited(kit.record(), {"id": ""})).startswith("--- (a record added by hand)\n")
