"""What a scripted student says in one turn of a recorded run, and the slips that it makes on purpose."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from amd.errors import ConfigError
from amd.traces import Trajectory
from amd_bfcl.backends import to_python

__all__ = ["CLOSING", "REFUSED", "Call", "Kind", "Said", "Script", "Slip", "every_slip", "script_turn"]

Call: TypeAlias = tuple[str, Mapping[str, Any]]

Kind = Literal["error", "raise", "parallel", "broken", "endless"]
"""What goes wrong: a call that answers ``{"error": …}``, one that raises, two calls at once of which one fails,
arguments that cannot be read, a turn that never ends."""

CLOSING = "Nothing is left to do."
"""How a turn ends whose recorded run has no words for it."""

REFUSED: Mapping[str, Mapping[str, Any]] = {
    "cd": {"folder": "no_such_folder"},
    "get_stock_info": {"symbol": "NO_SUCH_SYMBOL"},
    "fillFuelTank": {"fuelAmount": -1},
    "get_credit_card_balance": {"access_token": "no_such_token", "card_id": "no_such_card"},
}
"""A call for each of the benchmark's main backends that answers ``{"error": …}`` in any state and changes none."""

_UNKNOWN = {"no_such_argument": 1}
# The harness ends a turn after 20 messages with calls; recorded turns have up to 34 calls, each a step of its own.
_MOST_MESSAGES = 12


@dataclass(frozen=True, slots=True)
class Slip:
    """A fault on purpose in one turn (from 0). ``call`` is the call that fails; ``None``: one that is known to."""

    kind: Kind
    turn: int = 0
    call: Call | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ConfigError(f"{self.kind!r} is no slip", next_step=f"use one of: {', '.join(get_args(Kind))}")


@dataclass(frozen=True, slots=True)
class Said:
    """A message with calls; ``broken``: their end is cut off, so that nobody can read them."""

    calls: tuple[Call, ...]
    broken: bool = False

    @property
    def as_text(self) -> str:
        """The message in prompting: the calls as a list in Python."""
        text = f"[{', '.join(to_python(*call) for call in self.calls)}]"
        return text[:-2] if self.broken else text

    def as_tool_calls(self, place: str) -> list[dict[str, Any]]:
        """The message in function calling: its ``tool_calls``, with ids that begin with ``place``."""
        calls = []
        for at, (name, arguments) in enumerate(self.calls):
            text = json.dumps(arguments, ensure_ascii=False)
            function = {"name": name, "arguments": text[:-1] if self.broken else text}
            calls.append({"id": f"{place}_{at}", "type": "function", "function": function})
        return calls


@dataclass(frozen=True, slots=True)
class Script:
    """What is said in one turn: messages with calls, then the closing words, which never come if it is endless."""

    messages: tuple[Said, ...]
    closing: str
    endless: bool

    def at(self, step: int) -> Said | None:
        """The message after so many of this turn; ``None`` for the closing words."""
        if step < len(self.messages):
            return self.messages[step]
        return self.messages[-1] if self.endless else None


def every_slip(runs: Iterable[Trajectory]) -> dict[str, tuple[Slip, ...]]:
    """One slip for each run that has a call, in its first turn with calls: all kinds by turns, one kind a family.

    >>> from amd.testing import run
    >>> [slip.kind for slips in every_slip([run(i) for i in range(5)]).values() for slip in slips]
    ['error', 'raise', 'parallel', 'broken', 'endless']
    """
    kinds: dict[str, Kind] = {}
    slips: dict[str, tuple[Slip, ...]] = {}
    for run in runs:
        turn = next((at for at, each in enumerate(run.turns) if each.calls), None)
        if turn is not None:
            kind = kinds.setdefault(run.task.family, get_args(Kind)[len(kinds) % len(get_args(Kind))])
            slips[run.task.task_id] = (Slip(kind, turn),)
    return slips


def script_turn(run: Trajectory, turn: int, slips: Sequence[Slip]) -> Script:
    """What is said in one turn (from 0) of a run, with the slips of this turn, in their order.

    Raises:
        ConfigError: the run has no such turn, the turn no call to slip on, or no tool is known to refuse a call.
    """
    if turn not in range(len(run.turns)):
        raise ConfigError(f"{run.task.task_id!r} has {len(run.turns)} turns, none is {turn}", next_step="count from 0")
    steps = run.turns[turn].steps
    own = [tuple((call.name, call.arguments) for call in step.calls) for step in steps if step.calls]
    closings = [step.text for step in steps if step.text and not step.calls]
    if slips and not own:
        raise ConfigError(
            f"turn {turn} of {run.task.task_id!r} has no call to slip on", next_step="slip in a turn with calls"
        )
    before: list[Said] = []
    for slip in slips:
        if slip.kind == "raise":
            before.append(Said((slip.call or (own[0][0][0], _UNKNOWN),)))
        elif slip.kind == "error":
            before.append(Said((slip.call or _refused(run),)))
        elif slip.kind == "parallel":
            own[0] = (*own[0], slip.call or _refused(run))
    kinds = {slip.kind for slip in slips}
    after = [Said(own[0], broken=True)] if "broken" in kinds else _joined(own)
    return Script((*before, *after), closings[-1] if closings else CLOSING, "endless" in kinds)


def _joined(steps: Sequence[tuple[Call, ...]]) -> list[Said]:
    """The steps as messages, neighbours in one message where there are too many steps."""
    size = max(1, math.ceil(len(steps) / _MOST_MESSAGES))
    return [Said(tuple(call for step in steps[at : at + size] for call in step)) for at in range(0, len(steps), size)]


def _refused(run: Trajectory) -> Call:
    """A call that the run's tools answer with an error."""
    offered = {tool.name for tool in run.tools or ()}
    for name, arguments in REFUSED.items():
        if name in offered:
            return name, arguments
    raise ConfigError(f"no tool of {run.task.task_id!r} is known to refuse a call", next_step="give the slip its call")
