"""What a session was asked for, checked against the memory before the first question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from amd.chat import CallFormat
from amd.errors import ConfigError, LeakageError
from amd.exclusion import Split, Viewer
from amd.methods import Method, method_named
from amd.tier import FailedCall, Question, Tier
from amd.trajectory import Task

if TYPE_CHECKING:  # a session is handed an open memory, so it need not load what opening one needs
    from amd.store.memory import Memory

__all__ = [
    "Decompose",
    "Layout",
    "Mode",
    "Said",
    "Wording",
    "as_it_is",
    "check_choices",
    "check_viewer",
    "resolved",
    "serves",
]

Mode = Literal["static", "dynamic", "replace"]
"""When subtask memory is asked for: once before the task, added at each turn, or replaced at each turn."""

Layout = Literal["block", "turns"]
"""How records are shown: as text in the block, or as earlier chat turns where a tier has examples."""

Decompose: TypeAlias = Callable[[str, Sequence[str]], Sequence[str]]
"""(instruction, names of the offered tools) -> labels of the parts that the task falls into."""

Said = Literal["note", "user", "assistant"]
"""Who says a piece of memory: the block itself, or a side of an example."""

Wording: TypeAlias = Callable[[str, Said], str]
"""A piece as this student reads and writes it: the names as its calls have them, a reply in its own frame."""


def as_it_is(text: str, _said: Said) -> str:
    """The wording of a student that reads what the tiers wrote.

    >>> as_it_is("garden.water(bed='roses')", "assistant")
    "garden.water(bed='roses')"
    """
    return text


def check_choices(mode: str, layout: str, call_format: str) -> None:
    """Refuse a word that is no choice, and two choices that contradict each other.

    Raises:
        ConfigError: always with the choices there are.
    """
    for name, value, known in (
        ("mode", mode, get_args(Mode)),
        ("layout", layout, get_args(Layout)),
        ("call_format", call_format, get_args(CallFormat)),
    ):
        if value not in known:
            raise ConfigError(f"{value!r} is no {name}", next_step=f"use one of: {', '.join(known)}", **{name: value})
    if mode == "replace" and layout == "turns":
        raise ConfigError(
            "mode 'replace' swaps a block, and layout 'turns' shows none",
            next_step="use layout 'block' with it, or mode 'static' or 'dynamic' with 'turns'",
            mode=mode,
            layout=layout,
        )


def check_viewer(viewer: Viewer, memory: Memory, *, any_benchmark: bool) -> bool:
    """Whether the session looks beyond its benchmark; families are comparable only within one.

    Raises:
        ConfigError: the memory is of another benchmark and nobody said that this is wanted, or it has the task under
            another family, so that its own records would not be known as such.
        LeakageError: held-out evaluation with a memory that holds more than train families.
    """
    if viewer.task is None:
        return False
    if viewer.task.benchmark == memory.manifest.benchmark:
        _check_family(viewer.task, memory)
        if viewer.split is not None:
            _check_split(viewer.split, memory)
        return False
    if not any_benchmark:
        raise ConfigError(
            f"the task is of benchmark {viewer.task.benchmark!r}, "
            f"the memory at {memory.path} of {memory.manifest.benchmark!r}",
            next_step="open the memory of the task's benchmark, or ask for any benchmark",
            task=viewer.task.benchmark,
            memory=memory.manifest.benchmark,
        )
    return True


def _check_family(task: Task, memory: Memory) -> None:
    families = {run.family for run in memory.manifest.sources.runs if run.task_id == task.task_id}
    if families - {task.family}:
        stored = min(families - {task.family})
        raise ConfigError(
            f"task {task.task_id!r} is of family {stored!r} in the memory at {memory.path}, "
            f"and asks as one of family {task.family!r}",
            next_step="give the family that the memory was built with, or build it again with the right one",
            stored=stored,
            given=task.family,
        )


def _check_split(split: Split, memory: Memory) -> None:
    held = sorted(set(memory.manifest.sources.families) - split.train)
    if held:
        raise LeakageError(
            f"the memory at {memory.path} holds {len(held)} families that are not train families of the split, "
            f"the first is {held[0]!r}",
            next_step="build it with: amd build ... --split FILE",
            families=held,
        )


def _tiers(method: object) -> tuple[Tier, ...]:
    tiers = tuple(method) if isinstance(method, Sequence) else None
    if tiers is None or not all(hasattr(tier, "ask") for tier in tiers):
        raise ConfigError(
            f"the method {method!r} is neither a name nor tiers",
            next_step="name it, as workflow+function, or give Tier objects",
        )
    return tiers


def resolved(method: str | Sequence[Tier], memory: Memory) -> Method:
    """The method by its name or from its tiers; each must have a shelf.

    Raises:
        ConfigError: no such method, or the memory lacks one of its tiers.
    """
    if isinstance(method, str):
        whole = method_named(method)
    else:
        tiers = _tiers(method)
        whole = Method("+".join(tier.name for tier in tiers) or "none", tiers)
    missing = [tier.name for tier in whole.tiers if tier.name not in memory.shelves]
    if missing:
        raise ConfigError(
            f"method {whole.name!r} needs the tier {', '.join(missing)}, "
            f"the memory at {memory.path} has {', '.join(sorted(memory.shelves)) or 'none'}",
            next_step="choose a method of the memory's tiers, or build the memory with this method",
            method=whole.name,
            missing=missing,
            shelves=sorted(memory.shelves),
        )
    return whole


_PROBES = {
    "turn": Question("turn", "turn"),
    "error": Question("error", "error", failed=FailedCall("tool", {}, "error", turn_text="turn")),
}


def serves(tier: Tier, at: Literal["turn", "error"]) -> bool:
    """Whether a tier has anything to ask at that moment: ``ask`` is pure, so it is simply tried."""
    return bool(tier.ask(_PROBES[at]))
