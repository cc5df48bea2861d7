"""JSON in and out: exact, or refused."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.json_text import MAX_DEPTH, check_depth, digest, dumps, loads, replace_surrogates
from amd.trajectory import ToolSpec

ANY_TEXT = st.text(st.characters(exclude_categories=()))
CLEAN_TEXT = st.text(st.characters(exclude_categories=("Cs",)))


def values(text):
    """JSON values built of one kind of text."""
    scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
    return st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=8)


@given(values(CLEAN_TEXT))
def test_what_goes_out_comes_in_again(value):
    """Every value without lone surrogates round-trips, integers of any size included."""
    assert loads(dumps(value)) == value


@given(st.dictionaries(CLEAN_TEXT, st.integers()))
def test_equal_objects_have_equal_digests(value):
    """The order of an object's members does not change its digest; a changed member does."""
    assert digest(dict(reversed(value.items()))) == digest(value)
    assert digest({**value, "more": -1}) != digest({**value, "more": -2})


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', "", "{", "[1,]"])
def test_what_is_not_json_is_refused(text):
    """The constants that JSON lacks are refused like any other broken text."""
    with pytest.raises(ValueError):  # noqa: PT011 - the message is json's own
        loads(text)


@pytest.mark.parametrize("value", [float("nan"), [float("inf")]])
def test_nan_never_goes_out(value):
    """A value that JSON cannot hold is refused, not written as null."""
    with pytest.raises(ValueError, match="JSON"):
        dumps(value)


@given(values(ANY_TEXT))
def test_lone_surrogates_are_replaced(value):
    """Afterwards UTF-8 can hold the value, and nothing is left to replace."""
    clean, _ = replace_surrogates(value)
    dumps(clean)
    assert replace_surrogates(clean) == (clean, 0)


def test_lone_surrogates_are_counted():
    """In texts at any depth and in the names of members."""
    assert replace_surrogates(["\ud83d", {"\udc00a": "b\ud800\ud800"}]) == (["\ufffd", {"\ufffda": "b\ufffd\ufffd"}], 4)


def test_a_clean_value_is_left_as_it_is():
    """Astral characters are no surrogates."""
    assert replace_surrogates({"a": ["😀 zażółć \u2028"]}) == ({"a": ["😀 zażółć \u2028"]}, 0)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 5000, "[" * 5000 + "]" * 5000, '{"a":' * 3000 + "1" + "}" * 3000]
)
def test_nesting_without_end_is_refused(text):
    """Whether Python's parser meets its limit or not, the error is the one that everybody expects."""
    with pytest.raises(ValueError, match=f"nested deeper than {MAX_DEPTH}|Expecting"):
        loads(text)


def test_nesting_that_is_allowed_is_read():
    """The control: a value as deep as the limit."""
    assert loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(ValueError, match="nested deeper"):
        loads("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2))
    with pytest.raises(ValueError, match="nested deeper than 3"):
        check_depth([[[[1]]]], 3)


def test_a_number_beyond_all_bounds_is_refused():
    """``1e999`` would come in as an infinity that can never go out."""
    with pytest.raises(ValueError, match="range"):
        loads('{"a": [1e999]}')


def deep(levels):
    """A list in a list in a list ..."""
    value = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("bad \ud83d", "lone surrogate U\\+D83D"),
        ({"bad \udc00": 1}, "lone surrogate U\\+DC00"),
        (deep(100_000), "nested too deeply"),
        ({"a": {1, 2}}, "set is not JSON"),
        ({1: 1, "a": 2}, "not JSON"),
        ({(1, 2): 1}, "not JSON"),
        (ToolSpec("\udfff"), "lone surrogate"),
    ],
)
def test_what_cannot_go_out_is_one_kind_of_error(value, fault):
    """A value made by hand may hold anything; it is a ``ValueError`` that says what, for digests too."""
    for write in (dumps, digest):
        with pytest.raises(ValueError, match=fault) as caught:
            write(value)
        assert not isinstance(caught.value, UnicodeError)


def test_too_deep_to_walk_through_is_the_same_error():
    """Replacing surrogates walks through the value before it is written."""
    with pytest.raises(ValueError, match="nested too deeply"):
        replace_surrogates(deep(100_000))


def test_a_mapping_of_any_kind_goes_out():
    """Arguments may be frozen."""
    assert dumps(MappingProxyType({"a": MappingProxyType({})})) == b'{"a":{}}'


def test_members_may_be_made_by_the_caller():
    """Each object as its pairs, to see the same name twice."""
    assert loads('{"a": 1, "a": 2}', members=len) == 2
    assert loads('{"a": 1, "a": 2}') == {"a": 2}


def test_lenient_reading_is_asked_for():
    """For masking: endless numbers, endless digits and line breaks in strings; nesting stays bounded."""
    text = '[NaN, -Infinity, 1e999, "a\nb", ' + "9" * 4301 + "]"
    with pytest.raises(ValueError):  # noqa: PT011 - the message is json's own
        loads(text)
    assert repr(loads(text, lenient=True)) == f"[nan, -inf, inf, 'a\\nb', '{'9' * 4301}']"
    with pytest.raises(ValueError, match="nested deeper"):
        loads("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2), lenient=True)
