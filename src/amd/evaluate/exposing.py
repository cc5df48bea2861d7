"""The sections on what was shown, and which runs these are."""

from __future__ import annotations

from collections.abc import Iterator

from amd.arms.figures import ArmReport
from amd.evaluate.blocks import Block, Heading, Table
from amd.evaluate.report import ArmFigures, Report
from amd.methods import method_named

__all__ = ["exposure_section", "runs_section", "tiers_of"]

_SHORT = 12  # digits of a digest that a person compares


def tiers_of(report: Report) -> list[str]:
    """The tiers that any arm was shown, as a student meets them; others after them by name."""
    names = {tier.tier for arm in report.arms if arm.exposures for tier in arm.exposures.tiers}
    usual = [tier.name for tier in method_named("amd").tiers]
    return sorted(names, key=lambda name: (usual.index(name) if name in usual else len(usual), name))


def exposure_section(report: Report) -> Iterator[Block]:
    """What each arm was shown, and its own-family hits."""
    tiers = tiers_of(report)
    rows = tuple(_exposure(arm, arm.exposures, tiers) for arm in report.arms if arm.exposures)
    if not rows:
        return
    yield Heading("What the tasks were shown")
    yield Table(
        (
            *("arm", "ended runs", "nothing shown", *(f"{tier}: records" for tier in tiers)),
            *("hidden", "calls", "failed calls", "hints", "own-family hits"),
        ),
        rows,
        "Counted anew from the log of each run of a task. Hidden counts records that the viewer kept back. An arm that "
        "hides a task's own family must have 0 own-family hits; in an IN-SAMPLE arm they are expected. A "
        "cross-split arm must show train families alone, to tasks of test families alone.",
    )


def _exposure(arm: ArmFigures, shown: ArmReport, tiers: list[str]) -> tuple[str, ...]:
    by_tier = {tier.tier: tier for tier in shown.tiers}
    return (
        arm.title,
        str(shown.tasks),
        str(shown.nothing_shown),
        *(str(by_tier[tier].shown) if tier in by_tier else "" for tier in tiers),
        str(sum(sum(tier.excluded.values()) for tier in shown.tiers)),
        str(shown.calls),
        str(shown.failed_calls),
        str(shown.hints),
        _hits(arm, shown),
    )


def _hits(arm: ArmFigures, shown: ArmReport) -> str:
    if arm.method == "none":
        return "no memory"
    if arm.leaks:
        outside = f", and {shown.outside_split} outside the split:" if shown.outside_split else ""
        return f"{shown.own_family}{outside} LEAKED"
    return "0, as it must be" if arm.excludes else f"{shown.own_family} (IN-SAMPLE)"


def runs_section(report: Report) -> Iterator[Block]:
    """Which directories, which memory, whose runs it is made of, and which split."""
    yield Heading("Runs")
    yield Table(
        ("arm", "student", "run directories", "memory from", "memory content", "seal", "split"),
        tuple(
            (
                arm.title,
                arm.student,
                ", ".join(arm.runs),
                ", ".join(arm.memory_from) or "none",
                (arm.memory_content or "none")[:_SHORT],
                (arm.memory_seal or "none")[:_SHORT],
                _short(arm.split),
            )
            for arm in report.arms
        ),
        "Memory from names whose runs the memory is made of, and of which kind: an oracle is the benchmark's own "
        "answer key, and nobody's teacher.",
        words=(0, 1, 2, 3, 4, 5, 6),
    )


def _short(split: str | None) -> str:
    if split is None:
        return "none"
    return split if split.startswith("unknown") else split[:_SHORT]
