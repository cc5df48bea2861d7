"""A records file as columns."""

from __future__ import annotations

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.errors import StoreError
from amd.store.columns import read_columns
from amd.store.lines import decode, document, encode

ROW = np.array([1, 0], np.float32)
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


def _listed(columns):
    names = ("starts", "ids", "keys", "origin", "tool", "active")
    return [getattr(columns, name).tolist() for name in names] + [columns.origins, columns.tools]


@given(st.lists(st.tuples(_TEXT, _TEXT, st.none() | _TEXT, st.sampled_from(["active", "retired"])), max_size=6))
def test_columns_say_what_the_records_say(kit, drawn):
    """Whatever families, tools and states hold: quotes, backslashes, separators."""
    records = [
        kit.record(n, family=family, tool=tool, status=status, instruction=text)
        for n, (family, text, tool, status) in enumerate(drawn)
    ]
    text = document([encode(each, ROW) for each in records])
    columns = read_columns(text, "here")
    assert len(columns) == len(records)
    for row, each in enumerate(records):
        origin = (each.task.family, each.task.instruction_sha256)
        assert columns.origins[columns.origin[row]] == origin
        assert columns.tools[columns.tool[row]] == each.tool
        assert bool(columns.active[row]) == (each.status == "active")
        assert columns.ids[row].decode() == each.id
        line = text[columns.starts[row] : columns.starts[row + 1]].rstrip(b",\n")
        assert decode(line) == each


def test_another_order_of_members_reads_the_same(kit):
    """A line of another form is decoded; only where lines start may differ."""
    lines = [encode(kit.record(n, tool="cd", family='f"\\'), ROW) for n in range(3)]
    turned = [orjson.dumps(dict(reversed(orjson.loads(line).items()))) for line in lines]
    straight, other = (_listed(read_columns(document(each), "here")) for each in (lines, turned))
    assert straight[1:] == other[1:]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(b"", 1, id="empty"),
        pytest.param(b"[]", 1, id="no newline"),
        pytest.param(b'{"a":1}\n', 1, id="object"),
        pytest.param(b'[\n{"a":1}\n]\n', 2, id="no columns"),
        pytest.param(b"[\nGOOD,\nnonsense\n]\n", 3, id="second line"),
        pytest.param(b"[\nGOOD,\n\n]\n", 3, id="blank line"),
        pytest.param(b"[\nGOOD", 1, id="cut"),
    ],
)
def test_broken_files_name_the_line(kit, text, line):
    """File and line of what is no record."""
    with pytest.raises(StoreError, match=f"here:{line}: ") as caught:
        read_columns(text.replace(b"GOOD", encode(kit.record(), ROW)), "here")
    assert caught.value.fields["line"] == line


def test_an_id_that_is_no_hash_is_refused(kit):
    """Columns of fixed width rely on it."""
    line = encode(kit.record(), ROW)
    short = orjson.dumps({**orjson.loads(line), "id": "7"})
    assert len(read_columns(document([line]), "here")) == 1
    with pytest.raises(StoreError, match="no hash of 32 digits"):
        read_columns(document([short]), "here")
