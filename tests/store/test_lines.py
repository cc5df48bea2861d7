"""One record as one line of JSON."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.errors import StoreError
from amd.records import record_id
from amd.store.lines import StoredLine, decode, document, encode, line_sha256, origin_sha256, row_sha256

ROW = np.array([1, 0], np.float32)
SEPARATORS = [
    "\u2028",
    "\u2029",
    "\u0085",
    "\r",
    "\x0b",
    "\x0c",
    "\x1c",
    "\n",
    "\u202e",
    "zażółć 한국어 🎈",
    '"\\',
    "\x00",
]
_WHOLE = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none()
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_JSON = st.recursive(
    _WHOLE | _TEXT, lambda value: st.lists(value, max_size=3) | st.dictionaries(_TEXT, value, max_size=3), max_leaves=6
)


@pytest.mark.parametrize("separator", SEPARATORS)
def test_d11b_separators_stay_inside_a_line(kit, separator):
    """D11b: whatever splits lines elsewhere comes back exactly and stays on one line."""
    key = f"do A{separator}then B"
    one = kit.record(1, key, body={"text": key, key: [key]}, family=key, tool=key, task_id=key)
    line = encode(one, ROW)
    assert b"\n" not in line
    assert decode(line) == one


@given(key=_TEXT, body=st.dictionaries(_TEXT, _JSON, max_size=3), family=_TEXT)
def test_round_trip(kit, key, body, family):
    """Any text and any JSON come back as they were."""
    one = kit.record(1, f"k{key}", body=body, family=f"f{family}")
    assert decode(encode(one, ROW)) == one


def test_columns_stand_first(kit):
    """Opening relies on the order of the first members."""
    fields = orjson.loads(encode(kit.record(tool="cd"), ROW))
    assert list(fields)[:6] == ["id", "family", "instruction_sha256", "tool", "status", "key_sha256"]


@pytest.mark.parametrize("value", ["bad \ud83d", float("nan"), float("inf"), 2**64, {1: "a number for a name"}, {1, 2}])
def test_what_json_cannot_hold_is_refused(kit, value):
    """A record that cannot be written is a typed error that names it."""
    good = kit.record()
    with pytest.raises(StoreError, match=good.id) as caught:
        encode(replace(good, body={"value": value}), ROW)
    assert caught.value.fields["record"] == good.id


@pytest.mark.parametrize("status", ["Aktive", "", "ACTIVE"])
def test_an_unknown_status_is_refused(kit, status):
    """Nobody would be shown it, and nobody would know why."""
    for known in ("active", "retired"):
        encode(kit.record(status=known), ROW)
    with pytest.raises(StoreError, match="not one of active, retired"):
        encode(kit.record(status=status), ROW)


@pytest.mark.parametrize("steps", [(5, 1), (0, 1), (-1, 2)])
def test_steps_that_are_no_pair_of_calls_are_refused(kit, steps):
    """The first call, then the last one."""
    one = kit.record()
    with pytest.raises(StoreError, match=f"the steps are {steps[0]} to {steps[1]}"):
        encode(replace(one, source=replace(one.source, steps=steps)), ROW)
    encode(replace(one, source=replace(one.source, steps=(0, 0))), ROW)


def test_a_wrong_id_is_refused(kit):
    """An id that is not the content's hash would pass as a hand edit later."""
    with pytest.raises(StoreError, match="the hash of its content"):
        encode(replace(kit.record(), key="another key"), ROW)


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b'{"id":1}', b'{"id":"x","source":7}'])
def test_decoding_garbage_is_typed(line):
    """No traceback of another library."""
    with pytest.raises(StoreError, match="not a record"):
        decode(line)


def test_line_hash_ignores_order_and_spacing(kit):
    """A person's editor may reformat a line: only what it says counts."""
    fields = orjson.loads(encode(kit.record(), ROW))
    assert line_sha256(dict(reversed(fields.items()))) == fields["line_sha256"]
    assert line_sha256({**fields, "status": "retired"}) != fields["line_sha256"]


def test_origin_hash_is_of_all_that_nobody_may_edit(kit):
    """Whatever else a line says enters it; order does not, and a missing member counts as null."""
    fields = orjson.loads(encode(kit.record(), ROW))
    free = {"key", "body", "status", "schemas", "key_sha256", "row_sha256", "origin_sha256", "line_sha256"}
    assert list(fields)[-3:] == ["row_sha256", "origin_sha256", "line_sha256"]
    assert origin_sha256(dict(reversed(fields.items()))) == fields["origin_sha256"]
    assert (
        origin_sha256({name: value for name, value in fields.items() if value is not None}) == fields["origin_sha256"]
    )
    for name in fields:
        assert (origin_sha256({**fields, name: "x"}) == fields["origin_sha256"]) == (name in free), name
    for name in fields["source"]:
        assert origin_sha256({**fields, "source": {**fields["source"], name: "x"}}) != fields["origin_sha256"], name


def test_row_hash_tells_rows_apart():
    """The row's hash depends on its bytes alone."""
    assert row_sha256(ROW) == row_sha256(ROW.copy())
    assert row_sha256(ROW) != row_sha256(ROW[::-1])


def test_stored_line_gives_the_id_of_its_content(kit):
    """A line that a person edited gets a new id; an untouched one keeps its own."""
    one = kit.record()
    fields = orjson.loads(encode(one, ROW))
    assert StoredLine.model_validate(fields).record() == one
    edited = StoredLine.model_validate({**fields, "key": "new"}).record()
    assert edited.id == record_id(one.tier, one.task.benchmark, one.task.task_id, "new", one.body)


def test_document_is_one_json_array():
    """An empty shelf and a full one are JSON for any reader."""
    assert orjson.loads(document([])) == []
    assert orjson.loads(document([b'{"a":1}', b'{"b":2}'])) == [{"a": 1}, {"b": 2}]
    assert document([b'{"a":1}', b'{"b":2}']) == b'[\n{"a":1},\n{"b":2}\n]\n'
