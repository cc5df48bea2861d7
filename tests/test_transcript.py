"""How calls and tools read."""

from __future__ import annotations

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.trajectory import ToolSpec
from amd.transcript import excerpt, join, phrase, render_call, tool_words

SCALARS = st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=("Cs",)))
ARGUMENTS = st.dictionaries(st.from_regex(r"[a-z]{2,8}", fullmatch=True), SCALARS | st.lists(SCALARS))


@given(ARGUMENTS)
def test_a_json_call_is_one_line_of_json(arguments):
    """A function-calling student could have written it itself."""
    line = render_call("f", arguments, "json")
    assert "\n" not in line
    assert json.loads(line) == {"name": "f", "arguments": arguments}


@given(ARGUMENTS)
def test_a_python_call_is_one_line_of_python(arguments):
    """A code-writing student could have written it itself."""
    line = render_call("api.f", {f"a_{key}": value for key, value in arguments.items()}, "python")
    call = ast.parse(line, mode="eval").body
    assert "\n" not in line
    assert {word.arg[2:]: ast.literal_eval(word.value) for word in call.keywords} == arguments


@given(st.text(), st.integers(8, 60))
def test_an_excerpt_keeps_to_its_limit(text, limit):
    """Never longer; untouched if short enough; else its head and its tail."""
    found = excerpt(text, limit)
    assert len(found) <= limit
    assert found == text if len(text) <= limit else (text.startswith(found[0]) and text.endswith(found[-1]))


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("Move a file or folder from here to there. Both must exist.", "move a file or folder"),
        ("", "get x"),
        ("Delete.", "get x"),
        ("HTTP request to a server", "HTTP request to a server"),
        ("Find all of the files and folders and links and devices in it", "find all of the files and folders"),
    ],
)
def test_a_phrase_is_the_first_clause(description, expected):
    """The first clause of the description, cut at a joint; the name in words where it says too little."""
    assert phrase("get_x", ToolSpec("get_x", description)) == expected


def test_names_in_words():
    """Snake, camel and dotted names; a name without letters stays."""
    assert [tool_words(name) for name in ("getUser", "spotify.show_song", "__")] == [
        "get user",
        "spotify show song",
        "__",
    ]


def test_join():
    """Nothing, one, two and three items."""
    assert [join(items) for items in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
