"""The door of ``logs/environment_io.md``: the cells of code that the environment ran, and its answers.

The log has no escapes: code and answers stand between fences as they are, so that an answer may hold a fence, a rule,
and even what looks like the next cell. What cannot be told apart with certainty is refused. A text that a cell printed
can only fool this reader if it holds a whole cell of the log with the right number; where that number is the run's last
one plus one, only the count of the agent's replies can tell, which the reader of runs compares.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from amd.errors import TrajectoryError
from amd_appworld.names import parsed
from amd_appworld.tracebacks import FAILED

__all__ = ["Interaction", "Interactions", "read_interactions"]

_RULE: Final = "-" * 76
_HEAD: Final = re.compile(
    rf"(?:\A\n?|(?<=\n```\n\n)\n)### Environment Interaction (?P<number>[1-9][0-9]{{0,5}})\n{_RULE}\n```python\n"
)
_BETWEEN: Final = "\n```\n\n```\n"
_CLOSED: Final = "\n```"
_END: Final = "\n```\n\n"
_MOST_CUTS: Final = 40
"""So many places are tried where the code may end; a program ends at the first, but for fences in its own texts."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """One cell and the environment's answer to it."""

    code: str
    output: str


@dataclass(frozen=True, slots=True)
class Interactions:
    """The cells of a run, in order. ``torn`` says that the last one was cut off and is left out."""

    cells: tuple[Interaction, ...] = ()
    torn: bool = False


def read_interactions(text: str, replies: Sequence[str] = ()) -> Interactions:
    r"""The cells of a log.

    Args:
        text: the log.
        replies: the agent's words, in order; a cell that several readings are possible of is the one whose code the
            reply of that number holds.

    Raises:
        TrajectoryError: It is no log, or more than one reading is possible.

    >>> log = f"\n### Environment Interaction 1\n{_RULE}\n```python\nprint(1)\n```\n\n```\n1\n```\n\n"
    >>> read_interactions(log).cells
    (Interaction(code='print(1)', output='1'),)
    """
    if not text.strip():
        return Interactions()
    heads = _chain(list(_HEAD.finditer(text)), text, replies)
    ends = [head.start() for head in heads[1:]]
    cells: list[Interaction] = []
    for number, (head, end) in enumerate(zip(heads, [*ends, len(text)], strict=True)):
        last = number == len(ends)
        block, cut = _closed(text[head.end() : end], number + 2 if last else None)
        cell = None if block is None else _cell(block, _said(replies, number))
        if cell is not None:
            cells.append(cell)
        if (cut or cell is None) and not last:
            raise TrajectoryError(f"interaction {number + 1} has no end, or no answer", next_step="check the log")
        if cut or cell is None:
            return Interactions(tuple(cells), torn=True)
    return Interactions(tuple(cells))


def _closed(block: str, following: int | None) -> tuple[str | None, bool]:
    """A cell's text without its last fence, and whether the log was cut behind it, in the next one's head."""
    if block.endswith(_END):
        return block[: -len(_END)], False
    at = block.rfind(_END)
    if following is not None and at >= 0 and _head(following).startswith(block[at + len(_END) :]):
        return block[:at], True
    whole = block.rstrip("\n")
    return (whole[: -len(_CLOSED)], False) if whole.endswith(_CLOSED) else (None, True)


def _head(number: int) -> str:
    return f"\n### Environment Interaction {number}\n{_RULE}\n```python\n"


def _chain(found: Sequence[re.Match[str]], text: str, replies: Sequence[str]) -> list[re.Match[str]]:
    """The heads of the cells 1, 2, 3 ...; a number that stands there twice is settled by the agent's words."""
    by_number: dict[int, list[re.Match[str]]] = {}
    for head in found:
        by_number.setdefault(int(head["number"]), []).append(head)
    chain: list[re.Match[str]] = []
    after = -1
    while True:
        number = len(chain) + 1
        later = [head for head in by_number.get(number, ()) if head.start() > after]
        if not later:
            break
        if len(later) > 1:
            later = [head for head in later if _is_said(head, text, _said(replies, number - 1))]
        if len(later) != 1:
            raise TrajectoryError(
                f"the log has {len(by_number[number])} places that look like interaction {number}, "
                f"and {len(later)} of them agree with the agent's reply {number}",
                next_step="an answer quotes the log: keep lm_calls.jsonl beside it, or leave the run out",
            )
        chain += later
        after = later[0].start()
    if not chain:
        raise TrajectoryError("no log of an environment: it has no interaction 1", next_step="check the file")
    return chain


def _said(replies: Sequence[str], number: int) -> str:
    return replies[number] if number < len(replies) else ""


def _is_said(head: re.Match[str], text: str, reply: str) -> bool:
    """Whether a reply holds the code that begins here, up to some place where code may end."""
    if not reply:
        return False
    end = head.end()
    for _ in range(_MOST_CUTS):
        end = text.find(_BETWEEN, end + 1)
        if end < 0 or end - head.end() > len(reply):
            return False
        if text[head.end() : end].strip() in reply:
            return True
    return False


def _cell(block: str, reply: str) -> Interaction | None:
    """Code and answer: the code ends at the first fence before which it is a program, or is what the reply holds."""
    cuts: list[int] = []
    at = block.find(_BETWEEN)
    while at >= 0 and len(cuts) < _MOST_CUTS:
        cuts.append(at)
        at = block.find(_BETWEEN, at + 1)
    if not cuts:
        return _without_answer(block)
    first = next((cut for cut in cuts if _ends_at(block, cut, reply)), cuts[0])
    return Interaction(block[:first], block[first + len(_BETWEEN) :])


def _ends_at(block: str, cut: int, reply: str) -> bool:
    code = block[:cut]
    if parsed(code) is not None:
        return True
    # An environment that refuses to run a cell says so in the answer; its code is no program.
    return block.startswith(FAILED, cut + len(_BETWEEN)) and code.strip() in reply


def _without_answer(block: str) -> Interaction | None:
    """A cell whose answer is empty: its fences stand beside each other."""
    code = block.removesuffix("\n```\n\n```")
    return Interaction(code, "") if code != block else None
