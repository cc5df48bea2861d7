"""Observations as values."""

from __future__ import annotations

import pytest

from amd.mask.observed import parse


@pytest.mark.parametrize("text", ['{"a": [1, 2.5, null, "é"]}', "{'a': ['x', None, True]}", "['RMS', 'SBK']", '"text"'])
def test_what_parses_is_written_back_in_its_own_notation(text):
    """JSON stays JSON and a Python literal stays one."""
    observed = parse(text)
    assert observed is not None
    assert observed.text() == text


@pytest.mark.parametrize(
    "text",
    [
        *("done", "", "Error: no seats", "{'result': mpf('2.0')}", "{broken", "12", "[b'x']"),
        *("[" * 5000, "{" * 100_000, "['" + "x" * 300_000 + "']"),
    ],
)
def test_what_does_not_parse_is_text(text):
    """A number is text too: it stands under no key."""
    assert parse(text) is None


def test_keys_that_are_no_strings_become_their_own_spelling():
    """JSON has no such keys; a literal does."""
    observed = parse("{1: 'a', (2, 3): {'b'}}")
    assert observed is not None
    assert observed.value == {"1": "a", "(2, 3)": ["b"]}
