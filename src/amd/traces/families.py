"""Families that can be told from a task's id, by the overlays that know their benchmark.

A package offers them as an entry point of the group ``amd.families``, named like the benchmark: a function from a
task id to its family, or ``None`` for an id that is not of that benchmark. It is never guessed from the id here.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from amd.errors import ConfigError

__all__ = ["GROUP", "family_of"]

GROUP = "amd.families"
"""The entry point group of family functions, by benchmark."""


def family_of(benchmark: str, task_id: str) -> str | None:
    """The family that an installed overlay names, or ``None`` where no overlay knows this benchmark or this id.

    >>> family_of("a-benchmark-that-nobody-knows", "t1") is None
    True
    """
    offers = {entry.value: entry for entry in entry_points(group=GROUP, name=benchmark)}
    if len(offers) > 1:
        raise ConfigError(
            f"the families of {benchmark!r} are offered twice: {' and '.join(sorted(offers))}",
            next_step="uninstall one of the packages, or give --family",
            entry_points=sorted(offers),
        )
    for entry in offers.values():
        family: str | None = entry.load()(task_id)
        return family
    return None
