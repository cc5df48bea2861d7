"""Methods: a name for a tuple of tiers. ``amd`` has all three; an ablation is a shorter tuple."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amd.errors import ConfigError
from amd.json_text import JSON
from amd.tier import Tier
from amd.tiers.function import FunctionTier
from amd.tiers.subtask import SubtaskTier
from amd.tiers.workflow import WorkflowTier

__all__ = ["Method", "fault_in", "method_named"]

_TIERS: dict[str, Tier] = {tier.name: tier for tier in (WorkflowTier(), SubtaskTier(), FunctionTier())}
_WHOLE = {"amd": "+".join(_TIERS), "none": ""}


@dataclass(frozen=True, slots=True)
class Method:
    """A named tuple of tiers."""

    name: str
    tiers: tuple[Tier, ...]


def method_named(name: str, *, reasoning: bool = False) -> Method:
    """The method of a name: ``amd``, ``none``, or tiers joined by ``+``; ``ConfigError`` for anything else.

    With ``reasoning`` its function tier asks a writer why each call was made.

    >>> [tier.name for tier in method_named("workflow+function").tiers]
    ['workflow', 'function']
    >>> method_named("none").tiers
    ()
    """
    parts = [part for part in _WHOLE.get(name, name).split("+") if part]
    unknown = [part for part in parts if part not in _TIERS]
    if unknown or len(set(parts)) < len(parts) or (not parts and name != "none"):
        raise ConfigError(
            f"no method is called {name!r}",
            next_step=f"use amd, none, or a sum of {', '.join(_TIERS)} such as workflow+function",
            method=name,
        )
    tiers = _TIERS | {"function": FunctionTier(reasoning=reasoning)}
    return Method(name, tuple(tiers[part] for part in _TIERS if part in parts))


def fault_in(tier: str, body: Mapping[str, JSON]) -> str | None:
    """What is wrong with a record's body, by the tier that must read it; ``None`` if nothing is known.

    >>> fault_in("workflow", {"text": "Look first.", "tools": []}) is None, fault_in("workflow", {})
    (True, "a workflow's body needs a text")
    """
    known = _TIERS.get(tier)
    return None if known is None else known.fault(body)
