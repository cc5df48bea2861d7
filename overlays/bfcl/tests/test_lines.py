"""The harness's files of lines, read whatever a kill or a full disk left of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amd_bfcl.lines import is_error_line, read_lines, replace_lines

LINES = st.lists(
    st.dictionaries(st.sampled_from(["result", "x"]), st.text() | st.lists(st.text())).map(
        lambda line: {"id": "a", "result": [], **line}
    )
)


@settings(max_examples=50)  # each writes to the disk for good
@given(lines=LINES)
def test_lines_come_back_as_they_went(lines, tmp_path_factory):
    """Whatever stands in them: line separators, lone surrogates, nothing."""
    path = tmp_path_factory.getbasetemp() / "lines.jsonl"
    replace_lines(path, lines)
    assert read_lines(path) == (lines, False)


@settings(max_examples=50)  # each writes to the disk for good
@given(lines=LINES.filter(bool), data=st.data())
def test_a_torn_end_loses_one_line_at_most(lines, data, tmp_path_factory):
    """Cut at any byte: every line before the cut is read, and a cut line is told."""
    path = tmp_path_factory.getbasetemp() / "torn.jsonl"
    replace_lines(path, lines)
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    found, torn = read_lines(path)
    assert found == lines[: len(found)]
    assert len(found) + torn == len([part for part in whole[:cut].split(b"\n") if part])


@pytest.mark.parametrize(
    "broken",
    [
        b"[]",
        b"7",
        b'{"id": 7, "result": []}',
        b'{"result": []}',
        b'{"id": "b"}',
        b"\x00\x00",
        b'{"id": "\xff", "result": []}',
        b'{"id": "b", "result": []',
        b"null",
        b"",
        b"  \r",
        '{"id": "b", "result": []}'.encode("utf-16"),
        b"[" * 100_000,
        b'{"id": "b", "result": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"id": "b", "result": ' + b'{"x":' * 100_000,
        b'{"id": "b", "result": ' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_line_is_passed_over_and_told(tmp_path, broken):
    """The lines around it are read, wherever it stands; an end without a line end is whole (the control)."""
    path = tmp_path / "lines.jsonl"
    first, last = {"id": "a", "result": []}, {"id": "c", "result": "Error"}
    before, after = (json.dumps(line).encode() for line in (first, last))
    for parts in ([before, broken, after], [broken, before, after], [before, after, broken, b""]):
        path.write_bytes(b"\n".join(parts))
        assert read_lines(path) == ([first, last], True)
    path.write_bytes(before + b"\n" + after + b"\n  ")
    assert read_lines(path) == ([first, last], True)
    for parts in ([before, after], [before, after, b""]):
        path.write_bytes(b"\n".join(parts))
        assert read_lines(path) == ([first, last], False)
    assert read_lines(tmp_path / "none.jsonl") == ([], False)


def test_a_byte_order_mark_is_told_and_costs_no_line(tmp_path):
    """An editor wrote it, and the harness cannot read it: written anew, the file is whole."""
    path, lines = tmp_path / "lines.jsonl", [{"id": "a", "result": []}, {"id": "b", "result": []}]
    replace_lines(path, lines)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_lines(path) == (lines, True)
    replace_lines(path, read_lines(path)[0])
    assert read_lines(path) == (lines, False)


def test_a_text_where_turns_should_be_is_an_error():
    """As the harness writes an inference error; an empty answer is an answer."""
    assert is_error_line({"id": "a", "result": "Error during inference: timed out"})
    assert not is_error_line({"id": "a", "result": [[""]]})
    assert not is_error_line({"id": "a", "result": []})
