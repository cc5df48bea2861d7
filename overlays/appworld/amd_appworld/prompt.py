"""The agent's own prompt: what it is told at the start and after each cell, and the cell in what it replies.

All texts are this project's own. A request always begins with the whole earlier one: nothing that was sent is changed,
shortened or left out later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from amd.arms import Message
from amd_appworld.answers import Briefing
from amd_appworld.names import parsed

__all__ = ["ReplyCell", "cell_of", "first_messages", "observed", "task_message", "without_cell"]

SYSTEM = """\
You carry out a person's task in the apps that this person uses, by writing Python. You work in steps: you write one \
cell of code, it is run, and you are shown what it printed; then you write the next cell.

Cells
- Say in a sentence or two what you do next, and then write one block that begins with ```python and ends with ```. \
Only the first block of a reply is run.
- Variables, imports and functions stay from cell to cell. You see only what a cell prints, so print what you need.
- `apis` is already there. Every call is apis.APP.API(name=value, ...), with keyword arguments only, and gives \
dictionaries, lists and plain values. A call that fails raises an exception with its status and message.
- There is no other way to the apps: no internet, no files of this computer, and nobody who answers questions.

Finding out what there is
- print(apis.api_docs.show_app_descriptions()) lists the apps.
- print(apis.api_docs.show_api_descriptions(app_name="...")) lists what an app can do.
- print(apis.api_docs.show_api_doc(app_name="...", api_name="...")) shows the arguments of an API and what it gives. \
Names that you have not seen there may not exist.

The person
- apis.supervisor knows the person who asks: the profile, addresses, cards, and the passwords of the accounts.
- Most apps want a login first. It gives an access token, which the other APIs of that app take.
- Lists come in pages: ask for the next page until there is none.
- "Today" in the task is today in your cells.

The end
- When everything is done, call apis.supervisor.complete_task(). If the task asks for an answer, give it as \
answer=..., alone and as short as it can be said. After that call nothing more is run."""

NO_CODE = "Your reply had no block of code. Write one that begins with ```python and ends with ```."
CUT_OFF = "Your reply was cut off before its code ended, and nothing was run. Write a shorter one."
ONE_BLOCK = "Only the first block of your reply was run."

SHOWN = 20_000
"""Characters of one output that the model sees: some 7,000 tokens. AppWorld's longest documents are a third of it."""

_TAIL = SHOWN // 4  # of them from its end, where tracebacks say what went wrong

_OPENING = re.compile(r"^[ ]{0,3}(?P<fence>`{3,})[ \t]*(?P<language>[\w+-]*)[^\n`]*\n", re.MULTILINE)
_PYTHON = ("python", "python3", "py")
_TICKS = re.compile("`+")
_MOST_ENDS = 40  # fences at which a block is tried to end: a program ends at the first but for those in its own texts
_THINK, _THOUGHT = "<think>", "</think>"
_THOUGHT_LINE = re.compile(rf"^[ \t]*{_THOUGHT}[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ReplyCell:
    """A cell and the reply up to its end, the code included. ``more`` says that the reply had further blocks of code.

    What a model writes behind its cell is often an output that it imagines.
    """

    code: str
    said: str
    more: bool = False


def task_message(briefing: Briefing) -> str:
    """What the person says.

    >>> from amd_appworld.answers import Person
    >>> ada = Person(first_name="Ada", last_name="Quill", email="ada@example.com", phone_number="5550000001")
    >>> print(task_message(Briefing(task_id="0000000_1", instruction="Water the roses.", supervisor=ada)))
    I am Ada Quill. My e-mail address is ada@example.com, my phone number is 5550000001.
    <BLANKLINE>
    Task: Water the roses.
    """
    person = briefing.supervisor
    return (
        f"I am {person.first_name} {person.last_name}. My e-mail address is {person.email}, "
        f"my phone number is {person.phone_number}.\n\nTask: {briefing.instruction}"
    )


def first_messages(briefing: Briefing) -> list[Message]:
    """The messages of the first request, without memory."""
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": task_message(briefing)}]


def observed(output: str, *notes: str) -> tuple[str, int]:
    r"""What the model is told of a cell's output, and how many characters of it were left out.

    The fence is longer than any in the output, so that it ends where it says.

    >>> observed("3\n", "Well done.")
    ('Output:\n```\n3\n```\nWell done.', 0)
    """
    left_out = max(0, len(output) - SHOWN)
    if left_out:
        cut = f"\n[... {left_out} characters are left out here ...]\n"
        output = f"{output[: SHOWN - _TAIL]}{cut}{output[-_TAIL:]}"
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in _TICKS.findall(output)), 3)
    lines = [f"Output:\n{fence}\n{output.rstrip()}\n{fence}", *notes]
    return "\n".join(lines), left_out


def without_cell(*, cut: bool) -> str:
    """What to tell the model of a reply without a cell; ``cut`` if it ran into its limit of tokens."""
    return CUT_OFF if cut else NO_CODE


def cell_of(reply: str, *, cut: bool = False) -> ReplyCell | None:
    r"""The cell of a reply: its first block of Python, else its first block that names no language.

    A block ends at the first fence at which its code parses, so a fence inside a string is part of it; if it parses
    nowhere it ends at the first fence, and the environment tells what is wrong with it. A block that never ends goes to
    the end of the reply, unless the reply was ``cut``: then nothing of it is run. What a model thinks is no cell: a
    ``<think>`` block that the reply begins with, or, where the server's template opened it, all before a ``</think>``
    that stands alone on a line between two blocks.

    >>> cell_of("I look.\n```python\nprint('```')\n```\nOutput: none").code
    "print('```')"
    >>> cell_of("I am done.") is None
    True
    """
    start = 0
    if reply.lstrip().startswith(_THINK):
        start = reply.find(_THOUGHT)
        if start < 0:
            return None
    blocks = [block for block in _said_blocks(reply, start) if block.language in (*_PYTHON, "")]
    chosen = next((block for block in blocks if block.language), blocks[0] if blocks else None)
    if chosen is None or (cut and not chosen.closed):
        return None
    return ReplyCell(chosen.code, reply[: chosen.after], more=len(blocks) > 1)


@dataclass(frozen=True, slots=True)
class _Block:
    """A fenced block, from ``begin``; ``after`` is where the reply goes on behind it."""

    language: str
    code: str
    begin: int
    after: int
    closed: bool = True


def _said_blocks(reply: str, start: int) -> list[_Block]:
    """The blocks behind the last line that ends a thought; what stands in a block, or behind them all, ends none."""
    said: list[_Block] = []
    for block in _blocks(reply, start):
        if _THOUGHT_LINE.search(reply, start, block.begin):
            said.clear()
        said.append(block)
        start = block.after
    return said


def _blocks(reply: str, start: int) -> Iterator[_Block]:
    while opening := _OPENING.search(reply, start):
        block = _block(reply, opening)
        yield block
        start = block.after


def _block(reply: str, opening: re.Match[str]) -> _Block:
    begin, language = opening.end(), opening["language"].lower()
    alone = re.compile(rf"^[ ]{{0,3}}{opening['fence']}`*[ \t]*$", re.MULTILINE)
    fences = list(alone.finditer(reply, begin))
    if language in (*_PYTHON, ""):
        # Some write the closing fence behind the last word of their code.
        fences += re.compile(opening["fence"]).finditer(reply, begin)
    ends = (fence for fence in fences[:_MOST_ENDS] if parsed(reply[begin : fence.start()]) is not None)
    end = next(ends, None) or next(iter(fences), None)
    if end is None:
        return _Block(language, reply[begin:].strip("\n"), opening.start(), len(reply), closed=False)
    return _Block(language, reply[begin : end.start()].strip("\n"), opening.start(), end.end())
