"""A report in pictures, by matplotlib.

Colours are those of Okabe and Ito 2008, told apart by the colour-blind; arms differ in marker as well, and an arm that
hides nothing is hollow. Equal reports give equal bytes: no date, no version, and the font that matplotlib brings. A
name that it cannot write stands there by its number, and the caption says whose that is.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any, Final

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from amd.evaluate.captions import FILES, captions
from amd.evaluate.estimates import Interval
from amd.evaluate.exposing import tiers_of
from amd.evaluate.glyphs import FONT, in_pictures
from amd.evaluate.report import ArmFigures, Report

__all__ = ["draw"]

_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS: Final = "osD^vP*"
_HATCHES: Final = ("", "///", "...", "xxx", "\\\\\\", "+++", "ooo")
_WIDTH, _ROW, _DPI = 5.8, 0.48, 160  # inches, inches an arm, dots an inch
_SETTINGS: Final[dict[Any, Any]] = {
    "font.family": FONT,
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e6ea",
    "hatch.linewidth": 0.6,
    "text.parse_math": False,  # a name may have a dollar sign
}


def draw(report: Report) -> dict[str, bytes]:
    """The pictures of a report: file name -> PNG."""
    drawers: dict[str, Callable[[Axes, Report], None]] = dict(
        zip(FILES, (_success, _differences, _exposures, _tokens), strict=True)
    )
    return {file: _picture(drawers[file], report, tall=file == "tokens.png") for file in captions(report)}


def _picture(drawer: Callable[[Axes, Report], None], report: Report, *, tall: bool) -> bytes:
    height = 4.6 if tall else 1.4 + _ROW * len(report.arms)
    with rc_context(_SETTINGS):
        figure = Figure(figsize=(_WIDTH, height), dpi=_DPI, layout="constrained")
        axes = figure.subplots()
        drawer(axes, report)
        if report.made_up:
            axes.set_xlabel(f"{axes.get_xlabel()}\nMADE UP, not measured", color="#b42318")
        out = io.BytesIO()
        figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def _titles(report: Report) -> dict[str, str]:
    """How pictures call each arm, with its mark."""
    labels = in_pictures([arm.name for arm in report.arms], "arm")
    return {arm.name: f"{labels[arm.name]}{arm.title.removeprefix(arm.name)}" for arm in report.arms}


def _style(report: Report, arm: ArmFigures) -> dict[str, Any]:
    """Colour and marker of an arm, the same in every picture."""
    at = report.arms.index(arm)
    colour = _COLOURS[at % len(_COLOURS)]
    return {
        "color": colour,
        "marker": _MARKERS[at % len(_MARKERS)],
        "markerfacecolor": "white" if arm.in_sample else colour,
        "markeredgewidth": 1.6,
        "markersize": 7.5,
        "clip_on": False,  # one at 0 or 100 % stands half beyond the frame
    }


def _whisker(axes: Axes, at: float, interval: Interval, style: dict[str, Any], *, sign: str = "") -> None:
    """A value in per cent with its interval, if it has one."""
    value = 100 * interval.value
    if interval.low is not None and interval.high is not None:
        axes.plot([100 * interval.low, 100 * interval.high], [at, at], color=style["color"], linewidth=2.2)
    axes.plot([value], [at], linestyle="none", **style)
    axes.annotate(
        f"{value:{sign}.1f}", (value, at), xytext=(0, 8), textcoords="offset points", ha="center", fontsize=9.5
    )


def _rows(axes: Axes, titles: Sequence[str]) -> None:
    """One row an arm, the first on top."""
    axes.set_yticks(range(len(titles)), [title.replace(" [", "\n[") for title in titles])
    axes.set_ylim(len(titles) - 0.5, -0.75)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)


def _success(axes: Axes, report: Report) -> None:
    for at, arm in enumerate(report.arms):
        _whisker(axes, at, arm.success, _style(report, arm))
    _rows(axes, list(_titles(report).values()))
    axes.set_xlim(0, 100)
    axes.set_xlabel("tasks solved, %")


def _differences(axes: Axes, report: Report) -> None:
    for at, each in enumerate(report.comparisons):
        _whisker(axes, at, each.difference, _style(report, report.arm(each.arm)), sign="+")
    titles = _titles(report)
    _rows(axes, [titles[each.arm] for each in report.comparisons])
    axes.axvline(0, color="#57606a", linewidth=1.2)
    axes.margins(x=0.08)
    axes.set_xlabel(f"difference from {titles[report.baseline]}, percentage points")


def _exposures(axes: Axes, report: Report) -> None:
    tiers = tiers_of(report)
    labels = in_pictures(tiers, "tier")
    left = [0.0] * len(report.arms)
    for number, tier in enumerate(tiers):
        shown = [
            sum(each.shown for each in arm.exposures.tiers if each.tier == tier) / arm.exposures.tasks
            if arm.exposures
            else 0.0
            for arm in report.arms
        ]
        axes.barh(
            range(len(report.arms)),
            shown,
            0.6,
            left=left,
            label=labels[tier],
            color=_COLOURS[number % len(_COLOURS)],
            hatch=_HATCHES[number % len(_HATCHES)],
            edgecolor="white",
        )
        left = [before + more for before, more in zip(left, shown, strict=True)]
    for at, arm in enumerate(report.arms):
        axes.annotate(
            _beside(arm), (left[at], at), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9.5
        )
    _rows(axes, list(_titles(report).values()))
    axes.set_xlim(0, 1.35 * max(left) or 1)
    axes.set_xlabel("records shown to one run of a task")
    axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1.04), ncols=min(3, len(tiers)), frameon=False, fontsize=9.5)


def _beside(arm: ArmFigures) -> str:
    """What stands beside a bar, in the bar's unit: of one run of a task."""
    if arm.method == "none":
        return "no memory"
    if arm.exposures is None:
        return "unknown"
    runs = arm.exposures.tasks
    told = [f"own family: {arm.exposures.own_family / runs:.2g}"]
    if arm.exposures.outside_split:
        told.append(f"outside the split: {arm.exposures.outside_split / runs:.2g}")
    return f"{', '.join(told)}{' LEAKED' if arm.leaks else ''}"


def _tokens(axes: Axes, report: Report) -> None:
    marks, titles = [], _titles(report)
    for arm in report.arms:
        at = arm.exposures.tokens_mean if arm.exposures else 0.0
        style = _style(report, arm)
        low, high = arm.success.low, arm.success.high
        if low is not None and high is not None:
            axes.plot([at, at], [100 * low, 100 * high], color=style["color"], linewidth=2.2)
        axes.plot([at], [100 * arm.success.value], linestyle="none", **style)
        marks.append(Line2D([], [], linestyle="none", label=titles[arm.name].replace(" [", "\n["), **style))
    axes.set_ylim(0, 100)
    axes.margins(x=0.08)
    axes.set_xlabel("memory tokens shown to one run of a task (mean)")
    axes.set_ylabel("tasks solved, %")
    axes.legend(handles=marks, loc="lower center", bbox_to_anchor=(0.45, 1.04), ncols=2, frameon=False, fontsize=9.5)
