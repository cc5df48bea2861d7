"""The agent's prompt: which part of a reply is its cell, and what it is told of an output."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd_appworld.answers import Briefing, Person
from amd_appworld.prompt import CUT_OFF, NO_CODE, SHOWN, cell_of, first_messages, observed, task_message, without_cell

ADA = Person(first_name="Ada", last_name="Quill", email="ada@example.com", phone_number="555")


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("```python\nprint(1)\n```", "print(1)"),
        ("I look.\n\n```python\nprint(1)\n```\nThat is it.", "print(1)"),
        ("```py\nprint(1)\n```", "print(1)"),
        ("```Python3 \nprint(1)\n```", "print(1)"),
        ("```\nprint(1)\n```", "print(1)"),
        ('```json\n{"a": 1}\n```\n```python\nprint(1)\n```', "print(1)"),
        ("```\n3\n```\n```python\nprint(1)\n```", "print(1)"),
        ("```python\nprint(1)\n```\n```python\nprint(2)\n```", "print(1)"),
        ("```python\nprint('```')\n```", "print('```')"),
        ('```python\nx = """\n```\n"""\nprint(x)\n```\nDone.', 'x = """\n```\n"""\nprint(x)'),
        ("```python\n# a ``` in a comment\nx = 1\n```", "# a ``` in a comment\nx = 1"),
        ("```python\nprint(1)```", "print(1)"),
        ("```python\nprint(1)", "print(1)"),
        ("````python\nx = '''\n```\n'''\n````", "x = '''\n```\n'''"),
        ("```python\nprint('\n```\nI meant so.", "print('"),
        ("<think>\n```python\nprint(1)\n```\n</think>\n```python\nprint(2)\n```", "print(2)"),
        ("I think.\n```python\nprint(1)\n```\nOr so.\n</think>\n\n```python\nprint(2)\n```", "print(2)"),
        ("So I think.\n</think>\n```python\nprint(1)\n```", "print(1)"),
        ("```python\nprint('</think>')\n```", "print('</think>')"),
        ('```python\nx = """\n</think>\n"""\n```\n```python\nprint(2)\n```', 'x = """\n</think>\n"""'),
        ("```python\nprint(1)\n```\nNo </think> is needed.", "print(1)"),
        ("```python\nprint(1)\n```\n</think>\n", "print(1)"),
        ("<think>\nI look.\n</think>\n```python\nprint(1)\n```\nDone.</think>", "print(1)"),
        ("<think>So.</think>\n```python\nprint('</think>')\n```\n", "print('</think>')"),
        ("  ```python\n  x = 1\n  ```", "  x = 1"),
        ("```python\n\n```", ""),
    ],
)
def test_the_cell_of_a_reply(reply, code):
    """The first block of Python, to the first fence at which it parses."""
    cell = cell_of(reply)
    assert cell is not None
    assert cell.code == code
    assert reply.startswith(cell.said)
    assert cell.code in cell.said


@pytest.mark.parametrize(
    "reply",
    ["", "I am done.", "Use `print(1)`.", '```json\n{"a": 1}\n```\nThat is it.', "<think>\n```python\nprint(1)\n```\n"],
)
def test_a_reply_without_a_cell(reply):
    """What stands behind a block of another language is no block."""
    assert cell_of(reply) is None


def test_a_cell_that_was_cut_off_is_none():
    """One that ended before the limit is one."""
    assert cell_of("```python\nprint(1)", cut=True) is None
    assert cell_of("```python\nprint(1)\n```\nAnd n", cut=True).code == "print(1)"
    assert (without_cell(cut=True), without_cell(cut=False)) == (CUT_OFF, NO_CODE)


def test_more_blocks_are_told():
    """Of code, not of other languages."""
    one, two = "```python\nx = 1\n```\n", "```python\ny = 1\n```\n"
    assert [cell_of(reply).more for reply in (one, one + two, one + "```json\n{}\n```")] == [False, True, False]


_PIECES = st.sampled_from(["x = 1", "print('```')", 's = """', '"""', "```", "# ```", "```python", "", "y = (", ")"])


@given(st.lists(_PIECES, min_size=1, max_size=8))
def test_any_reply_has_a_cell_that_is_part_of_it_or_none(pieces):
    """Nothing is invented, and nothing behind the cell is said."""
    reply = "\n".join(["Well.", "```python", *pieces])
    cell = cell_of(reply)
    assert cell is not None
    assert cell.code in reply
    assert reply.startswith(cell.said)


@given(st.lists(_PIECES, max_size=8).map("\n".join))
def test_code_that_parses_comes_back_whole(code):
    """Whatever fences stand in its strings and comments."""
    try:
        compile(code, "<cell>", "exec")
    except SyntaxError:
        return
    assert cell_of(f"I go on.\n```python\n{code}\n```\nThen I see.").code == code.strip("\n")


@pytest.mark.parametrize("length", [SHOWN, SHOWN + 1, 2_000_000])
def test_a_long_output_is_cut_in_the_middle(length):
    """Its begin and its end are shown, and how much is not."""
    shown, left_out = observed("a" + "b" * (length - 2) + "c")
    assert left_out == length - SHOWN
    assert shown.startswith("Output:\n```\nab")
    assert shown.endswith("bc\n```")
    assert (f"{left_out} characters are left out" in shown) == (left_out > 0)
    assert len(shown) < SHOWN + 100


@given(st.text(alphabet="`\na", max_size=30))
def test_the_fence_of_an_output_is_its_own(output):
    """No fence inside ends it."""
    shown, _ = observed(output)
    fence = shown.split("\n")[1]
    assert set(fence) == {"`"}
    assert shown.endswith(f"\n{fence}")
    assert fence not in output


def test_the_first_messages():
    """The system message is the same for each task; the person says the task's own words."""
    messages = [first_messages(Briefing(task_id="0_1", instruction=text, supervisor=ADA)) for text in ("A.", "B.")]
    assert messages[0][0] == messages[1][0]
    assert [each[1]["content"].partition("Task: ")[2] for each in messages] == ["A.", "B."]
    assert "0_1" not in task_message(Briefing(task_id="0_1", instruction="A.", supervisor=ADA))


def test_a_reply_of_fences_takes_no_longer_than_its_length():
    """Each fence might end the code: only so many are tried, and an overlong block is no program. Timed in tries."""
    lines = 2_000
    tried = cell_of("```python\n" + "x = 1\n" * lines + "(\n" + "```\n" * lines)
    assert tried is not None
    assert tried.code == "x = 1\n" * lines + "("
    assert cell_of("```python\n" + "x = 1\n" * 300_000 + "```").code.startswith("x = 1")
