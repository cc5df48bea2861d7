"""Which reply a cell comes from, and the words beside its code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.inject import build_hint
from amd_appworld.interactions import Interaction
from amd_appworld.words import align, words_beside


def cells(*codes):
    """Cells of these codes."""
    return [Interaction(code, "") for code in codes]


def test_align():
    """One each; a reply between them that made none; one reply of two cells; a cell of none; lost ones at the end."""
    assert align(cells("a()", "b()"), ["a()", "b()"]) == [0, 1]
    assert align(cells("a()", "b()"), ["a()", "hm", "b()", "c()"]) == [0, 2]
    assert align(cells("a()", "b()"), ["a() then b()"]) == [0, 0]
    assert align(cells("a()", "a()"), ["a()", "a()"]) == [0, 1]
    assert align(cells("a()", "x()"), ["a()", "b()"]) is None
    assert align([], ["a()"]) == []


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("Look.\n```python\na()\n```", "Look."),
        ("```python\na()\n```\nThat was it.", "That was it."),
        ("Look.\n```python\na()\n```\nand\n```python\nb()\n```", "Look.\n\nand"),
        ("Look.\n```\na()", "Look."),
        ("a()", ""),
        ("Look: a()\nOutput: 7", "Look:"),
        ("Look.\n~~~python\na()\n~~~", "Look."),
        ("nothing of it", "nothing of it"),
    ],
)
def test_words_beside(reply, words):
    """What stands outside the blocks of code; without a fence code runs to the end."""
    assert words_beside(reply, "a()") == words


def test_a_hint_that_the_agent_repeats_is_no_word_of_its_own():
    """It is stripped."""
    hint = build_hint([("Try:", ["a()"])])
    assert words_beside(f"I see.\n\n{hint}\n```python\na()\n```", "a()") == "I see."


def test_fences_inside_the_code():
    """They are part of it."""
    code = "print('''\n```\n''')"
    assert words_beside(f"Look.\n```python\n{code}\n```\nDone.", code) == "Look.\n\nDone."


@given(st.text(alphabet="ab`\n~ ", max_size=40), st.text(alphabet="ab`\n", max_size=10))
def test_any_reply(reply, code):
    """Nothing raises; the words are part of what was said, and hold no place mark of ours."""
    words = words_beside(reply, code)
    assert "\0" not in words
    assert all(line.strip() in reply.replace("~~~", "```") for line in words.split("\n"))
