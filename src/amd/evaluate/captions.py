"""What is written under the pictures of a report, and which of them there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from amd.evaluate.exposing import tiers_of
from amd.evaluate.glyphs import in_pictures
from amd.evaluate.report import ArmFigures, Report

__all__ = ["FILES", "Caption", "captions"]

FILES: Final = ("success.png", "differences.png", "exposures.png", "tokens.png")
"""The pictures that a report may have."""


@dataclass(frozen=True, slots=True)
class Caption:
    """What is written under a picture, and what one who cannot see it should know."""

    text: str
    alt: str


def captions(report: Report) -> dict[str, Caption]:
    """The pictures of a report by file name, each with its caption; those that would be empty are left out."""
    n = f"{_numbers(report.arms)}{_numbered(report)}"
    marks = "Hollow marks are IN-SAMPLE. " if any(arm.in_sample for arm in report.arms) else ""
    head = "MADE UP. " if report.made_up else ""
    found = {
        "success.png": Caption(
            f"{head}Success by arm with Wilson 95 % intervals, families apart: Wilson takes tasks for independent. "
            f"{marks}{n}",
            "Success rates by arm.",
        )
    }
    if report.comparisons:
        first = report.arm(report.baseline).title
        pairs = ", ".join(f"{each.arm_title} n = {each.n}" for each in report.comparisons)
        found["differences.png"] = Caption(
            f"{head}Paired differences from {first}, with 95 % intervals over families. {marks}{pairs}."
            f"{_numbered(report)}",
            f"Differences of success from {first}.",
        )
    if tiers_of(report):
        found["exposures.png"] = Caption(
            f"{head}Records shown to one run of a task, by tier, with the own-family hits of each arm. "
            f"{n}{_told(in_pictures(tiers_of(report), 'tier'))}",
            "Records shown by arm and tier.",
        )
        found["tokens.png"] = Caption(
            f"{head}Success against the memory tokens that one run of a task was shown. {marks}{n}",
            "Success against memory tokens by arm.",
        )
    return found


def _numbers(arms: Sequence[ArmFigures]) -> str:
    told = (f"{arm.title} n = {arm.tasks} tasks x {len(arm.runs)}" for arm in arms)
    return f"{', '.join(told)}."


def _numbered(report: Report) -> str:
    """Whose the numbers are by which pictures call arms."""
    titles = {arm.name: arm.title for arm in report.arms}
    return _told({titles[name]: label for name, label in in_pictures(list(titles), "arm").items() if label != name})


def _told(labels: Mapping[str, str]) -> str:
    numbered = [f"{label} is {name}" for name, label in labels.items() if label != name]
    return f" In the picture {', '.join(numbered)}." if numbered else ""
