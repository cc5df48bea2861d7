"""What a report is about, in its first lines: which benchmark, how many runs of how many tasks, when, and by whom."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from amd.evaluate.report import Report
from amd.evaluate.wording import counted

__all__ = ["began", "what_was_run"]


def what_was_run(report: Report) -> str:
    """In a few sentences."""
    runs = sum(len(arm.runs) for arm in report.arms)
    students = list(dict.fromkeys(arm.student for arm in report.arms))
    return (
        f"Benchmark {report.benchmark}, {_tasks(report)}, {counted(len(report.arms), 'arm')}, "
        f"{counted(runs, 'run')}{_seeds(report)}. "
        f"{'Students' if len(students) > 1 else 'Student'}: {', '.join(students)}. "
        f"{began(at for arm in report.arms for at in arm.created_at)} Written by amd {report.amd_version}."
    )


def began(moments: Iterable[str | None]) -> str:
    """When runs began, one entry a run; a moment without a time zone is taken for UTC.

    >>> began(["2026-05-01T08:00:00+02:00", "2026-05-02T09:30:00Z"])
    'The runs began between 2026-05-01 06:00 and 2026-05-02 09:30 UTC.'
    >>> began(["2026-05-01T08:00:00Z"]), began([None, "yesterday"])
    ('The run began at 2026-05-01 08:00 UTC.', 'When the runs began is not known.')
    """
    told = list(moments)
    known = [at for at in map(_moment, told) if at is not None]
    runs = "run" if len(told) == 1 else "runs"
    if not known:
        return f"When the {runs} began is not known."
    first, last = (f"{at:%Y-%m-%d %H:%M}" for at in (min(known), max(known)))
    when = f"at {first}" if first == last else f"between {first} and {last}"
    unknown = len(told) - len(known)
    return f"The {runs} began {when} UTC{f', {unknown} of them not known' if unknown else ''}."


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _tasks(report: Report) -> str:
    fewest, most = (pick(arm.tasks for arm in report.arms) for pick in (min, max))
    return counted(most, "task") if fewest == most else f"{fewest:,} to {counted(most, 'task')} an arm"


def _seeds(report: Report) -> str:
    """The seeds of all runs, each once; nothing where nobody knows any."""
    seeds = sorted({seed for arm in report.arms for seed in arm.seeds if seed is not None})
    if not seeds:
        return ""
    unknown = any(seed is None for arm in report.arms for seed in arm.seeds)
    words = f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"
    return f" ({words}{', others unknown' if unknown else ''})"
