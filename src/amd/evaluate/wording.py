"""How a figure is written, and what a reader must know of the methods."""

from __future__ import annotations

from typing import Final

__all__ = ["METHODS", "UNCOUNTED", "counted", "mean", "p_value", "percent", "points"]

UNCOUNTED: Final = "-"
"""What stands for a mean where nothing was counted."""

METHODS: Final = (
    (
        "A wanted task without a result counts as failed unless the report says otherwise; a service's failure is "
        "a missing result too, and both are counted above. Several runs with the same settings are the seeds of "
        "one arm: a task then counts with the share of its runs that succeeded, and the number of tasks, not of "
        "runs, makes the width of an interval. The interval of a rate is Wilson's; the one beside it draws whole "
        "families."
    ),
    (
        "The interval of a difference is a percentile bootstrap that draws whole families: tasks that share an "
        "answer stand or fall together. With few families, or few tasks that differ, it is too narrow; below ten "
        "families none is given. The exact p is McNemar's over tasks that only one arm solved (for several seeds: "
        "solved more often), and knows nothing of families; Holm's p takes into account that several arms were "
        "compared."
    ),
    (
        "Pass^k is C(c, k) / C(n, k) for c successes in n runs of a task, averaged over tasks. An arm that hides "
        "a task's own family must show none of it: that is counted anew from what was shown, and a single hit "
        "makes the report fail. In an arm marked IN-SAMPLE such hits may occur, and are counted."
    ),
)


def counted(count: int, thing: str) -> str:
    """How many of what.

    >>> counted(1, "task"), counted(0, "task"), counted(1234, "run")
    ('1 task', '0 tasks', '1,234 runs')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def percent(share: float | None, unit: str = " %") -> str:
    """A share in per cent; another ``unit`` where it stands elsewhere.

    >>> percent(0.385), percent(None)
    ('38.5 %', 'unknown')
    """
    return "unknown" if share is None else f"{100 * share:.1f}{unit}"


def points(difference: float | None) -> str:
    """A difference of shares in percentage points, with its sign.

    >>> points(0.075), points(-0.1), points(0.0), points(-0.0001)
    ('+7.5', '-10.0', '0.0', '0.0')
    """
    if difference is None:
        return "unknown"
    rounded = round(100 * difference, 1)
    return f"{rounded:+.1f}" if rounded else "0.0"


def mean(value: float | None, digits: int = 1) -> str:
    """A mean; a dash where nothing was counted.

    >>> mean(12.345), mean(1234.5, digits=0), mean(None)
    ('12.3', '1,234', '-')
    """
    return UNCOUNTED if value is None else f"{value:,.{digits}f}"


def p_value(p: float) -> str:
    """A p value as people read it.

    >>> p_value(0.02148), p_value(0.00002), p_value(1.0)
    ('0.021', '< 0.001', '1.000')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
