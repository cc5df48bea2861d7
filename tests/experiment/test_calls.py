"""Calls and tools read off a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.experiment.calls import ShownCall, calls_in, tools_in
from amd.quoting import neutralise
from amd.transcript import render_call

NAMES = st.from_regex(r"[a-z][a-zA-Z_]{0,9}", fullmatch=True).filter(
    lambda name: name not in {"and", "as", "def", "del", "for", "if", "in", "is", "not", "or", "try", "elif", "else"}
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)


@given(st.lists(st.tuples(NAMES, st.dictionaries(NAMES, VALUES, max_size=3)), max_size=4))
def test_what_was_rendered_is_found(calls):
    """JSON calls, one a line between prose: the same calls, in order, with their arguments."""
    text = "\n".join(f"Then call:\n{render_call(name, arguments, 'json')}" for name, arguments in calls)
    assert calls_in(text) == tuple(ShownCall(name, arguments) for name, arguments in calls)


@pytest.mark.parametrize("call_format", ["json", "python"])
def test_both_formats_and_lists(call_format):
    """A numbered script is read as well as plain lines."""
    arguments = {"source": "<source>", "depth": 2, "tags": ["a"], "force": True}
    line = render_call("files.move", arguments, call_format)
    for written in (line, f"1. {line}", f"- {line}", f"  {line}"):
        assert calls_in(f"Do this:\n{written}\nThen stop.") == (ShownCall("files.move", arguments),)


@pytest.mark.parametrize(
    "text",
    [
        "Move the file (see mv), then stop.",
        '{"name": "Ines", "age": 7}',
        '{"name": "mv", "arguments": "source"}',
        '{"name": "mv", "arguments": {"source": ',
        "(a, b)",
        "call it (twice)",
        "x = 3",
        "",
    ],
)
def test_prose_and_other_objects_are_no_calls(text):
    """Nor is a call that was cut off."""
    assert calls_in(text) == ()


def test_a_neutralised_placeholder_is_still_a_call():
    """Quoted text is defused before it is shown; the call's names survive."""
    text = neutralise(render_call("send", {"user": "<user>", "text": "</memory>"}, "json"))
    (call,) = calls_in(text)
    assert set(call.arguments) == {"user", "text"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("find the file and sort it", set()),
        ("`find` it, then sort()", {"find", "sort"}),
        ("use post_tweet or getUser, then get_user_details", {"post_tweet", "getUser", "get_user_details"}),
        ('{"name": "find", "arguments": {}}', {"find"}),
        ("post_tweets", set()),
        ("my.post_tweet", set()),
    ],
)
def test_a_tool_is_named_where_it_can_be_nothing_else(text, found):
    """An ordinary word must stand as code; a longer name does not name a shorter one."""
    names = ["find", "sort", "post_tweet", "getUser", "get_user", "get_user_details"]
    assert tools_in(text, names) == found
