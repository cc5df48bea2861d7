"""JSON in and out: exact, or refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.json_text import digest, dumps, loads, replace_surrogates

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
