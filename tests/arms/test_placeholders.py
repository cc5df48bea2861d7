"""Whether a call was made with what only stands for a value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.arms import writes_placeholder

LEAVES = st.none() | st.booleans() | st.integers() | st.text(alphabet="ab <", max_size=4)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({}, False),
        ({"file": "<file_name>"}, True),
        ({"file": " <file_name>\n"}, True),
        ({"files": ["a", "b", "<file_name>"]}, True),
        ({"order": {"user": {"id": "<user_id>"}}}, True),
        ({"text": "write <b>bold</b>"}, False),
        ({"text": "1 < 2 > 0"}, False),
        ({"<file_name>": "a"}, False),
        ({"n": 3, "flag": True, "nothing": None}, False),
    ],
)
def test_a_placeholder_at_any_depth(arguments: dict[str, Any], found: bool) -> None:
    """Whole values count, of lists and objects too; a key and a longer text do not."""
    assert writes_placeholder(arguments) is found


@given(st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner)))
def test_one_placeholder_is_enough(value: Any) -> None:
    """Wherever else one looks: nothing here is one, and beside anything one is found."""
    assert not writes_placeholder({"value": value})
    assert writes_placeholder({"value": [value, {"deep": ["<card_number>"]}]})


def test_nesting_without_end() -> None:
    """A model's arguments may be nested as deep as it likes; nobody looks for a placeholder at the bottom of it."""
    value: Any = "<card_number>"
    for _ in range(50_000):
        value = [value]
    assert writes_placeholder({"other": "<card_number>", "value": value})
    assert not writes_placeholder({"value": value})
    while isinstance(value, list):  # Python frees one level after the other only if it is asked to
        value = value[0]
