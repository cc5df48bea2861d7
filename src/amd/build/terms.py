"""What an input, a build's options and a published memory must agree on; each disagreement names both values."""

from __future__ import annotations

from collections.abc import Sequence

from amd.build.gate import Gate
from amd.build.report import Options
from amd.chat import Embedder
from amd.errors import ConfigError, EmbedderDoesNotMatch, TrajectoryError
from amd.methods import Method
from amd.store import Memory
from amd.traces.families import families_of, family_of
from amd.trajectory import Trajectory

__all__ = [
    "check_families",
    "check_floors",
    "check_joins",
    "check_method",
    "check_workers",
    "one_benchmark",
    "refuse_unreadable",
]


def check_joins(memory: Memory, *, benchmark: str, method: Method, embedder: Embedder, options: Options) -> None:
    """Raise unless a build can be added to ``memory``.

    The embedder is compared by its id: asking it for a text would cost a call. Its width shows in the first rows.

    Raises:
        ConfigError: another benchmark, another method, or all trials asked of a memory of best trials.
        EmbedderDoesNotMatch: another embedder.
    """
    manifest = memory.manifest
    for what, stored, given in (
        ("benchmark", manifest.benchmark, benchmark),
        ("method", manifest.method, method.memory),
    ):
        if stored != given:
            raise ConfigError(
                f"the memory's {what} is {stored!r}, this build's is {given!r}",
                next_step="build into another directory, or add --replace",
                stored=stored,
                given=given,
            )
    if options.all_trials and not manifest.all_trials:
        raise ConfigError(
            "the memory keeps the best trial of each task, this build asks for all trials",
            next_step="build with --all-trials into another directory, or add --replace",
        )
    if manifest.embedder.id != embedder.id:
        raise EmbedderDoesNotMatch(
            f"the memory was embedded by {manifest.embedder.id!r}, the embedder given is {embedder.id!r}",
            next_step=f"build with --embedder {manifest.embedder.id}, or run: "
            f"amd reindex {memory.path} --embedder {embedder.id}",
            stored=manifest.embedder.id,
            given=embedder.id,
        )


def one_benchmark(runs: Sequence[Trajectory]) -> str:
    """The benchmark of all runs; ``ConfigError`` if there are several."""
    names = sorted({run.task.benchmark for run in runs})
    if len(names) > 1:
        raise ConfigError(
            f"the input has runs of {len(names)} benchmarks: {', '.join(names)}",
            next_step="build a memory for each benchmark",
            benchmarks=names,
        )
    return names[0]


def check_method(method: Method) -> None:
    """``ConfigError`` if the method has no tier, or none of its own: no memory is built by it."""
    if method.draws:
        raise ConfigError(f"the method {method.name!r} draws from a memory", next_step=f"build with {method.memory}")
    if not method.memory:
        raise ConfigError(
            f"the method {method.name!r} has no tier to build", next_step="build with one that has tiers, such as amd"
        )


def check_families(runs: Sequence[Trajectory]) -> None:
    """``ConfigError`` if a run's family is not the one that an installed overlay knows for its benchmark.

    With another one it would be hidden from the wrong tasks; a task that the overlay does not know has none.
    """
    for task in (run.task for run in runs):
        known = family_of(task.benchmark, task.task_id)
        if known is None and families_of(task.benchmark) is not None:
            raise ConfigError(
                f"{task.task_id!r} is no task of {task.benchmark!r} that the installed overlay knows",
                next_step="correct the id, or name another benchmark",
                task_id=task.task_id,
            )
        if known not in (None, task.family):
            raise ConfigError(
                f"task {task.task_id!r} of {task.benchmark!r} is of family {known!r}, this input says {task.family!r}",
                next_step="leave the family out of what you read, or name another benchmark",
                known=known,
                given=task.family,
            )


def check_workers(workers: int) -> None:
    """``ConfigError`` for a number of workers that is none."""
    if workers < 1:
        raise ConfigError(f"{workers} workers write nothing", next_step="give 1 or more", workers=workers)


def check_floors(options: Options, method: Method) -> None:
    """``ConfigError`` if a floor is pinned for a tier that has none, or is no cosine."""
    floored = [tier.name for tier in method.tiers if tier.floored]
    unknown = sorted(set(options.floors) - set(floored))
    if unknown:
        raise ConfigError(
            f"the method {method.name!r} has no floor for {', '.join(unknown)}",
            next_step=f"pin one of: {', '.join(floored) or 'none'}",
            unknown=unknown,
        )
    for tier, floor in options.floors.items():
        if not -1 <= floor <= 1:
            raise ConfigError(
                f"the floor of {tier} is {floor}, no cosine",
                next_step="pin it between -1 and 1",
                tier=tier,
                floor=floor,
            )


def refuse_unreadable(gate: Gate) -> None:
    """``TrajectoryError`` with the first place and reason if anything was unreadable."""
    bad = [refusal for refusal in gate.refusals if refusal.reason == "unreadable"]
    if bad:
        raise TrajectoryError(
            f"{bad[0].where}: {bad[0].detail} ({len(bad)} unreadable in all)",
            next_step="mend the input, or build without --strict",
            unreadable=len(bad),
        )
