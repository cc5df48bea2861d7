"""Which arm is the control for the length of which: alike in all else, with as many records drawn at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amd.baselines.asked import Drawn
from amd.evaluate.grouping import ArmResults
from amd.json_text import digest
from amd.methods import method_named
from amd.tier import Tier

__all__ = ["controlled"]


def controlled(arms: Sequence[ArmResults]) -> Iterator[tuple[ArmResults, ArmResults]]:
    """Each arm with its control, or with each of them, where these arms have any.

    All settings but the method are the same: student, memory and its seal, protocol, mode, layout, limits, split, and
    what scores hold under. The tiers are the same too, each for as many records: ``random``, ``random-amd`` and
    ``random-workflow+subtask+function`` are one control, and that of ``amd`` alone.
    """
    drawn = [(other, _alike(other)) for other in arms if method_named(other.arm.method).draws]
    for arm in arms:
        if not method_named(arm.arm.method).draws:
            yield from ((arm, other) for other, alike in drawn if alike == _alike(arm))


def _alike(arm: ArmResults) -> tuple[str, tuple[Tier, ...]]:
    """What an arm and its control share: the settings without the method, and what would be shown if nothing drew."""
    settings = {name: value for name, value in arm.runs[0].identity().items() if name != "arm.method"}
    tiers = method_named(arm.arm.method).tiers
    return digest({**settings, "split": arm.split}), tuple(
        tier.tier if isinstance(tier, Drawn) else tier for tier in tiers
    )
