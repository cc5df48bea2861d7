"""Which calls of a cell happened, which failed, and which answer is a call's own: what is certain, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from amd_appworld.cells import Cell, CodeCall
from amd_appworld.failures import Failure
from amd_appworld.tracebacks import EXECUTED, NOTHING

__all__ = ["NOT_RUN", "Paired", "pair"]

NOT_RUN: Final = frozenset({"syntax", "unsafe"})
"""The failures of cells that the environment did not run at all."""


@dataclass(frozen=True, slots=True)
class Paired:
    """A call that happened, with what it answered (empty where the log does not tell) and whether it went well."""

    call: CodeCall
    observation: str
    ok: bool


def pair(cell: Cell, output: str, failure: Failure | None) -> tuple[list[Paired], int]:
    """The calls of a cell that happened, and how many were left out because that is not certain."""
    if output == NOTHING or (failure is not None and failure.kind in NOT_RUN):
        return [], 0
    if failure is None:
        own = _owner(cell, output)
        return [Paired(call, _answer(call, output) if call is own else "", ok=True) for call in cell.calls], 0
    if failure.site is None:
        return _caught(cell, failure)
    return _raised(cell, failure)


def _raised(cell: Cell, failure: Failure) -> tuple[list[Paired], int]:
    """The calls before the one that failed; what stands after it did not happen."""
    assert failure.site is not None
    place = _failed(cell.calls, failure)
    if place is not None:
        before = [Paired(call, "", ok=True) for call in cell.calls[:place]]
        return [*before, Paired(cell.calls[place], failure.error, ok=False)], 0
    called = [at for at, call in enumerate(cell.calls) if failure.api == call.api]
    most = min(called, default=len(cell.calls))
    before = [Paired(call, "", ok=True) for call in cell.calls[:most] if call.site < failure.site]
    at_site = sum(call.site == failure.site for call in cell.calls)
    return before, max(at_site, len(called))


def _failed(calls: Sequence[CodeCall], failure: Failure) -> int | None:
    """Where the call stands that failed, if only one can be meant."""
    if failure.api is None:
        return None
    named = [at for at, call in enumerate(calls) if call.api == failure.api]
    here = [at for at in named if calls[at].site == failure.site] or named
    return here[0] if len(here) == 1 else None


def _caught(cell: Cell, failure: Failure) -> tuple[list[Paired], int]:
    """A failure that the code caught: of the calls that it guards only the one that failed is certain."""
    guarded = [at for at, call in enumerate(cell.calls) if call.guarded]
    named = [at for at in guarded if cell.calls[at].api == failure.api and not cell.calls[at].repeated]
    place = named[0] if len(named) == 1 else None
    happened: list[Paired] = []
    left = 0
    for at, call in enumerate(cell.calls):
        if at == place:
            happened.append(Paired(call, failure.error, ok=False))
        elif call.guarded and (place is None or at > place):
            left += 1
        else:
            happened.append(Paired(call, "", ok=True))
    return happened, left


def _owner(cell: Cell, output: str) -> CodeCall | None:
    """The call whose answer the output is: of the only ``print``, or the only call of a cell that prints nothing."""
    if cell.prints == 0 and len(cell.calls) == 1 and output == EXECUTED:
        return cell.calls[0]
    if cell.prints != 1 or output == EXECUTED:
        return None
    return next((call for call in cell.calls if call.printed), None)


def _answer(call: CodeCall, output: str) -> str:
    """The answer; a part of it stands under its own key, so that what it is can be told."""
    if not call.printed or not call.part:
        return output
    try:
        value = json.loads(output)
    except (ValueError, RecursionError):
        value = output
    return json.dumps({call.part: value}, ensure_ascii=False)
