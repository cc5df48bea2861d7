"""What a build is asked for and what it tells."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from amd.exclusion import Split
from amd.trajectory import Refusal

__all__ = ["BuildReport", "Options", "Progress", "Stopwatch"]

Progress = Callable[[str, int, int], None]
"""Called with a stage's name, how much of it is done, and how much there is (0: not known)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a build is done; the options of ``amd build``, and ``terms``.

    ``floors`` pins a tier's floor; ``split`` admits only train families; ``pin`` is the seal that the published
    memory must have; ``terms`` is a sentence on redistribution that the manifest keeps. ``reasoning`` asks a model
    why each call was made; ``include_failures`` takes failed runs too, for the tiers that learn from them;
    ``retry_fallbacks`` writes published runs again of which no reply of the model could be used; ``workers`` is how
    many runs are written at the same time.

    >>> Options(method="workflow+function", floors={"workflow": 0.4}).replace
    False
    """

    method: str = "amd"
    all_trials: bool = False
    replace: bool = False
    strict: bool = False
    assume_unassisted: bool = False
    floors: Mapping[str, float] = field(default_factory=dict)
    split: Split | None = None
    pin: str | None = None
    terms: str | None = None
    reasoning: bool = False
    include_failures: bool = False
    retry_fallbacks: bool = False
    workers: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """What a build did. ``admitted`` and the refused make ``read``, always.

    ``records`` counts what the memory holds now, by tier; ``embedded`` the rows that were new; ``costs`` what asking a
    model has cost, by purpose. ``changed`` is false
    where the input added nothing: then generation, digest and seal are those of before. Where nothing was admitted,
    nothing is published, and without an earlier memory ``generation`` is 0. ``retired`` names the tasks that
    ``--replace`` took out. ``terms`` is what the memory's manifest says on its redistribution.
    """

    read: int
    admitted: int
    refused: Mapping[str, int]
    refusals: Sequence[Refusal]
    notes: Mapping[str, int]
    records: Mapping[str, int]
    embedded: int
    model_calls: int
    costs: Mapping[str, int | float]
    generation: int
    digest: str
    seal: str
    terms: str | None
    changed: bool
    retired: Sequence[str]
    moved_floors: Mapping[str, tuple[float, float]]
    seconds: Mapping[str, float]


class Stopwatch:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = round(time.perf_counter() - start, 3)
