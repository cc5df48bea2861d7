"""The sections on arms beside one another: beside the baseline, and each beside its random records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from amd.evaluate.blocks import Block, Heading, Names, Paragraph, Table
from amd.evaluate.comparison import Comparison
from amd.evaluate.estimates import ALPHA, LEAST_FAMILIES
from amd.evaluate.report import Report
from amd.evaluate.wording import counted, p_value, points
from amd.methods import method_named

__all__ = [
    "UNLESS",
    "Judgement",
    "comparisons_table",
    "control_lines",
    "control_section",
    "controls_table",
    "helped_and_harmed",
    "judged",
    "judgement",
    "no_interval",
]

Judgement = Literal["not to be used", "nothing", "excludes 0", "may be chance"]
"""What a difference shows: ``excludes 0`` is a result, its p small after Holm too."""

_HEAD = (
    *("difference", "95 % interval", "tasks", "families"),
    *("helped", "harmed", "exact p", "p (Holm)", "detectable"),
)

_SPOKEN: Final[Mapping[Judgement, str]] = {"not to be used": "is not to be used", "may be chance": "may be chance"}

UNLESS: Final = (
    "Neither the interval nor p is to be believed alone: a difference may be chance unless its interval excludes 0 and "
    f"p (Holm) is below {ALPHA:g}."
)
"""When a difference is more than chance."""


def comparisons_table(report: Report) -> Table:
    """One row an arm, beside the baseline."""
    return Table(
        ("arm", *_HEAD),
        tuple((report.arm(each.arm).title, *_cells(each)) for each in report.comparisons),
        f"Differences of success from {report.arm(report.baseline).title}, in percentage points, on the tasks that "
        "both have; the interval is a bootstrap over whole families "
        f"({report.resamples:,} draws, seed {report.seed}). Helped and harmed count tasks, exact p is McNemar's. "
        "Detectable is the smallest difference that so many tasks, differing as much as these, show with 80 % power "
        "(exact McNemar; with several runs a paired t test), families not taken into account; nothing, if even the "
        f"largest would not show. {UNLESS}",
    )


def control_section(report: Report) -> Iterator[Block]:
    """Whether each memory helps by what it says, where an arm of as many random records is there to tell."""
    if not report.controls:
        return
    yield Heading("Beside random records")
    yield from map(Paragraph, control_lines(report))
    yield controls_table(report)
    beside = {each.arm for each in report.controls}
    without = [
        arm.title
        for arm in report.arms
        if arm.method != "none" and not method_named(arm.method).draws and arm.name not in beside
    ]
    if without:
        yield Paragraph(f"No such control is here for {', '.join(without)}.")
    yield from helped_and_harmed(report, report.controls, control=True)


def control_lines(report: Report) -> Iterator[str]:
    """What the figures say of each arm beside its control, in one sentence."""
    for each in report.controls:
        yield (
            f"{report.arm(each.arm).title} beside {report.arm(each.baseline).title}, as many records drawn at random: "
            f"{points(each.difference.value)} points{judged(report, each)}; p (Holm) {p_value(each.p_holm)}."
        )


def controls_table(report: Report) -> Table:
    """One row an arm, beside its control."""
    return Table(
        ("arm", "random records", *_HEAD),
        tuple((report.arm(each.arm).title, report.arm(each.baseline).title, *_cells(each)) for each in report.controls),
        "Whether a memory helps by what it says, or as any text of its length would: each arm beside the one that is "
        "alike in all but its method, which draws as many records at random from the same memory. The columns are "
        f"those of differences from {report.arm(report.baseline).title}, but p (Holm) is over this table alone. "
        f"{UNLESS} Records differ in length: the memory tokens of both arms stand above.",
        words=(0, 1),
    )


def helped_and_harmed(report: Report, comparisons: Sequence[Comparison], *, control: bool = False) -> Iterator[Block]:
    """The tasks by name, where there are any."""
    for each in comparisons:
        beside = f" beside {report.arm(each.baseline).title}" if control else ""
        for names, how in ((each.helped, "helped"), (each.harmed, "harmed")):
            if names:
                yield Names(f"{report.arm(each.arm).title}{beside}: {counted(len(names), 'task')} {how}", names)
    if not any(each.helped or each.harmed for each in comparisons):
        yield Paragraph("No task was helped or harmed.")


def judged(report: Report, each: Comparison) -> str:
    """The interval, and what it does or does not show: a result excludes 0 and has a p that is small after Holm."""
    low, high = each.difference.low, each.difference.high
    interval = f" (95 % interval {points(low)} to {points(high)})"
    if low is None:
        interval = f", without an interval ({no_interval(each.families)})"
    verdict = judgement(report, each)
    return f"{interval}, which {_SPOKEN[verdict]}" if verdict in _SPOKEN else interval


def judgement(report: Report, each: Comparison) -> Judgement:
    """What a difference shows, for a cell; page and terminal say the same."""
    low, high = each.difference.low, each.difference.high
    if report.arm(each.arm).leaks or report.arm(each.baseline).leaks or each.unlike:
        return "not to be used"
    if not each.helped and not each.harmed:
        return "nothing"
    if low is not None and high is not None and (low > 0 or high < 0) and each.p_holm < ALPHA:
        return "excludes 0"
    return "may be chance"


def no_interval(families: int) -> str:
    """Why there is no interval over families, for a cell."""
    return "too few families" if families < LEAST_FAMILIES else "all families alike"


def _cells(each: Comparison) -> tuple[str, ...]:
    return (
        points(each.difference.value),
        f"{points(each.difference.low)} to {points(each.difference.high)}"
        if each.difference.low is not None
        else no_interval(each.families),
        str(each.n),
        str(each.families),
        str(len(each.helped)),
        str(len(each.harmed)),
        p_value(each.p),
        p_value(each.p_holm),
        _detectable(each),
    )


def _detectable(each: Comparison) -> str:
    if each.detectable is not None:
        return points(each.detectable).removeprefix("+")
    return "nothing is detectable" if each.helped or each.harmed else "the arms never differ"
