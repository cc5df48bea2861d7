"""A report in words and tables: what stands on the page, in which order."""

from __future__ import annotations

from collections.abc import Iterator

from amd.evaluate.banners import banners
from amd.evaluate.blocks import Block, Figure, Heading, Page, Paragraph, Table
from amd.evaluate.captions import captions
from amd.evaluate.comparing import comparisons_table, control_section, helped_and_harmed, judged, no_interval
from amd.evaluate.estimates import Interval
from amd.evaluate.exposing import exposure_section, runs_section
from amd.evaluate.report import ArmFigures, Report
from amd.evaluate.spending import cost_section
from amd.evaluate.subject import what_was_run
from amd.evaluate.wording import METHODS, counted, mean, percent, points

__all__ = ["arms_table", "page_of"]


def page_of(report: Report) -> Page:
    """The whole page; the names of its pictures are those of ``plots``."""
    told = captions(report)

    def figure(file: str) -> Iterator[Figure]:
        if file in told:
            yield Figure(file, told[file].alt, told[file].text)

    blocks: list[Block] = [*banners(report), Paragraph(what_was_run(report))]
    blocks += map(Paragraph, _headlines(report))
    blocks += [Heading("Arms"), arms_table(report), *figure("success.png")]
    if report.comparisons:
        blocks += [Heading(f"Beside {report.arm(report.baseline).title}"), comparisons_table(report)]
        blocks += [*figure("differences.png"), *helped_and_harmed(report, report.comparisons)]
    blocks += control_section(report)
    blocks += [*_pass_hat(report), *exposure_section(report), *figure("exposures.png"), *figure("tokens.png")]
    blocks += [*cost_section(report), *runs_section(report)]
    blocks += [Heading("How to read this"), *map(Paragraph, METHODS)]
    return Page(
        f"{'MADE UP: ' if report.made_up else ''}{report.benchmark}: {_compared(len(report.arms))}", tuple(blocks)
    )


def _compared(arms: int) -> str:
    return f"{arms} arms compared" if arms > 1 else "one arm"


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
        "so many tasks. Wilson's interval ignores families: it takes tasks for independent, and is too narrow where "
        "those of a family stand or fall together. Families drawn is a bootstrap interval over whole families. "
        f"Memory tokens{', estimated,' if estimated else ''} are what one run of a task was "
        "shown: the mean of those that came to an end; placeholders counts calls in which the student wrote out what "
        "only stands for a value.",
        words=(0, 7, 8, 9),
    )


def _by_family(interval: Interval, families: int) -> str:
    if interval.low is None:
        return no_interval(families)
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
            f"{judged(report, each)}."
        )


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
