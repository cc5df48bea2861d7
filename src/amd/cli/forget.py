"""``amd forget``: retire the records with which runs failed more often than not."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from amd.arms.usage import LEAST_HITS, LEAST_SUCCESS, EvaluatedRun, Usage, read_evaluated, usage_of
from amd.cli.console import print_json, print_table
from amd.cli.options import Directory, Json, Pin
from amd.errors import ConfigError
from amd.evaluate.reading import read_runs
from amd.records import Record
from amd.store import Memory, read_memory
from amd.store.retiring import retire

__all__ = ["forget"]

_Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN",
        show_default=False,
        help='Run directories, or JSONL files, one run a line: {"amd": its log, "success": true, false or null}.',
    ),
]
_Hits = Annotated[int, typer.Option(min=1, help="Forget only what was shown in so many scored runs.")]
_Success = Annotated[float, typer.Option(min=0, max=1, help="Forget it if less than this part of them succeeded.")]
_Apply = Annotated[bool, typer.Option("--apply", help="Publish it; without this the command only tells.")]


def forget(
    directory: Directory,
    runs: _Runs,
    *,
    least_hits: _Hits = LEAST_HITS,
    least_success: _Success = LEAST_SUCCESS,
    apply: _Apply = False,
    pin: Pin = None,
    json: Json = False,
) -> None:
    """List the records with which runs failed too often, and with --apply retire them: nobody is shown them any more.

    A run counts once for each record that it was shown; one that nobody scored counts for nothing. All runs must have
    read this memory. The rule and its two figures are MemP's; any tier's records are judged by it. A retired record is
    made active again by editing its line, and amd reindex. Tasks whose outcome a memory was changed by are no test of
    that memory any more.

    Example: amd forget memory runs/amd --apply
    """
    found = _evaluated(runs)
    with read_memory(directory, pin=pin) as memory:
        _check_memory(found, memory)
        usage = usage_of(found)
        _check_records(usage, memory)
        poor = {
            record.id: (record, usage[record.id])
            for shelf in memory.shelves.values()
            for record in shelf.records()
            if record.status == "active" and record.id in usage and usage[record.id].is_poor(least_hits, least_success)
        }
        seal = memory.seal
    changed = bool(apply and poor)
    if changed:
        seal = retire(directory, poor, pin=pin).manifest.seal
    if json:
        print_json(_as_json(poor, found, usage, seal, changed=changed))
    else:
        _print(directory, poor, found, usage, seal, changed=changed)


def _evaluated(paths: Sequence[Path]) -> list[EvaluatedRun]:
    """The runs of tasks in these files, and in these directories those that say what they were shown; each once."""
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise ConfigError("a run is named twice, and would count twice", next_step="name each once")
    folders = [path for path in paths if path.is_dir()]
    tasks = [task for run in (read_runs(folders) if folders else []) for task in run.tasks]
    found = [EvaluatedRun(task.log, task.success) for task in tasks if task.log is not None]
    found += [run for path in paths if path not in folders for run in read_evaluated(path)]
    if not found:
        raise ConfigError("the files hold no run", next_step="name files of evaluated runs")
    return found


def _check_memory(runs: Sequence[EvaluatedRun], memory: Memory) -> None:
    """Every run read these records: edits change what a memory holds, and ids with it; retiring does not."""
    for run in runs:
        if run.log.memory != memory.digest:
            raise ConfigError(
                f"the run of task {run.log.task_id!r} read the memory {(run.log.memory or 'none')[:12]}, "
                f"the one at {memory.path} is {memory.digest[:12]}",
                next_step="give runs of this memory",
                run=run.log.memory,
                memory=memory.digest,
            )


def _check_records(usage: Mapping[str, Usage], memory: Memory) -> None:
    """What was shown are records of this memory: its digest alone is only what a log says of itself."""
    known = {record.id for shelf in memory.shelves.values() for record in shelf.records()}
    strange = sorted(usage.keys() - known)
    if strange:
        raise ConfigError(
            f"{len(strange)} records that the runs were shown are not in the memory at {memory.path}, "
            f"the first is {strange[0]}",
            next_step="give runs of this memory, with their logs unchanged",
            record_ids=strange,
        )


_Poor = Mapping[str, tuple[Record, Usage]]


def _as_json(
    poor: _Poor, runs: Sequence[EvaluatedRun], usage: Mapping[str, Usage], seal: str, *, changed: bool
) -> dict[str, object]:
    return {
        "runs": len(runs),
        "unscored": sum(run.success is None for run in runs),
        "records_shown": len(usage),
        "forgotten": [
            {"record_id": record.id, "tier": record.tier, "hits": used.hits, "successes": used.successes}
            for record, used in poor.values()
        ],
        "applied": changed,
        "seal": seal,
    }


def _print(
    directory: Path,
    poor: _Poor,
    runs: Sequence[EvaluatedRun],
    usage: Mapping[str, Usage],
    seal: str,
    *,
    changed: bool,
) -> None:
    for record, used in poor.values():
        typer.echo(
            f"{record.tier} {record.id[:8]}: {used.successes} of {used.hits} runs succeeded "
            f"(family {record.task.family})"
        )
    rows = [
        ("runs", len(runs)),
        ("unscored", sum(run.success is None for run in runs)),
        ("records shown", len(usage)),
        ("to forget" if not changed else "forgotten", len(poor)),
    ]
    print_table(f"memory {directory}{'' if changed else ' (unchanged)'}", rows)
    typer.echo(f"seal    {seal}")
    if poor and not changed:
        typer.echo("nothing was changed; --apply retires them", err=True)
