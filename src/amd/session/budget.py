"""How much of a student's prompt each tier may fill: whole parts only, each tier on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from amd.errors import ConfigError
from amd.tier import Part

__all__ = ["DEFAULT_LIMITS", "Limits", "fit"]

Moment = Literal["task", "turn", "error"]


@dataclass(frozen=True, slots=True)
class Limits:
    """The most tokens that each tier may show at one place; ``others`` names further tiers.

    One that has no entry there may show what the tiers of ``amd`` may show together at the same moment: ``workflow``
    and ``subtask`` before a task, ``subtask`` before a turn, ``function`` after an error. So a baseline is given
    neither more nor less room.

    ``tokenizer`` is the path of the student's ``tokenizer.json``; without it tokens are estimated. The frame of a
    block (its two tags and its note, some thirty tokens) is counted to no tier.

    >>> Limits(others={"memp": 900}).of("memp", "task"), Limits(workflow=200).of("memp", "task")
    (900, 1000)
    >>> [Limits().of("sasm", moment) for moment in ("task", "turn", "error")]
    [1200, 800, 400]
    """

    workflow: int = 400
    subtask: int = 800
    function: int = 400
    tokenizer: Path | str | None = None
    others: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a limit below zero."""
        own = {"workflow": self.workflow, "subtask": self.subtask, "function": self.function}
        limits: Mapping[str, object] = {**self.others, **own}
        for tier, limit in limits.items():
            if not isinstance(limit, int) or limit < 0:
                raise ConfigError(
                    f"the limit of tier {tier!r} is {limit} tokens", next_step="use 0 or more", tier=tier, limit=limit
                )

    def of(self, tier: str, at: Moment) -> int:
        """The limit of a tier at a moment, in tokens."""
        own = {"workflow": self.workflow, "subtask": self.subtask, "function": self.function}
        together = {"task": self.workflow + self.subtask, "turn": self.subtask, "error": self.function}
        return own[tier] if tier in own else self.others.get(tier, together[at])


DEFAULT_LIMITS = Limits()


def fit(
    parts: Sequence[Part], heading: str, limit: int, count: Callable[[str], int]
) -> tuple[tuple[Part, ...], int, int]:
    """The whole parts that fit, in order; one that does not fit is passed over and the next is tried.

    What follows a part of the same record is passed over with it: a result says nothing without its call.

    Returns:
        The parts kept, how many did not fit, and the tokens of what is kept, the heading included.
    """
    kept: list[Part] = []
    lost: set[str] = set()
    tokens = 0
    for part in parts:
        wanted = count(_as_text([*kept, part], heading))
        if wanted <= limit and part.record_id not in lost:
            kept.append(part)
            tokens = wanted
        elif part.record_id:
            lost.add(part.record_id)
    return tuple(kept), len(parts) - len(kept), tokens


def _as_text(parts: Sequence[Part], heading: str) -> str:
    """All that a student reads of these parts; examples are read as messages of their own, without the heading."""
    texts = [part.text for part in parts if part.example is None]
    examples = [line for part in parts if part.example is not None for line in part.example]
    return "\n".join([heading, *texts, *examples] if texts else examples)
