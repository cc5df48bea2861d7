"""A report in words and tables: what stands on the page, in which order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amd.arms.figures import ArmReport
from amd.evaluate.blocks import Banner, Block, Figure, Heading, Names, Page, Paragraph, Table
from amd.evaluate.captions import captions
from amd.evaluate.comparison import Comparison
from amd.evaluate.estimates import ALPHA, LEAST_FAMILIES, Interval
from amd.evaluate.exposing import exposure_section, runs_section
from amd.evaluate.report import ArmFigures, Report
from amd.evaluate.spending import cost_section
from amd.evaluate.wording import METHODS, counted, mean, p_value, percent, points

__all__ = ["arms_table", "banners", "comparisons_table", "page_of"]


def page_of(report: Report) -> Page:
    """The whole page; the names of its pictures are those of ``plots``."""
    told = captions(report)

    def figure(file: str) -> Iterator[Figure]:
        if file in told:
            yield Figure(file, told[file].alt, told[file].text)

    blocks: list[Block] = [*banners(report)]
    blocks += map(Paragraph, _headlines(report))
    blocks += [Heading("Arms"), arms_table(report), *figure("success.png")]
    if report.comparisons:
        blocks += [Heading(f"Beside {report.arm(report.baseline).title}"), comparisons_table(report)]
        blocks += [*figure("differences.png"), *_helped_and_harmed(report)]
    blocks += [*_pass_hat(report), *exposure_section(report), *figure("exposures.png"), *figure("tokens.png")]
    blocks += [*cost_section(report), *runs_section(report)]
    blocks += [Heading("How to read this"), *map(Paragraph, METHODS)]
    return Page(
        f"{'MADE UP: ' if report.made_up else ''}{report.benchmark}: {_compared(len(report.arms))}", tuple(blocks)
    )


def _compared(arms: int) -> str:
    return f"{arms} arms compared" if arms > 1 else "one arm"


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


def arms_table(report: Report) -> Table:
    """One row an arm."""
    rows = tuple(
        (
            arm.title,
            percent(arm.success.value),
            _ends(arm.success),
            _by_family(arm.success_by_family, arm.families),
            f"{arm.tasks} x {len(arm.runs)}",
            mean(arm.exposures.tokens_mean if arm.exposures else None, digits=0),
            str(arm.exposures.placeholders) if arm.exposures else "unknown",
            arm.method,
            arm.label,
            "-" if arm.method == "none" else arm.mode,
        )
        for arm in report.arms
    )
    estimated = any(arm.exposures and arm.exposures.tokens_estimated for arm in report.arms)
    return Table(
        (
            *("arm", "success", "95 % interval", "families drawn", "tasks x runs", "memory tokens"),
            *("placeholders", "method", "protocol", "mode"),
        ),
        rows,
        "Success is the mean over tasks, each with the share of its runs that succeeded; the interval is Wilson's for "
        "so many tasks, families apart: Wilson takes tasks for independent. Families drawn is a bootstrap interval "
        f"over whole families. Memory tokens{', estimated,' if estimated else ''} are what one run of a task was "
        "shown: the mean of those that came to an end; placeholders counts calls in which the student wrote out what "
        "only stands for a value.",
        words=(0, 7, 8, 9),
    )


def comparisons_table(report: Report) -> Table:
    """One row an arm, beside the baseline."""
    return Table(
        (
            *("arm", "difference", "95 % interval", "tasks", "families"),
            *("helped", "harmed", "exact p", "p (Holm)", "detectable"),
        ),
        tuple(_row(report, each) for each in report.comparisons),
        f"Differences of success from {report.arm(report.baseline).title}, in percentage points, on the tasks that "
        "both have; the interval is a bootstrap over whole families "
        f"({report.resamples:,} draws, seed {report.seed}). Helped and harmed count tasks, exact p is McNemar's. "
        "Detectable is the smallest difference that so many tasks, differing as much as these, show with 80 % power "
        "(exact McNemar; with several runs a paired t test), families apart; nothing, if even the "
        "largest would not show.",
    )


def _row(report: Report, each: Comparison) -> tuple[str, ...]:
    return (
        report.arm(each.arm).title,
        points(each.difference.value),
        f"{points(each.difference.low)} to {points(each.difference.high)}"
        if each.difference.low is not None
        else _no_interval(each.families),
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


def _no_interval(families: int) -> str:
    """Why there is no interval over families, for a cell."""
    return "too few families" if families < LEAST_FAMILIES else "all families alike"


def _by_family(interval: Interval, families: int) -> str:
    if interval.low is None:
        return _no_interval(families)
    return _ends(interval)


def _ends(interval: Interval) -> str:
    """The ends in per cent, for a cell that stands beside the value."""
    return f"{percent(interval.low, unit='')} to {percent(interval.high, unit='')}"


def _headlines(report: Report) -> Iterator[str]:
    """What the figures say, in one sentence an arm."""
    first = report.arm(report.baseline)
    yield (
        f"{first.title} solved {percent(first.success.value)} of {counted(first.tasks, 'task')} "
        f"({percent(first.success.low)} to {percent(first.success.high)})."
    )
    for each in report.comparisons:
        arm = report.arm(each.arm)
        yield (
            f"{arm.title} solved {percent(arm.success.value)}: {points(each.difference.value)} points on the same tasks"
            f"{_judged(report, each)}."
        )


def _judged(report: Report, each: Comparison) -> str:
    """The interval, and what it does or does not show: a result excludes 0 and has a p that is small after Holm."""
    low, high = each.difference.low, each.difference.high
    interval = f" (95 % interval {points(low)} to {points(high)})"
    if low is None:
        interval = f", without an interval ({_no_interval(each.families)})"
    if report.arm(each.arm).leaks or report.arm(each.baseline).leaks or each.unlike:
        return f"{interval}, which is not to be used"
    if not each.helped and not each.harmed:
        return interval
    if low is not None and high is not None and (low > 0 or high < 0) and each.p_holm < ALPHA:
        return interval
    return f"{interval}, which may be chance"


def _helped_and_harmed(report: Report) -> Iterator[Block]:
    """The tasks by name, where there are any."""
    for each in report.comparisons:
        for names, how in ((each.helped, "helped"), (each.harmed, "harmed")):
            if names:
                yield Names(f"{report.arm(each.arm).title}: {counted(len(names), 'task')} {how}", names)
    if not any(each.helped or each.harmed for each in report.comparisons):
        yield Paragraph("No task was helped or harmed.")


def _pass_hat(report: Report) -> Iterator[Block]:
    most = max(len(arm.pass_hat) for arm in report.arms)
    if most < 2:
        return
    yield Heading("Reliability over seeds")
    yield Table(
        ("arm", *(f"pass^{k}" for k in range(1, most + 1))),
        tuple(_reliability(arm, most) for arm in report.arms),
        "pass^k: how likely k runs of a task all succeed, over the tasks that have k runs.",
    )


def _reliability(arm: ArmFigures, most: int) -> tuple[str, ...]:
    known = [percent(value) for value in arm.pass_hat]
    return (arm.title, *known, *["" for _ in range(most - len(known))])
