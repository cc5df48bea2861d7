"""A run as a builder model reads it: the user's words, the calls by number, and their results, within a bound.

What is told is masked already. Long pieces keep head and tail; where the whole is still too long, calls in the middle
are left out, and the text says which.
"""

from __future__ import annotations

from dataclasses import dataclass

from amd.json_text import dumps
from amd.trajectory import Step, Trajectory
from amd.transcript import excerpt

__all__ = ["VERSION", "Told", "tell"]

VERSION = 1
"""Raised when the same run is told in other words: it is part of what replies are kept by."""

_USER, _AGENT, _ARGUMENTS, _OBSERVATION, _FIRST = 1_200, 400, 400, 400, 2_000  # bytes
_HEAD = 0.6  # of the room: how a task begins says more than how it ends
_LINE = 80  # bytes for the line about what is left out


@dataclass(frozen=True, slots=True)
class Told:
    """The text, and how much of the run is not in it: bytes that were cut, and calls left out whole."""

    text: str
    cut: int
    left_out: int


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    call: int = 0


def tell(run: Trajectory, limit: int) -> Told:
    r"""The run in at most ``limit`` bytes of UTF-8, which must be 400 or more.

    >>> from amd.testing import run
    >>> told = tell(run(1), 2_000)
    >>> told.text.split("\n")[1], told.left_out
    ('Call 1: cd {"folder":"folder_1","n":0}', 4)
    """
    teller = _Teller()
    head = teller.piece("The task: ", run.task.instruction, min(_FIRST, limit // 3))
    pieces = teller.pieces(run)
    kept, between = _within(pieces, limit - _size(head) - _LINE)
    text = "\n".join([head, *(piece.text for piece in kept)])
    lost = sum(_size(piece.text) for piece in between)
    return Told(text, teller.cut + lost, sum(1 for piece in between if piece.call))


class _Teller:
    """Makes the pieces, and counts what they lose."""

    def __init__(self) -> None:
        self.cut = 0
        self._call = 0

    def piece(self, name: str, text: str, limit: int) -> str:
        """One piece on a line of its own, cut to its limit."""
        shown = _shortened(text, limit)
        self.cut += _size(text) - _size(shown) if shown != text else 0
        return name + shown

    def pieces(self, run: Trajectory) -> list[_Piece]:
        """All pieces in order; the first user text is not told again where it is the instruction."""
        found = []
        for number, turn in enumerate(run.turns, start=1):
            said = (turn.user or "").strip()
            if said and not (number == 1 and said == run.task.instruction.strip()):
                found.append(_Piece(self.piece("User: ", said, _USER)))
            for step in turn.steps:
                found += self._step(step)
        return found

    def _step(self, step: Step) -> list[_Piece]:
        found = [_Piece(self.piece("Assistant: ", step.text.strip(), _AGENT))] if step.text.strip() else []
        for call in step.calls:
            self._call += 1
            arguments = dumps(call.arguments, sort_keys=False).decode()
            result = "Result" if call.ok else "Error"
            text = self.piece(f"Call {self._call}: {call.name} ", arguments, _ARGUMENTS)
            text += "\n" + self.piece(f"{result} {self._call}: ", call.observation, _OBSERVATION)
            found.append(_Piece(text, self._call))
        return found


def _within(pieces: list[_Piece], room: int) -> tuple[list[_Piece], list[_Piece]]:
    """The pieces that fit, from both ends, with a line for those in between; and those."""
    if sum(_size(piece.text) + 1 for piece in pieces) <= room:
        return pieces, []
    first = _fitting(pieces, int(room * _HEAD))
    last = _fitting(pieces[first:][::-1], room - int(room * _HEAD))
    between = pieces[first : len(pieces) - last]
    calls = [piece.call for piece in between if piece.call]
    words = f"calls {calls[0]} to {calls[-1]} are not shown" if calls else "some words are not shown"
    return [*pieces[:first], _Piece(f"({words})"), *pieces[len(pieces) - last :]], between


def _fitting(pieces: list[_Piece], room: int) -> int:
    """How many pieces fit from the first on."""
    for count, piece in enumerate(pieces):
        room -= _size(piece.text) + 1
        if room < 0:
            return count
    return len(pieces)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _shortened(text: str, limit: int) -> str:
    """Head and tail in at most ``limit`` bytes."""
    size = limit
    shown = excerpt(text, size)
    while _size(shown) > limit:
        size = size * 3 // 4
        shown = excerpt(text, size)
    return shown
