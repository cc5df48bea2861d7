"""Names of tools that a run never called."""

from __future__ import annotations

import pytest

from amd.lint.tools import Mention, mentions


def named(garden, text):
    """The mentions in a workflow's text."""
    record = garden.workflow(text)
    return mentions(record, garden.one_run(record, garden.function()))


@pytest.mark.parametrize(
    "text",
    [
        "Call `close_valve` at the end.",
        "Call `closeit` at the end, then check.",
        "The `closeit` tool ends it.",
        "Finish with close_valve(bed=<bed>).",
        "Finish with closeValve().",
        "Using the `closeValve` is best.",
        "It has `close_valve`; then call `close_valve`.",
    ],
)
def test_a_name_that_is_told_to_be_a_tool(garden, text):
    """By a verb, by the word tool, by its arguments."""
    assert [mention.surely for mention in named(garden, text)] == [True]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Then close_valve ends it.", "close_valve"),
        ("Then closeValve ends it.", "closeValve"),
        ("Then `sort` it.", "sort"),
        ("Then spotify.show_song plays it.", "spotify.show_song"),
        ("Use `economy` for the cabin.", "economy"),
    ],
)
def test_a_name_that_may_be_a_tool(garden, text, name):
    """Only another run can tell."""
    assert named(garden, text) == [Mention(name, surely=False)]


@pytest.mark.parametrize(
    "text",
    [
        "Call `openValve`, then read_moisture(bed=<bed>), and check `status` and `litres` of `bed`.",
        "Sort the beds, close the valve (twice), and check <close_valve>.",
    ],
)
def test_called_tools_names_and_plain_words_are_none(garden, text):
    """The run's own tools, arguments, members of answers, and ordinary words."""
    assert named(garden, text) == []


def test_a_long_text_is_read_in_no_time(garden):
    """Nothing here backtracks without end."""
    assert named(garden, "a_" * 50_000 + "> " + "a.b-" * 50_000) is not None
