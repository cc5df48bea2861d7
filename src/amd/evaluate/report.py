"""A report: every figure of every arm, and each arm beside the baseline and beside its random records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from amd import __version__
from amd.arms.figures import ArmReport
from amd.arms.results import RunResults
from amd.errors import ConfigError, LeakageError
from amd.evaluate.comparison import Comparison, adjusted, compare
from amd.evaluate.controls import controlled
from amd.evaluate.costs import BuildCost, Repayment, Teaching, build_cost, repayment
from amd.evaluate.estimates import RESAMPLES, Interval, clustered_mean, pass_hat, wilson
from amd.evaluate.grouping import ArmResults, Missing, group, titled
from amd.evaluate.noticing import notices
from amd.json_text import JSON

__all__ = ["FORMAT", "ArmFigures", "Report", "evaluate"]

FORMAT: Final = "amd-report/1"


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """The figures of one arm; ``docs/report.md`` tells what each means. Means are over the trials that came to an end.

    ``tasks`` is what the rate is over, ``trials`` how many runs of tasks that are, ``faults`` how many of them have no
    result and why. ``success`` has Wilson's interval, which takes tasks for independent, ``success_by_family`` one that
    draws whole families. ``pass_hat`` begins with k = 1. ``excludes`` says whether own-family hits are leaks. ``terms``
    is what its scores hold under, as its harness says it; ``seeds`` has the seed of each of ``runs``, ``None`` where
    unknown; ``created_at`` says when each began, as the run says it.
    """

    name: str
    runs: tuple[str, ...]
    seeds: tuple[int | None, ...]
    created_at: tuple[str | None, ...]
    terms: Mapping[str, JSON]
    student: str
    method: str
    label: str
    mode: str
    layout: str
    excludes: bool
    made_up: bool
    memory_content: str | None
    memory_seal: str | None
    memory_from: tuple[str, ...]
    split: str | None
    tasks: int
    families: int
    trials: int
    faults: Mapping[str, int]
    success: Interval
    success_by_family: Interval
    pass_hat: tuple[float, ...]
    steps: float | None
    seconds: float | None
    prompt_tokens: float | None
    completion_tokens: float | None
    exposures: ArmReport | None
    leaks: int
    build: BuildCost | None
    repayment: Repayment | None

    @property
    def in_sample(self) -> bool:
        """Whether it hides nothing: tasks may have been shown their own answers."""
        return self.label == "IN-SAMPLE"

    @property
    def of_oracle(self) -> bool:
        """Whether its memory has runs of an answer key in it."""
        return any(each.endswith("(oracle)") for each in self.memory_from)

    @property
    def none_of_own(self) -> bool:
        """Whether its logs say that no task was shown a record of its own family."""
        return self.exposures is not None and not self.exposures.own_family

    @property
    def title(self) -> str:
        """Its name, never without the mark of what spoils it or of what it may see."""
        return titled(self.name, self.label, self.leaks)


@dataclass(frozen=True, slots=True)
class Report:
    """All arms in the order of their first runs, and each but the baseline beside the baseline.

    ``controls`` has each arm beside the arm that is alike in all but drawing as many records at random, where there is
    one; the control is its ``baseline``. Holm's p is over these alone. ``amd_version`` is that of the library that
    evaluated.
    """

    benchmark: str
    baseline: str
    missing: Missing
    seed: int
    resamples: int
    arms: tuple[ArmFigures, ...]
    comparisons: tuple[Comparison, ...]
    controls: tuple[Comparison, ...]
    notices: tuple[str, ...]
    amd_version: str

    @property
    def made_up(self) -> bool:
        """Whether any of it is an example's invention."""
        return any(arm.made_up for arm in self.arms)

    @property
    def leaks(self) -> dict[str, int]:
        """What was shown that is to be hidden, by arm, where there is any."""
        return {arm.name: arm.leaks for arm in self.arms if arm.leaks}

    def arm(self, name: str) -> ArmFigures:
        """The arm of a name."""
        return next(arm for arm in self.arms if arm.name == name)

    def check_leaks(self) -> None:
        """``LeakageError`` if a task was shown what its arm hides: its own family, or what the split holds out."""
        if self.leaks:
            raise LeakageError(
                f"what is to be hidden was shown, of a task's own family or of what the split holds out: {self.leaks}",
                next_step="do not use these scores; check how families and the split were given",
                leaks=self.leaks,
            )

    def as_json(self) -> dict[str, Any]:
        """The content of ``report.json``."""
        arms = [
            {**asdict(arm), "title": arm.title, "exposures": arm.exposures.as_json() if arm.exposures else None}
            for arm in self.arms
        ]
        return {
            "format": FORMAT,
            **asdict(self),
            "made_up": self.made_up,
            "leaks": self.leaks,
            "arms": arms,
        }


def evaluate(
    runs: Sequence[RunResults],
    *,
    baseline: str | None = None,
    missing: Missing = "failed",
    seed: int = 0,
    resamples: int = RESAMPLES,
    teaching: Teaching | None = None,
) -> Report:
    """The report of these runs.

    Args:
        runs: of one benchmark; those that differ in nothing but their outcomes are seeds of one arm.
        baseline: the arm, or a run of it, that the others are compared with; the first one without.
        missing: whether a task without a result counts as failed, or not at all.
        seed: of the bootstrap.
        resamples: of the bootstrap.
        teaching: prices, for the number of runs after which a memory is repaid.

    Raises:
        ConfigError: no arm has the baseline's name; an arm has nothing to count.
        TrajectoryError: a log has another family than its task.
    """
    arms = group(runs, missing=missing)
    first = _baseline(arms, baseline)
    others = [(arm, compare(arm, first, seed=seed, resamples=resamples)) for arm in arms if arm is not first]
    pairs = [(arm, other, compare(arm, other, seed=seed, resamples=resamples)) for arm, other in controlled(arms)]
    return Report(
        benchmark=runs[0].benchmark,
        baseline=first.name,
        missing=missing,
        seed=seed,
        resamples=resamples,
        arms=tuple(_figures(arm, teaching, seed, resamples) for arm in arms),
        comparisons=adjusted([found for _, found in others if found]),
        controls=adjusted([found for _, _, found in pairs if found]),
        notices=tuple(notices(first, others, pairs, missing)),
        amd_version=__version__,
    )


def _baseline(arms: Sequence[ArmResults], name: str | None) -> ArmResults:
    if name is None:
        return arms[0]
    for arm in arms:
        if name in (arm.name, *(run.name for run in arm.runs)):
            return arm
    raise ConfigError(
        f"no arm is called {name!r}",
        next_step=f"the arms are {', '.join(arm.name for arm in arms)}",
        baseline=name,
    )


def _figures(arm: ArmResults, teaching: Teaching | None, seed: int, resamples: int) -> ArmFigures:
    run, rates, ended = arm.runs[0], arm.rates(), arm.finished
    cost = build_cost(arm)
    return ArmFigures(
        name=arm.name,
        runs=tuple(each.path.as_posix() for each in arm.runs),
        seeds=tuple(each.seed for each in arm.runs),
        created_at=tuple(each.created_at for each in arm.runs),
        terms=dict(run.terms),
        student=run.student,
        method=arm.arm.method,
        label=arm.arm.label,
        mode=arm.arm.mode,
        layout=arm.arm.layout,
        excludes=arm.arm.excludes,
        made_up=any(each.made_up for each in arm.runs),
        memory_content=run.memory_content,
        memory_seal=run.memory_seal,
        memory_from=run.memory_from,
        split=arm.split,
        tasks=len(rates),
        families=len({arm.families[task_id] for task_id in rates}),
        trials=sum(map(len, arm.trials.values())),
        faults=arm.faults,
        success=wilson(sum(rates.values()), len(rates)),
        success_by_family=clustered_mean(
            list(rates.values()), [arm.families[task_id] for task_id in rates], seed=seed, resamples=resamples
        ),
        pass_hat=_pass_hat(arm),
        steps=_mean(task.steps for task in ended),
        seconds=_mean(task.seconds for task in ended),
        prompt_tokens=_mean(task.prompt_tokens for task in ended),
        completion_tokens=_mean(task.completion_tokens for task in ended),
        exposures=arm.figures,
        leaks=arm.leaks,
        build=cost,
        repayment=repayment(arm, cost, teaching),
    )


def _pass_hat(arm: ArmResults) -> tuple[float, ...]:
    """Pass^k for each k that any task has trials for, over the tasks that have."""
    outcomes = [(sum(trials), len(trials)) for trials in arm.trials.values()]
    most = max(n for _, n in outcomes)
    return tuple(pass_hat([each for each in outcomes if each[1] >= k], k) for k in range(1, most + 1))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
