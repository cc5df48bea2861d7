"""Two arms, task by task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from amd.evaluate.estimates import Interval, clustered_mean, detectable, detectable_mean, exact_mcnemar, holm
from amd.evaluate.grouping import ArmResults

__all__ = ["Comparison", "adjusted", "compare", "unlike"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """An arm beside the baseline, or beside its random records, over the ``n`` tasks that both have.

    ``left_out`` counts the tasks that only one has.

    The titles are the names with their marks, IN-SAMPLE or LEAKED. ``difference`` is that of the success rates, with an
    interval over ``families``. ``helped`` and ``harmed`` are the tasks that the arm solved in a larger and in a smaller
    share of its trials; ``p`` is exact McNemar's of the two counts (with several trials a task: the sign test, which is
    the same for one), ``p_holm`` the same adjusted for all comparisons of its kind in the report. ``detectable`` is the
    smallest difference that this many tasks, discordant as often as these, show with 80 % power: by exact McNemar, or
    with several trials a task by a paired t test; ``None`` where no difference would show. ``unlike`` says why the two
    should not be compared at all.
    """

    arm: str
    baseline: str
    arm_title: str
    baseline_title: str
    n: int
    left_out: int
    families: int
    difference: Interval
    helped: tuple[str, ...]
    harmed: tuple[str, ...]
    p: float
    p_holm: float
    detectable: float | None
    unlike: tuple[str, ...]


def compare(arm: ArmResults, baseline: ArmResults, *, seed: int, resamples: int) -> Comparison | None:
    """The comparison, not yet adjusted for others; ``None`` if the two have no task in common."""
    ours, theirs = arm.rates(), baseline.rates()
    both = sorted(ours.keys() & theirs.keys())
    if not both:
        return None
    differences = [ours[task_id] - theirs[task_id] for task_id in both]
    families = [arm.families[task_id] for task_id in both]
    changes = {task_id: _change(arm.trials[task_id], baseline.trials[task_id]) for task_id in both}
    helped = tuple(task_id for task_id, change in changes.items() if change > 0)
    harmed = tuple(task_id for task_id, change in changes.items() if change < 0)
    p = exact_mcnemar(len(helped), len(harmed))
    single = all(change in (-1.0, 0.0, 1.0) for change in differences)
    return Comparison(
        arm=arm.name,
        baseline=baseline.name,
        arm_title=arm.title,
        baseline_title=baseline.title,
        n=len(both),
        left_out=len(ours.keys() ^ theirs.keys()),
        families=len(set(families)),
        difference=clustered_mean(differences, families, seed=seed, resamples=resamples),
        helped=helped,
        harmed=harmed,
        p=p,
        p_holm=p,
        detectable=detectable(len(both), (len(helped) + len(harmed)) / len(both))
        if single
        else detectable_mean(differences),
        unlike=tuple(unlike(arm, baseline)),
    )


def _change(ours: Sequence[bool], theirs: Sequence[bool]) -> int:
    """How many more of the first runs succeeded, of as many as both arms have.

    Shares of one run and of three differ by chance alone, and not to both sides alike: no sign test could count them.
    """
    runs = min(len(ours), len(theirs))
    return sum(ours[:runs]) - sum(theirs[:runs])


def adjusted(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """The same with Holm's p values over all of them."""
    values = holm([each.p for each in comparisons])
    return tuple(replace(each, p_holm=p) for each, p in zip(comparisons, values, strict=True))


def unlike(arm: ArmResults, baseline: ArmResults) -> list[str]:
    """Why the scores of two arms cannot be compared, as ``name: this, not that``; empty if they can."""
    ours, theirs = arm.runs[0].terms, baseline.runs[0].terms
    reasons = [
        f"{name}: {ours.get(name)!r}, not {theirs.get(name)!r}"
        for name in sorted({*ours, *theirs})
        if ours.get(name) != theirs.get(name)
    ]
    apart = [
        task_id
        for task_id in sorted(arm.families.keys() & baseline.families.keys())
        if arm.families[task_id] != baseline.families[task_id]
    ]
    if apart:
        reasons.append(
            f"the families of {len(apart)} tasks, {apart[0]} among them"
            if len(apart) > 1
            else f"the family of the task {apart[0]}"
        )
    return reasons
