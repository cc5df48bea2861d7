"""The sections on what was shown, and which runs these are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from amd.arms.figures import ArmReport
from amd.evaluate.blocks import Block, Heading, Paragraph, Table
from amd.evaluate.report import ArmFigures, Report
from amd.evaluate.wording import UNCOUNTED
from amd.json_text import JSON
from amd.methods import method_named

__all__ = ["exposure_section", "runs_section", "tiers_of"]

_SHORT = 12  # digits of a digest that a person compares
_DIGEST = re.compile(r"[0-9a-f]{32,}")


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
        "hides a task's own family must have 0 own-family hits; in an IN-SAMPLE arm there may be some. A "
        "cross-split arm must show train families alone, to tasks of test families alone.",
    )


def _exposure(arm: ArmFigures, shown: ArmReport, tiers: list[str]) -> tuple[str, ...]:
    by_tier = {tier.tier: tier for tier in shown.tiers}
    return (
        arm.title,
        f"{shown.tasks:,}",
        f"{shown.nothing_shown:,}",
        *(f"{by_tier[tier].shown:,}" if tier in by_tier else "" for tier in tiers),
        f"{sum(sum(tier.excluded.values()) for tier in shown.tiers):,}",
        f"{shown.calls:,}",
        f"{shown.failed_calls:,}",
        f"{shown.hints:,}",
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
    """Which directories and seeds, what they ran under, which memory, whose runs it is made of, and which split."""
    yield Heading("Runs")
    yield from _terms(report)
    yield Table(
        ("arm", "student", "run directories", "seeds", "memory from", "memory content", "seal", "split"),
        tuple(
            (
                arm.title,
                arm.student,
                ", ".join(arm.runs),
                _seeds(arm.seeds),
                ", ".join(arm.memory_from) or "none",
                (arm.memory_content or "none")[:_SHORT],
                (arm.memory_seal or "none")[:_SHORT],
                _short(arm.split),
            )
            for arm in report.arms
        ),
        "Memory from names whose runs the memory is made of, and of which kind: an oracle is the benchmark's own "
        "answer key, and nobody's teacher.",
        words=(0, 1, 2, 3, 4, 5, 6, 7),
    )


def _terms(report: Report) -> Iterator[Block]:
    """What the harness says that scores hold under: once what all arms share, and by arm what they do not."""
    names = list(dict.fromkeys(name for arm in report.arms for name in arm.terms))
    cells = {name: tuple(_term(arm.terms, name) for arm in report.arms) for name in names}
    first = report.arms[0].terms
    shared = [
        name for name in names if all(name in arm.terms and arm.terms[name] == first[name] for arm in report.arms)
    ]
    said = [name for name in shared if not _empty(first[name])]
    if said:
        told = "; ".join(f"{_words(name)}: {cells[name][0]}" for name in said)
        yield Paragraph(f"{'All runs' if len(report.arms) > 1 else 'The runs'} share, as the harness says it: {told}.")
    apart = [name for name in names if name not in shared]
    if apart:
        yield Table(
            ("arm", *map(_words, apart)),
            tuple((arm.title, *(cells[name][at] for name in apart)) for at, arm in enumerate(report.arms)),
            "What the harness says of the runs of each arm, where the arms differ.",
            words=tuple(range(len(apart) + 1)),
        )


def _empty(value: JSON) -> bool:
    """Whether a term says nothing; "harness: none" would read as if there were no harness."""
    return value is None or value in ("", [], {})


def _words(name: str) -> str:
    return name.replace("_", " ")


def _term(terms: Mapping[str, JSON], name: str) -> str:
    """A term as people read it; of a digest as much as they compare."""
    value = terms.get(name)
    if name not in terms:
        return UNCOUNTED
    if _empty(value):
        return "not set"
    if isinstance(value, str):
        return value[:_SHORT] if _DIGEST.fullmatch(value) else value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _seeds(seeds: Sequence[int | None]) -> str:
    """Of each run in its place; once if nobody knows any."""
    if all(seed is None for seed in seeds):
        return "unknown"
    return ", ".join("unknown" if seed is None else str(seed) for seed in seeds)


def _short(split: str | None) -> str:
    if split is None:
        return "none"
    return split if split.startswith("unknown") else split[:_SHORT]
