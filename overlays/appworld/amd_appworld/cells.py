"""The shapes of a cell of an agent's code: its calls, and what is known of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from amd_appworld.names import Names

__all__ = ["Cell", "CodeCall", "Setting"]


@dataclass(frozen=True, slots=True)
class CodeCall:
    """One call of ``apis.app.api(...)`` as it is written.

    ``api`` is ``app.api``. ``arguments`` holds the keyword arguments: literals as they are, and for what the code
    computes the stand-in ``<name>``, which is how a masked value looks too; ``computed`` names those. ``line`` is
    where it stands (from 1), ``column`` and ``end`` where it begins and ends in that line and the last one (bytes);
    ``site`` is the line of the cell itself that runs it, which differs inside a function. ``guarded`` is a call whose
    error the code catches, ``repeated`` one in a loop. ``printed`` is one whose value, or a part of it, is all that a
    ``print`` prints, and ``part`` the key of that part.
    """

    api: str
    arguments: Mapping[str, Any]
    computed: frozenset[str] = frozenset()
    line: int = 1
    column: int = 0
    end: tuple[int, int] = (1, 0)
    site: int = 1
    guarded: bool = False
    repeated: bool = False
    printed: bool = False
    part: str = ""

    @property
    def written(self) -> dict[str, Any]:
        """The arguments that are written out: none is a stand-in of ours."""
        return {name: value for name, value in self.arguments.items() if name not in self.computed}


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of code: its calls in the order in which Python makes them, and the names that it leaves.

    ``prints`` counts its calls of ``print``. ``parsed`` is false for a text that is no program. ``catches`` says
    whether it may catch an error, itself or in a function of an earlier cell that it calls.
    """

    calls: tuple[CodeCall, ...] = ()
    names: Names = field(default_factory=Names)
    prints: int = 0
    parsed: bool = True
    catches: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """Where the walk is: the calling line of the cell, and what surrounds it."""

    site: int | None = None
    guarded: bool = False
    repeated: bool = False
    depth: int = 0
