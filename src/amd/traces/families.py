"""Families that can be told from a task's id, by the overlays that know their benchmark.

A package offers them as an entry point of the group ``amd.families``, named like the benchmark: a function from a
task id to its family, or ``None`` for an id that is not of that benchmark. Nothing is ever guessed from an id here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import cast

from amd.traces.offers import load_offer

__all__ = ["GROUP", "families_of", "family_of"]

GROUP = "amd.families"
"""The entry point group of family functions, by benchmark."""


@cache
def families_of(benchmark: str) -> Callable[[str], str | None] | None:
    """The function of an installed overlay that knows this benchmark's families, or ``None``.

    Raises:
        ConfigError: two overlays know the benchmark, or the one that does is broken.
    """
    return cast("Callable[[str], str | None] | None", load_offer(GROUP, benchmark))


def family_of(benchmark: str, task_id: str) -> str | None:
    """The family that an installed overlay names, or ``None`` where no overlay knows this benchmark or this id.

    >>> family_of("a-benchmark-that-nobody-knows", "t1") is None
    True
    """
    family = families_of(benchmark)
    return family(task_id) if family else None
