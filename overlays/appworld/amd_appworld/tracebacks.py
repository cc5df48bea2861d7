"""What the environment writes when a cell of code fails: what kind of failure it is, and which line it names.

Every cell is called ``<python-input>``, so that the line's number may be one of an earlier cell: the line itself, and
the carets below it, tell more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["EXECUTED", "FAILED", "NOTHING", "Frame", "Traceback", "read_traceback"]

FAILED: Final = "Execution failed. Traceback:"
"""How the answer to a cell begins that failed."""
EXECUTED: Final = "Execution successful."
"""The answer to a cell that printed nothing."""
NOTHING: Final = "No code available to execute."
"""The answer to a cell without code."""

_FRAME: Final = re.compile(r' *File "<python-input>", line (?P<line>[0-9]{1,9}), in (?P<where>.+)')
_CARETS: Final = re.compile(r" *[~^]+ *")
_CHAIN: Final = re.compile(
    r"\n(?:The above exception was the direct cause of the following exception"
    r"|During handling of the above exception, another exception occurred):\n"
)
_INDENT: Final = 4
"""How far a traceback indents a source line, whose own indentation it drops."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of the agent's code in a traceback: its number, its text, and the columns that the carets mark."""

    line: int
    text: str
    columns: tuple[int, int] | None
    module: bool


@dataclass(frozen=True, slots=True)
class Traceback:
    """One exception of a chain: its frames, the outermost first, and what it says from its name on."""

    frames: tuple[Frame, ...]
    message: str

    @property
    def site(self) -> int | None:
        """The line of the cell itself that failed."""
        return next((frame.line for frame in self.frames if frame.module), None)

    @property
    def innermost(self) -> Frame | None:
        """The last line of the agent's code."""
        return self.frames[-1] if self.frames else None


def read_traceback(body: str) -> tuple[Traceback, ...]:
    r"""The exceptions of a failed cell's answer, without its first line: the one that was raised last comes last.

    >>> [one] = read_traceback('  File "<python-input>", line 2, in <module>\n    d["x"]\n    ~^^^^^\nKeyError: \'x\'')
    >>> one.site, one.frames[0].text, one.frames[0].columns, one.message
    (2, 'd["x"]', (0, 6), "KeyError: 'x'")
    """
    return tuple(_read(part) for part in _CHAIN.split(body))


def _read(part: str) -> Traceback:
    lines = part.strip("\n").split("\n")
    frames: list[Frame] = []
    at = after = 0
    while at < len(lines):
        match = _FRAME.fullmatch(lines[at])
        at += 1
        if match is None:
            continue
        text, columns = "", None
        if at < len(lines) and lines[at].startswith(" " * _INDENT):
            text = lines[at][_INDENT:]
            at += 1
            if at < len(lines) and _CARETS.fullmatch(lines[at]):
                columns = _columns(lines[at])
                at += 1
        frames.append(Frame(int(match["line"]), text, columns, match["where"] == "<module>"))
        after = at
    return Traceback(tuple(frames), "\n".join(lines[after:]))


def _columns(marks: str) -> tuple[int, int]:
    return len(marks) - len(marks.lstrip()) - _INDENT, len(marks.rstrip()) - _INDENT
