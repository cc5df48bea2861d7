"""What a reader must not overlook, before any figure of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amd.arms.figures import ArmReport
from amd.evaluate.blocks import Banner
from amd.evaluate.report import ArmFigures, Report
from amd.evaluate.wording import counted

__all__ = ["banners"]


def banners(report: Report) -> Iterator[Banner]:
    """What comes before any figure, the worst first."""
    for arm in report.arms:
        if arm.leaks and arm.exposures:
            yield Banner("alarm", f"LEAK: {arm.name} {_leaked(arm.exposures)}. Do not use these scores.")
    if report.made_up:
        yield Banner("notice", "MADE UP: these results are an example's invention. Nothing here was measured.")
    for notice in report.notices:
        yield Banner("alarm" if notice.startswith("NOT COMPARABLE") else "notice", notice)
    yield from _in_sample([arm for arm in report.arms if arm.in_sample])
    yield from _oracle([arm for arm in report.arms if arm.of_oracle])


def _in_sample(arms: Sequence[ArmFigures]) -> Iterator[Banner]:
    """What may have been shown, and of which arms it was not."""
    seen = [arm.name for arm in arms if not arm.none_of_own]
    if seen:
        yield Banner(
            "notice",
            f"IN-SAMPLE: {', '.join(seen)}. Tasks may have been shown what was learnt from their own answers; "
            "such a rate says nothing of new tasks.",
        )
    unseen = [arm.name for arm in arms if arm.none_of_own]
    if unseen:
        yield Banner(
            "notice",
            f"IN-SAMPLE: {', '.join(unseen)}. Nothing was hidden, but no record of a task's own family was shown, so "
            "such a rate is no upper bound.",
        )


def _oracle(arms: Sequence[ArmFigures]) -> Iterator[Banner]:
    """Whose memory comes from an answer key, which knows more than any teacher."""
    whole = [arm.title for arm in arms if all(each.endswith("(oracle)") for each in arm.memory_from)]
    if whole:
        yield Banner(
            "notice",
            f"ORACLE: the memory of {', '.join(whole)} is made of the benchmark's own answer key, not of a teacher's "
            "runs.",
        )
    part = [arm.title for arm in arms if arm.title not in whole]
    if part:
        yield Banner(
            "notice",
            f"ORACLE: the memory of {', '.join(part)} is made in part of the benchmark's own answer key, not of a "
            "teacher's runs alone.",
        )


def _leaked(shown: ArmReport) -> str:
    """What of a leak is known, after the arm's name."""
    told = []
    if shown.own_family:
        were = "was" if shown.own_family == 1 else "were"
        told.append(f"hides a task's own family, and {shown.own_family} of the records that it showed {were} of it")
    if shown.outside_split:
        told.append(
            f"holds out what its split says, and {counted(shown.outside_split, 'time')} it showed a record from "
            "outside train, or ran a task from outside test"
        )
    return "; it ".join(told)
