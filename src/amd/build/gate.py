"""The gate: which runs are good enough to learn from, and why each of the others is not.

Admitted + refused = read, always. Unscored is not successful. The order in which runs are read changes nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from amd.errors import ConfigError, TrajectoryError
from amd.exclusion import Split
from amd.traces.reader import Item, Note
from amd.trajectory import Refusal, Trajectory

__all__ = ["REASONS", "Gate", "TrialOrder", "admit", "run_order", "trial_order"]

REASONS = (
    "failed",
    "unscored",
    "forced_quit",
    "memory_assisted",
    "worse_trial",
    "duplicate",
    "held_out",
    "unreadable",
    "score_mismatch",
    "inference_error",
)
"""Why a run is refused. ``forced_quit``, ``unreadable`` and ``score_mismatch`` come from readers, and so does
``inference_error``: a run that ended in a failure of the service that it asked, which says nothing of the agent.
"""


TrialOrder: TypeAlias = tuple[bool, int, int, str]
"""What runs of one task are sorted by: no call, failed calls, calls, sha256. The smallest is the best."""


def run_order(calls: int, failed_calls: int, sha256: str) -> TrialOrder:
    """The order of trials from the figures that a memory keeps of a run.

    A run with calls comes before one without, then the fewest failed calls, the fewest calls, the smaller hash.

    >>> min(run_order(0, 0, "a"), run_order(9, 2, "b"), run_order(8, 3, "c"))
    (False, 2, 9, 'b')
    """
    return calls == 0, failed_calls, calls, sha256


def trial_order(run: Trajectory) -> TrialOrder:
    """The order of trials from the runs themselves."""
    calls = run.calls
    return run_order(len(calls), sum(not call.ok for call in calls), run.sha256)


@dataclass(frozen=True, slots=True)
class Gate:
    """What the gate decided. ``admitted`` is sorted by task and trial; ``notes`` counts what is no refusal."""

    admitted: tuple[Trajectory, ...]
    refusals: tuple[Refusal, ...]
    notes: Mapping[str, int]

    @property
    def read(self) -> int:
        """How many runs were read: those admitted and those refused."""
        return len(self.admitted) + len(self.refusals)

    @property
    def refused(self) -> Mapping[str, int]:
        """How many runs were refused for each reason, the reasons sorted."""
        return dict(sorted(Counter(refusal.reason for refusal in self.refusals).items()))


def admit(
    items: Iterable[Item],
    *,
    all_trials: bool = False,
    split: Split | None = None,
    assume_unassisted: bool = False,
    include_failures: bool = False,
) -> Gate:
    """Admit or refuse each run that a reader gives.

    Args:
        items: What a reader yields.
        all_trials: Keep every successful trial of a task instead of the best one.
        split: Admit train families only; the others are refused as ``held_out``.
        assume_unassisted: Take runs of which nobody knows whether they had memory.
        include_failures: Admit failed runs too, the best one of each task beside the best success. They stay
            marked by their outcome and are counted under the note ``failure``.

    Raises:
        TrajectoryError: One task is said to be of two families.
        ConfigError: A run is of another benchmark than the split.
    """
    refusals: list[Refusal] = []
    notes: Counter[str] = Counter()
    families = _Families()
    candidates: list[Trajectory] = []
    for item in items:
        if isinstance(item, Note):
            notes[item.name] += item.count
        elif isinstance(item, Refusal):
            refusals.append(item)
        else:
            families.check(item)
            refusal = _unwritable(item) or _refuse(
                item, split, assume_unassisted=assume_unassisted, include_failures=include_failures
            )
            if refusal is None:
                candidates.append(item)
            else:
                refusals.append(refusal)
    admitted: list[Trajectory] = []
    for chosen in _choose(candidates, all_trials=all_trials):
        if isinstance(chosen, Refusal):
            refusals.append(chosen)
        else:
            admitted.append(chosen)
    notes["no_call"] += sum(not run.calls for run in admitted)
    notes["failure"] += sum(run.outcome.success is False for run in admitted)
    return Gate(tuple(admitted), tuple(refusals), {name: count for name, count in sorted(notes.items()) if count})


class _Families:
    """The family of each task so far, and where it was said."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str], tuple[str, str]] = {}

    def check(self, run: Trajectory) -> None:
        """Compare with what earlier runs of the task said."""
        task = run.task
        family, where = self._said.setdefault((task.benchmark, task.task_id), (task.family, _where(run)))
        if family != task.family:
            raise TrajectoryError(
                f"task {task.task_id!r} of {task.benchmark!r} is of family {family!r} in {where} "
                f"and of family {task.family!r} in {_where(run)}",
                next_step="correct the family in one of them",
                task_id=task.task_id,
                families=(family, task.family),
            )


def _unwritable(run: Trajectory) -> Refusal | None:
    """A trajectory made by hand may hold what no file can: a lone surrogate, ``NaN``."""
    try:
        _ = run.sha256
    except ValueError as error:
        return _refusal("unreadable", run, f"it cannot be written as JSON: {error}")
    return None


def _refuse(run: Trajectory, split: Split | None, *, assume_unassisted: bool, include_failures: bool) -> Refusal | None:
    """Why a run is refused for what it is, whatever else was read; ``None`` if it is not."""
    if run.outcome.success is None:
        return _refusal("unscored", run, run.outcome.evidence)
    if not run.outcome.success and not include_failures:
        return _refusal("failed", run, run.outcome.evidence)
    if run.source.memory_assisted:
        return _refusal("memory_assisted", run, "its prompt held memory of ours")
    if run.source.memory_assisted is None and not assume_unassisted:
        return _refusal("memory_assisted", run, "unknown whether its prompt held memory; --assume-unassisted takes it")
    if split is not None and not _is_train(run, split):
        return _refusal("held_out", run, f"family {run.task.family!r} is no train family")
    return None


def _is_train(run: Trajectory, split: Split) -> bool:
    if run.task.benchmark != split.benchmark:
        raise ConfigError(
            f"the split is for {split.benchmark!r}, the run in {_where(run)} is of {run.task.benchmark!r}",
            next_step="give the split of the runs' own benchmark",
            split=split.benchmark,
            run=run.task.benchmark,
        )
    return run.task.family in split.train


def _choose(candidates: Iterable[Trajectory], *, all_trials: bool) -> Iterator[Trajectory | Refusal]:
    """For each task the best run, or all different ones; successes and failures do not compete."""
    by_task: defaultdict[tuple[str, str, bool], list[tuple[TrialOrder, Trajectory]]] = defaultdict(list)
    for run in candidates:
        key = (run.task.benchmark, run.task.task_id, run.outcome.success is True)
        by_task[key].append((trial_order(run), run))
    for _, trials in sorted(by_task.items()):
        trials.sort(key=lambda trial: (trial[0], _provenance(trial[1])))
        seen: dict[str, Trajectory] = {}
        for order, run in trials:
            if order[-1] in seen:
                yield _refusal("duplicate", run, f"the same as {_where(seen[order[-1]])}")
            elif seen and not all_trials:
                yield _refusal("worse_trial", run, f"{_where(trials[0][1])} is better")
            else:
                yield run
            seen.setdefault(order[-1], run)


def _provenance(run: Trajectory) -> tuple[str, ...]:
    """What tells two copies of one run apart, so that the order of reading does not.

    ``oracle`` comes first: a copy of an answer key is never called a teacher's.
    """
    source = run.source
    return source.kind, source.teacher, source.run_id, source.path, source.sha256, str(source.memory_assisted)


def _refusal(reason: str, run: Trajectory, detail: str) -> Refusal:
    return Refusal(reason, _where(run), detail, run.task.task_id)


def _where(run: Trajectory) -> str:
    return f"{run.source.path} ({run.source.run_id})"
