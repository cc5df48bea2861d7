"""What is written under the pictures of a report, and which of them there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from amd.evaluate.exposing import tiers_of
from amd.evaluate.glyphs import in_pictures
from amd.evaluate.report import ArmFigures, Report
from amd.evaluate.wording import counted

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
            f"{head}Success by arm with Wilson 95 % intervals. {marks}{n}",
            "Success rates by arm.",
        )
    }
    if report.comparisons:
        first = report.arm(report.baseline).title
        pairs = ", ".join(f"{each.arm_title} n = {each.n}" for each in report.comparisons)
        if len(report.comparisons) > 1 and len({each.n for each in report.comparisons}) == 1:
            pairs = f"Each has n = {report.comparisons[0].n}"
        found["differences.png"] = Caption(
            f"{head}Paired differences from {first}, with 95 % intervals over families. {marks}{pairs}."
            f"{_numbered(report)}",
            f"Differences of success from {first}.",
        )
    if tiers_of(report):
        found["exposures.png"] = Caption(
            f"{head}Records shown to one run of a task, by tier; beside each bar how many of them were of the task's "
            f"own family. Both are means over the runs that came to an end. {n}"
            f"{_told(in_pictures(tiers_of(report), 'tier'))}",
            "Records shown by arm and tier.",
        )
        found["tokens.png"] = Caption(
            f"{head}Success against the memory tokens that one run of a task was shown. {marks}{n}",
            "Success against memory tokens by arm.",
        )
    return found


def _numbers(arms: Sequence[ArmFigures]) -> str:
    """How many tasks and runs of each arm; once where all have as many."""
    told = [f"n = {counted(arm.tasks, 'task')} x {counted(len(arm.runs), 'run')}" for arm in arms]
    if len(arms) > 1 and len(set(told)) == 1:
        return f"Each arm has {told[0]}."
    return f"{', '.join(f'{arm.title} {numbers}' for arm, numbers in zip(arms, told, strict=True))}."


def _numbered(report: Report) -> str:
    """Whose the numbers are by which pictures call arms."""
    titles = {arm.name: arm.title for arm in report.arms}
    return _told({titles[name]: label for name, label in in_pictures(list(titles), "arm").items() if label != name})


def _told(labels: Mapping[str, str]) -> str:
    numbered = [f"{label} is {name}" for name, label in labels.items() if label != name]
    return f" In the picture {', '.join(numbered)}." if numbered else ""
