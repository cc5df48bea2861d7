"""Building adds: which run of a task counts, and the union of what is published and what is new.

The same rule as at the gate decides (``amd.build.gate``): for one task and one kind of outcome the best run counts,
and its records replace an older run's as a set. So the order of builds does not matter, and building the same
input twice changes nothing. With ``all_trials`` the unit is the run, and nothing is replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from amd.build.gate import TrialOrder, run_order
from amd.errors import ConfigError
from amd.exclusion import instruction_sha256
from amd.records import Record
from amd.store import Run
from amd.tier import Writer
from amd.trajectory import Trajectory

__all__ = ["Merged", "merge_records", "merge_runs", "run_of"]

Unit = tuple[str, bool, str]


def run_of(run: Trajectory, writer: Writer) -> Run:
    """What the manifest keeps of an admitted run."""
    calls = run.calls
    return Run(
        benchmark=run.task.benchmark,
        task_id=run.task.task_id,
        family=run.task.family,
        instruction_sha256=instruction_sha256(run.task.instruction),
        trajectory_sha256=run.sha256,
        teacher=run.source.teacher,
        run_id=run.source.run_id,
        kind=run.source.kind,
        success=bool(run.outcome.success),
        calls=len(calls),
        failed_calls=sum(not call.ok for call in calls),
        distiller=writer.id,
        prompts=writer.prompts,
    )


@dataclass(frozen=True, slots=True)
class Merged:
    """The runs that count now, and what became of the others.

    ``written`` are the new runs whose records must be written, ``rewritten`` how many of them were there before, by
    another distiller or under another name; ``retried`` names those, by their hash, of which only some tiers are;
    ``unchanged`` were there and stay; ``superseded`` published runs gave way
    to a better one; ``outdone`` new runs met a better published one.
    """

    runs: tuple[Run, ...]
    written: tuple[Run, ...]
    retried: Mapping[str, tuple[str, ...]]
    rewritten: int
    unchanged: int
    superseded: tuple[Run, ...]
    outdone: tuple[Run, ...]


def merge_runs(
    published: Iterable[Run], new: Iterable[Run], *, all_trials: bool, retry_fallbacks: bool = False
) -> Merged:
    """Decide, task by task, which run counts. ``ConfigError`` if a task would stand in two families."""
    kept: dict[Unit, Run] = {}
    families: dict[str, str] = {}
    for run in published:
        kept[_unit(run, all_trials=all_trials)] = run
        families[run.task_id] = run.family
    written: dict[Unit, Run] = {}
    retried: dict[str, tuple[str, ...]] = {}
    rewritten, unchanged, superseded, outdone = 0, 0, [], []
    for run in new:
        _check_family(run, families)
        unit = _unit(run, all_trials=all_trials)
        old = kept.get(unit)
        if old is None:
            kept[unit] = written[unit] = run
        elif run.trajectory_sha256 == old.trajectory_sha256:
            if _is_told_already(run, old):
                if retry_fallbacks and old.fallbacks and run.kind == old.kind:
                    kept[unit] = written[unit] = run
                    retried[run.trajectory_sha256] = old.fallbacks
                    rewritten += 1
                else:
                    unchanged += 1
            else:
                kept[unit] = written[unit] = run
                rewritten += 1
        elif _order(run) < _order(old):
            kept[unit] = written[unit] = run
            superseded.append(old)
        else:
            outdone.append(run)
    runs = tuple(sorted(kept.values(), key=lambda run: (run.family, run.task_id, run.trajectory_sha256)))
    return Merged(runs, tuple(written.values()), retried, rewritten, unchanged, tuple(superseded), tuple(outdone))


def _is_told_already(run: Run, old: Run) -> bool:
    """Whether the records of the same run need not be written again.

    An answer key that was called a teacher's run is put right, and a copy of it under a teacher's name changes nothing.
    """
    if "oracle" in (run.kind, old.kind) and run.kind != old.kind:
        return old.kind == "oracle"
    return (run.distiller, run.prompts) == (old.distiller, old.prompts)


def merge_records(
    published: Mapping[str, Iterable[Record]], new: Mapping[str, Sequence[Record]], merged: Merged
) -> dict[str, list[Record]]:
    """The records of the runs that count: the published ones that stay, and the new ones of written runs."""

    def is_rewritten(record: Record, tier: str) -> bool:
        only = merged.retried.get(record.source.trajectory_sha256)
        return _origin(record) in rewritten and (only is None or tier in only)

    rewritten = {(run.task_id, run.trajectory_sha256) for run in merged.written}
    counting = {(run.task_id, run.trajectory_sha256) for run in merged.runs}
    result: dict[str, list[Record]] = {}
    for tier in new:
        by_id = {
            record.id: record
            for record in published.get(tier, ())
            if _origin(record) in counting and not is_rewritten(record, tier)
        }
        for record in new[tier]:
            if is_rewritten(record, tier):
                by_id.setdefault(record.id, record)
        result[tier] = list(by_id.values())
    return result


def _origin(record: Record) -> tuple[str, str]:
    return record.task.task_id, record.source.trajectory_sha256


def _unit(run: Run, *, all_trials: bool) -> Unit:
    return run.task_id, run.success, run.trajectory_sha256 if all_trials else ""


def _order(run: Run) -> TrialOrder:
    return run_order(run.calls, run.failed_calls, run.trajectory_sha256)


def _check_family(run: Run, families: dict[str, str]) -> None:
    known = families.setdefault(run.task_id, run.family)
    if known != run.family:
        raise ConfigError(
            f"task {run.task_id!r} is of family {known!r} in the memory and of family {run.family!r} in this input",
            next_step="read it with the same families, or build with --replace",
            stored=known,
            given=run.family,
        )
