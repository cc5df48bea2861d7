"""The exposure figures of an arm, counted anew from the logs of its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from amd.arms.run_log import RunLog
from amd.arms.words import ArmProtocol, hides, label_of
from amd.errors import ConfigError, TrajectoryError
from amd.exclusion import Split
from amd.records import Exposure

__all__ = ["ArmReport", "TierFigures", "report"]

_SHORT = 12  # digits of a digest that a person compares


@dataclass(frozen=True, slots=True)
class TierFigures:
    """What one tier showed over all tasks of an arm; ``tokens_mean`` and ``tokens_max`` are those of one task.

    ``empty`` counts questions that showed nothing; ``excluded`` and ``dropped`` are by reason, as in ``Exposure``.
    """

    tier: str
    questions: int
    shown: int
    empty: int
    below_floor: int
    excluded: Mapping[str, int]
    dropped: Mapping[str, int]
    own_family: int
    tokens_mean: float
    tokens_max: int


@dataclass(frozen=True, slots=True)
class ArmReport:
    """The figures of one arm, as :func:`report` counts them. ``tasks`` counts runs: each log is one run of one task.

    ``outside_split`` counts what a cross-split arm must not have: records shown of families outside train (the own one
    is in ``own_family``), and runs of tasks outside test; 0 without the split, which ``split_known`` tells.
    An arm in which no task made a call (``without_call`` = ``tasks``) is likely one whose model saw no tools.

    >>> from amd.arms import Arm
    >>> from amd.testing import run
    >>> with Arm(method="none").open() as opened:
    ...     log = RunLog.of(
    ...         opened, run(1).task, None, calls=9, failed_calls=2, hints=0, placeholders=0, system_changes=0
    ...     )
    >>> figures = report([log], family=lambda task_id: None)
    >>> figures.label, figures.tasks, figures.failed_calls, figures.leaks
    ('no memory', 1, 2, 0)
    """

    method: str
    protocol: ArmProtocol
    mode: str
    layout: str
    memory: str | None
    tasks: int
    nothing_shown: int
    tiers: tuple[TierFigures, ...]
    tokens_mean: float
    tokens_max: int
    tokens_estimated: bool
    calls: int
    without_call: int
    failed_calls: int
    hints: int
    placeholders: int
    system_changes: int
    outside_split: int = 0
    split_known: bool = True

    @property
    def label(self) -> str:
        """The arm's protocol, ``IN-SAMPLE``, or ``no memory``."""
        return label_of(self.method, self.protocol)

    @property
    def own_family(self) -> int:
        """How many of the records shown belong to the own family of the task that they were shown to."""
        return sum(tier.own_family for tier in self.tiers)

    @property
    def leaks(self) -> int:
        """Own-family hits and what is outside the split, where an arm hides it: all but 0 spoils it (exit code 4)."""
        return self.own_family + self.outside_split if hides(self.protocol) else 0

    def as_json(self) -> dict[str, object]:
        """All figures as one JSON object."""
        return {**asdict(self), "label": self.label, "own_family": self.own_family, "leaks": self.leaks}

    def rows(self) -> list[tuple[str, object]]:
        """What and how much, for a table of two columns."""
        counted = "estimated" if self.tokens_estimated else "counted"
        rows: list[tuple[str, object]] = [
            ("protocol", self.label),
            ("method", self.method),
            ("mode, layout", f"{self.mode}, {self.layout}"),
            ("memory", (self.memory or "none")[:_SHORT]),
            ("tasks that came to their end", self.tasks),
            ("tasks with nothing shown", self.nothing_shown),
            ("calls", self.calls),
            ("tasks without a call", self.without_call),
            ("failed calls", self.failed_calls),
            ("hints", self.hints),
            ("calls with a placeholder", self.placeholders),
            ("changes of the system block", self.system_changes),
            ("own-family hits", self.own_family if hides(self.protocol) else f"{self.own_family} ({self.label})"),
        ]
        if self.protocol == "cross-split" and self.method != "none":
            rows.append(("outside the split", self.outside_split if self.split_known else "not known"))
        if self.tiers:
            rows.append((f"tokens a task ({counted})", _tokens(self.tokens_mean, self.tokens_max)))
        for tier in self.tiers:
            rows += _rows(tier)
        return rows


def report(logs: Iterable[RunLog], *, family: Callable[[str], str | None], split: Split | None = None) -> ArmReport:
    """The figures of one arm, from the logs of all its runs.

    Own-family hits are counted anew, from the families of what was shown; what a log says of itself can only add to
    them.

    Args:
        logs: of one arm.
        family: a task's family by its id, where that can be told, else ``None``.
        split: what a cross-split arm holds out, where the file is at hand.

    Raises:
        ConfigError: there is no log, or two are of different arms.
        TrajectoryError: a log has another family than its task.

    >>> report([], family=lambda task_id: None)
    Traceback (most recent call last):
    amd.errors.ConfigError: there is no run to report; run the arm's tasks first
    """
    runs = list(logs)
    if not runs:
        raise ConfigError("there is no run to report", next_step="run the arm's tasks first")
    for log in runs:
        _check(log, runs[0], family(log.task_id))
    arm = runs[0]
    tokens = [sum(exposure.tokens for exposure in log.exposures) for log in runs]
    names = sorted({exposure.tier for log in runs for exposure in log.exposures})
    return ArmReport(
        method=arm.method,
        protocol=arm.protocol,
        mode=arm.mode,
        layout=arm.layout,
        memory=arm.memory,
        tasks=len(runs),
        nothing_shown=sum(not log.memory_assisted for log in runs),
        tiers=tuple(_tier(name, runs) for name in names),
        tokens_mean=sum(tokens) / len(runs),
        tokens_max=max(tokens),
        tokens_estimated=any(exposure.tokens_estimated for log in runs for exposure in log.exposures),
        calls=sum(log.calls for log in runs),
        without_call=sum(not log.calls for log in runs),
        failed_calls=sum(log.failed_calls for log in runs),
        hints=sum(log.hints for log in runs),
        placeholders=sum(log.placeholders for log in runs),
        system_changes=sum(log.system_changes for log in runs),
        outside_split=sum(_outside(log, split) for log in runs) if split else 0,
        split_known=split is not None or arm.protocol != "cross-split" or arm.method == "none",
    )


def _check(log: RunLog, first: RunLog, known: str | None) -> None:
    """Refuse a log of another arm, or one whose family is not the task's."""
    if _arm(log) != _arm(first):
        raise ConfigError(
            f"task {first.task_id!r} ran in the arm ({_arm(first)}), task {log.task_id!r} in the arm ({_arm(log)})",
            next_step="report each arm on its own",
            arms=(_arm(first), _arm(log)),
        )
    if known not in (None, log.family):
        raise TrajectoryError(
            f"task {log.task_id!r} ran as one of family {log.family!r}, and is of family {known!r}",
            next_step="run it again: what was hidden from it was another family's",
            task_id=log.task_id,
            families=(log.family, known),
        )


def _arm(log: RunLog) -> str:
    return f"{log.method}, {log.protocol}, {log.mode}, {log.layout}, memory {log.memory or 'none'}"


def _tier(name: str, runs: Sequence[RunLog]) -> TierFigures:
    by_task = [[exposure for exposure in log.exposures if exposure.tier == name] for log in runs]
    asked = [exposure for exposures in by_task for exposure in exposures]
    excluded: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    for exposure in asked:
        excluded.update(exposure.excluded)
        dropped.update(exposure.dropped)
    tokens = [sum(exposure.tokens for exposure in exposures) for exposures in by_task]
    return TierFigures(
        tier=name,
        questions=len(asked),
        shown=sum(len(exposure.record_ids) for exposure in asked),
        empty=sum(not exposure.record_ids and not exposure.tokens for exposure in asked),
        below_floor=sum(exposure.below_floor for exposure in asked),
        excluded=dict(sorted(excluded.items())),
        dropped=dict(sorted(dropped.items())),
        own_family=sum(
            _own(exposure, log) for log, exposures in zip(runs, by_task, strict=True) for exposure in exposures
        ),
        tokens_mean=sum(tokens) / len(runs),
        tokens_max=max(tokens),
    )


def _own(exposure: Exposure, log: RunLog) -> int:
    """The own-family hits of one answer: never fewer than are seen, and never fewer than are admitted."""
    return max(exposure.families.count(log.family), exposure.own_family)


def _outside(log: RunLog, split: Split) -> int:
    """The records shown of neither a train family nor the own one, and the task itself if it is not held out."""
    if log.protocol != "cross-split" or log.method == "none":
        return 0
    shown = [family for exposure in log.exposures for family in exposure.families if family != log.family]
    return sum(family not in split.train for family in shown) + (log.family not in split.test)


def _rows(tier: TierFigures) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = [
        (f"{tier.tier}: questions", tier.questions),
        (f"{tier.tier}: records shown", tier.shown),
        (f"{tier.tier}: tokens a task", _tokens(tier.tokens_mean, tier.tokens_max)),
        (f"{tier.tier}: below the floor", tier.below_floor),
    ]
    if tier.excluded:
        rows.append((f"{tier.tier}: hidden", _counts(tier.excluded)))
    if tier.dropped:
        rows.append((f"{tier.tier}: passed over", _counts(tier.dropped)))
    return rows


def _tokens(mean: float, most: int) -> str:
    return f"{mean:.1f}, at most {most}"


def _counts(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in values.items())
