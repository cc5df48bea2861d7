"""The steps of a run: each cell of code as the calls that it made, with what is certain of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from amd.traces import Step, ToolCall
from amd_appworld.api_docs import ApiDocs
from amd_appworld.cells import Cell, CodeCall
from amd_appworld.code import read_cell
from amd_appworld.failing import failing_api
from amd_appworld.interactions import Interaction
from amd_appworld.names import Names
from amd_appworld.pairing import NOT_RUN, pair
from amd_appworld.printed import Printed
from amd_appworld.sent_requests import Requests, written_values

__all__ = ["Steps", "to_steps"]


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps, what was printed beside them (``amd.traces.Trajectory.beside``), and what is worth a count."""

    steps: tuple[Step, ...] = ()
    printed: tuple[Any, ...] = ()
    notes: Counter[str] = field(default_factory=Counter)


def to_steps(
    cells: Sequence[Interaction], texts: Sequence[str], docs: ApiDocs | None, requests: Requests | None
) -> Steps:
    """One step for each cell.

    Args:
        cells: the cells and their answers.
        texts: the agent's words to each.
        docs: the world's APIs: a call of another name did not happen.
        requests: what the run sent: an API that got no request was not called, and a value that the code computes is
            known where only one was sent.
    """
    notes: Counter[str] = Counter()
    read = list(_read(cells))
    written = written_values(call for cell in read for call in cell.calls)
    steps: list[Step] = []
    before = Names()
    printed = Printed()
    beside: list[Any] = []
    for interaction, cell, text in zip(cells, read, texts, strict=True):
        failure = failing_api(interaction.code, interaction.output, docs=docs, before=before)
        before = cell.names
        notes["cells_not_parsed"] += not cell.parsed and (failure is None or failure.kind not in NOT_RUN)
        paired, left = pair(cell, interaction.output, failure)
        notes["calls_left_out"] += left
        calls: list[ToolCall] = []
        for one in paired:
            if one.ok and requests is not None and not requests.was_sent(one.call.api):
                notes["calls_never_sent"] += 1
                continue
            arguments = _arguments(one.call, requests, written)
            calls.append(ToolCall(one.call.api, arguments, one.observation, one.ok))
        steps.append(Step(text, tuple(calls)))
        owned = any(call.ok and call.observation for call in calls)
        beside += printed.beside(interaction.code, interaction.output, cell.names, owned=owned)
    return Steps(tuple(steps), tuple(beside), notes)


def _read(cells: Sequence[Interaction]) -> Iterator[Cell]:
    names = Names()
    for interaction in cells:
        cell = read_cell(interaction.code, names)
        names = cell.names
        yield cell


def _arguments(call: CodeCall, requests: Requests | None, written: dict[tuple[str, str], list[Any]]) -> dict[str, Any]:
    """The arguments; what the code computes is what was sent, where that is certain, and a stand-in where it is not."""
    arguments = dict(call.arguments)
    for name in call.computed if requests is not None else ():
        sent = requests.value_of(call.api, name, written.get((call.api, name), ())) if requests else ()
        if sent:
            arguments[name] = sent[0]
    return arguments
