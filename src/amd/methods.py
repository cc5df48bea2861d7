"""Methods: a name for a tuple of tiers. ``amd`` has three; an ablation is a shorter tuple, a baseline another one.

================================  ==================================================================================
``amd``                           ``workflow+subtask+function``; any sum of tiers is a method too
``subtask-text``                  subtasks in words, without their calls: one of the paper's representations
``reasoning_bank``                titled items from successes and, if included, failures
``memp``                          script and trajectory; ``memp-script`` and ``memp-trajectory`` show one of them
``memp-keywords``                 the same, found by keywords
``sasm``                          category gate, then similarity to the description
``NAME-k3``                       the same with the best three records of each query (1 to 9): ``reasoning_bank-k3``
``random``                        as many records as ``amd`` would show, drawn at random: the control for length
``random-METHOD``                 the same for another method: ``random-amd-k3``, ``random-workflow``, ``random-sasm``
``none``                          no tier: the student runs through the same code without memory
================================  ==================================================================================

Methods that only show or ask differently read the same memory (``Method.memory``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from amd.baselines.asked import Drawn, Wider
from amd.baselines.memp import MempTier
from amd.baselines.reasoning_bank import ReasoningBankTier
from amd.baselines.sasm import SasmTier
from amd.errors import ConfigError
from amd.json_text import JSON
from amd.tier import Tier
from amd.tiers.function import FunctionTier
from amd.tiers.subtask import SubtaskTier
from amd.tiers.workflow import WorkflowTier

__all__ = ["METHODS", "Method", "fault_in", "method_named"]

_AMD = ("workflow", "subtask", "function")
_TIERS: dict[str, Tier] = {
    tier.name: tier
    for tier in (
        *(WorkflowTier(), SubtaskTier(), FunctionTier()),
        *(ReasoningBankTier(), MempTier(), MempTier(keywords=True), SasmTier()),
    )
}
_SHOWN: dict[str, Tier] = {
    "subtask-text": SubtaskTier(words=True),
    "memp-script": MempTier("script"),
    "memp-trajectory": MempTier("trajectory"),
}

METHODS = "amd, none, or a sum of tiers such as workflow+function; reasoning_bank, memp, sasm; -k3 for top-3; random"
"""What a method can be called, for people."""

_PART = re.compile(r"(?P<base>.*?)(?:-k(?P<k>[1-9]))?")
_RANDOM = re.compile(r"random(?:-(?P<method>.+))?")


@dataclass(frozen=True, slots=True)
class Method:
    """A named tuple of tiers. ``memory`` is the method that a memory for it is built by, empty if it reads none."""

    name: str
    tiers: tuple[Tier, ...]
    memory: str = ""

    @property
    def draws(self) -> bool:
        """Whether its records are drawn at random."""
        return any(isinstance(tier, Drawn) for tier in self.tiers)

    def in_run(self, seed: int) -> Method:
        """The same in the run of this seed: what is drawn at random is drawn anew in each."""
        tiers = (replace(tier, seed=seed) if isinstance(tier, Drawn) else tier for tier in self.tiers)
        return replace(self, tiers=tuple(tiers))


def method_named(name: str, *, reasoning: bool = False, include_failures: bool = False) -> Method:
    """The method of a name; ``ConfigError`` for anything else.

    With ``reasoning`` its function tier asks a writer why each call was made. With ``include_failures`` the tiers that
    can learn from failed runs do; ``ConfigError`` if it has none.

    >>> [tier.name for tier in method_named("workflow+function").tiers]
    ['workflow', 'function']
    >>> method_named("none").tiers, method_named("reasoning_bank-k3").memory
    ((), 'reasoning_bank')
    """
    if drawn := _RANDOM.fullmatch(name):
        return _drawn(name, drawn["method"] or "amd")
    parts = [] if name == "none" else [_part(part, name) for part in name.split("+")]
    tiers = [tier for _, found in parts for tier in found]
    shelves = [tier.name for tier in tiers]
    if len(set(shelves)) < len(shelves) or (len(parts) > 1 and any(base == "amd" for base, _ in parts)):
        raise _unknown(name)
    if include_failures and not any(isinstance(tier, ReasoningBankTier | MempTier) for tier in map(_inner, tiers)):
        raise ConfigError(
            f"no tier of the method {name!r} learns from failed runs",
            next_step="leave --include-failures out, or use reasoning_bank or memp",
            method=name,
        )
    order = list(_TIERS)
    made = [_made(tier, reasoning=reasoning, failures=include_failures) for tier in tiers]
    ordered = tuple(sorted(made, key=lambda tier: order.index(tier.name)))
    return Method(name, ordered, "+".join(base for base, _ in parts))


def _drawn(name: str, base: str) -> Method:
    """The method whose records are drawn, in place of those that ``base`` would find."""
    if base == "none" or _RANDOM.fullmatch(base):
        raise _unknown(name)
    try:
        method = method_named(base)
    except ConfigError:
        raise _unknown(name) from None
    return Method("random" if base == "amd" else name, tuple(map(Drawn, method.tiers)), method.memory)


def _part(part: str, method: str) -> tuple[str, tuple[Tier, ...]]:
    """One summand: the name that a memory of it is built by, and its tiers."""
    found = _PART.fullmatch(part)
    base = found["base"] if found else part
    shown = _SHOWN.get(base)
    names = _AMD if base == "amd" else (base,)
    if shown is None and not all(name in _TIERS for name in names):
        raise _unknown(method)
    tiers = (shown,) if shown else tuple(_TIERS[name] for name in names)
    k = int(found["k"]) if found and found["k"] else None
    return (shown.name if shown else base), tuple(Wider(tier, k) for tier in tiers) if k else tiers


def _inner(tier: Tier) -> Tier:
    return tier.tier if isinstance(tier, Wider) else tier


def _made(tier: Tier, *, reasoning: bool, failures: bool) -> Tier:
    """The tier as a build wants it."""
    if isinstance(tier, Wider):
        return Wider(_made(tier.tier, reasoning=reasoning, failures=failures), tier.k)
    if isinstance(tier, FunctionTier):
        return FunctionTier(reasoning=reasoning)
    return replace(tier, failures=failures) if isinstance(tier, ReasoningBankTier | MempTier) else tier


def _unknown(name: str) -> ConfigError:
    return ConfigError(
        f"no method is called {name!r}",
        next_step=f"use amd, none, or a sum of {', '.join([*_TIERS, *_SHOWN])} such as workflow+function, "
        "each with -k3 behind it for top-3; or random-METHOD, for records drawn at random",
        method=name,
    )


def fault_in(tier: str, body: Mapping[str, JSON]) -> str | None:
    """What is wrong with a record's body, by the tier that must read it; ``None`` if nothing is known.

    >>> fault_in("workflow", {"text": "Look first.", "tools": []}) is None, fault_in("workflow", {})
    (True, "a workflow's body needs a text")
    """
    known = _TIERS.get(tier)
    return None if known is None else known.fault(body)
