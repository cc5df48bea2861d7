"""Calls as text: parsed and never run, and a text that is none raises one kind of error."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd_bfcl.backends import to_python
from amd_bfcl.calls import called_name, expression, parse_call

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.from_regex(r"[a-z_]{1,8}_x", fullmatch=True)  # the ending keeps Python's own words out


@given(name=NAMES, arguments=st.dictionaries(NAMES, VALUES, max_size=4))
def test_what_the_harness_writes_is_parsed_back(name, arguments):
    """Any JSON arguments come back as they were, whatever quotes and line ends they hold."""
    assert parse_call(to_python(name, arguments), {}) == (name, arguments)


@given(st.text(alphabet="af(),='[]{}:1.e9\\\n\"` -*", max_size=40))
def test_any_other_text_is_a_value_error(text):
    """Whatever Python's parser raises, warns of or runs out of."""
    try:
        name, arguments = parse_call(text, {})
    except ValueError:
        return
    assert name.isidentifier()
    json.dumps(arguments, allow_nan=False)


@pytest.mark.parametrize(
    "text",
    [
        "f(x=" + "-" * 20_000 + "1)",
        "f(x=" + "[" * 500 + "]" * 500 + ")",
        "f(x=1e999)",
        "f(x=-1e999)",
        "f(x={[]: 1})",
        "f(\x00)",
    ],
)
def test_nesting_and_numbers_without_end_are_value_errors(text):
    """As is what no hash and no file can hold."""
    with pytest.raises(ValueError, match=r"\S"):
        parse_call(text, {})


def test_an_odd_escape_warns_nobody():
    """Python would warn of it, as if the model's text were a program of ours; warnings are errors here."""
    assert parse_call(r"grep(pattern='\d+')", {}) == ("grep", {"pattern": r"\d+"})


def test_positional_arguments_need_the_names_of_the_signature():
    """With them they are named, without them the call is refused."""
    assert parse_call("sort('a')", {"sort": ("file_name",)}) == ("sort", {"file_name": "a"})
    with pytest.raises(ValueError, match="positional"):
        parse_call("sort('a')", {})


def test_a_message_repeats_no_argument():
    """A refusal is printed and kept; what a call holds may be a password."""
    for text in ("login(pin={'plum7731'})", "login(pin=plum7731())", "login(pin={7731: 'plum'})"):
        with pytest.raises(ValueError, match=r"\S") as caught:
            parse_call(text, {})
        assert "7731" not in str(caught.value)


def test_the_name_of_a_broken_call_is_what_stands_before_it():
    """Enough to say which tool was meant."""
    assert called_name(" echo<|channel|>(a=1") == "echo<|channel|>"
    assert called_name("no call at all") == "no call at all"


def test_the_cause_of_a_syntax_error_is_known():
    """Such a text runs nothing when it is evaluated."""
    with pytest.raises(ValueError, match="no Python") as caught:
        expression("f(=1)")
    assert isinstance(caught.value.__cause__, SyntaxError)
