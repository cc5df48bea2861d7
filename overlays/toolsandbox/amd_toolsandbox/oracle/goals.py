"""What a scenario is scored by: calls that must be seen, changes of the phone, words that must be said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from amd_toolsandbox.grouping import name_family

__all__ = ["Changed", "Goal", "Said", "Sheet", "Table", "Traced"]

Table: TypeAlias = Literal["SETTING", "CONTACT", "MESSAGING", "REMINDER"]
Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Traced:
    """A call that must be seen. ``linked``: it must also agree with the result of an earlier call."""

    tool: str
    arguments: Row
    linked: bool = False

    @property
    def named(self) -> tuple[Row, ...]:
        """The values that the goal names."""
        return (self.arguments,)


@dataclass(frozen=True, slots=True)
class Changed:
    """Rows of the phone's database that must be added, updated, removed, or (a setting) be so."""

    table: Table
    how: Literal["added", "updated", "removed", "set"]
    rows: tuple[Row, ...]

    @property
    def named(self) -> tuple[Row, ...]:
        """The values that the goal names."""
        return self.rows


@dataclass(frozen=True, slots=True)
class Said:
    """Words that the agent must say; ``{days}`` in them stands for a result."""

    text: str
    named: tuple[Row, ...] = ()


Goal: TypeAlias = Traced | Changed | Said


@dataclass(frozen=True, slots=True)
class Sheet:
    """The answer key of one base: the user's first words and brief, the tools, and the goals in their order."""

    base: str
    first: str
    brief: str
    tools: frozenset[str]
    goals: tuple[Goal, ...]

    @property
    def asks(self) -> bool:
        """Whether the agent asks first: the user's first words do not say everything."""
        return "_multiple_user_turn" in self.base

    @property
    def answer(self) -> str:
        """What the user says when asked: the task's kind, and the values that its goals name.

        >>> goals = (Traced("find_bed", {"name": "roses", "bed_id": None}), Said("The roses are dry."))
        >>> Sheet("find_bed_multiple_user_turn", "I look for a bed", "", frozenset(), goals).answer
        'Please find bed: name is roses.'
        """
        told: dict[str, None] = {}
        for goal in self.goals:
            for row in goal.named:
                told |= {
                    f"{key.replace('_', ' ')} is {value}": None
                    for key, value in row.items()
                    if isinstance(value, str) and not key.endswith("_id")
                }
        wish = f"Please {name_family(self.base).replace('_', ' ')}"
        return f"{wish}: {', '.join(told)}." if told else f"{wish}."

    @property
    def preconditions(self) -> tuple[Changed, ...]:
        """Settings that only have to be so because something else needs them: an error will tell."""
        goals = enumerate(self.goals)
        return tuple(goal for at, goal in goals if isinstance(goal, Changed) and self._is_precondition(at))

    @property
    def wanted(self) -> tuple[Goal, ...]:
        """The goals that are gone for: all others."""
        return tuple(goal for at, goal in enumerate(self.goals) if not self._is_precondition(at))

    def _is_precondition(self, at: int) -> bool:
        goal = self.goals[at]
        later = any(not isinstance(each, Said) for each in self.goals[at + 1 :])
        return isinstance(goal, Changed) and goal.how == "set" and later
