"""``record``: the benchmark's answer key as trajectories."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from amd.cli.console import StageProgress, print_json
from amd.traces import Trajectory, write
from amd_bfcl.commands.options import AnyVersion, Categories, Json, categories_of
from amd_bfcl.families import INDEXES, Category
from amd_bfcl.package import Package, find_package
from amd_bfcl.record import record as record_category

__all__ = ["ORACLE", "Recording", "record", "record_to"]

ORACLE = "ORACLE: this is the benchmark's answer key, replayed on its backends. It is marked kind=oracle; no model ran."


@dataclass(slots=True)
class Recording:
    """What was recorded: for each category the counts of tasks, turns, calls and errors."""

    version: str
    out: Path
    counts: dict[Category, Counter[str]] = field(default_factory=dict)
    seconds: float = 0.0

    def total(self, what: str) -> int:
        """A count over all categories."""
        return sum(counts[what] for counts in self.counts.values())

    def count(self, category: Category, run: Trajectory) -> None:
        """Add one run."""
        self.counts.setdefault(category, Counter(dict.fromkeys(("tasks", "turns", "calls", "errors"), 0))).update(
            tasks=1, turns=len(run.turns), calls=len(run.calls), errors=sum(not call.ok for call in run.calls)
        )


def record_to(out: Path, categories: Sequence[Category], package: Package, *, limit: int | None = None) -> Recording:
    """Write the recordings of the categories to one canonical file, replacing what stood there, and count them."""
    recording, started = Recording(package.version, out), time.perf_counter()
    total = len(categories) * min(INDEXES, INDEXES if limit is None else limit)

    def runs(progress: StageProgress) -> Iterator[Trajectory]:
        for category in categories:
            for run in record_category(category, package, limit=limit):
                recording.count(category, run)
                progress("replaying tasks", recording.total("tasks"), total)
                yield run

    with StageProgress() as progress:
        write(out, runs(progress))
    recording.seconds = time.perf_counter() - started
    return recording


def record(
    *,
    category: Categories = None,
    out: Annotated[
        Path, typer.Option(help="The file to write, JSONL of amd-trajectory/1; replaced if it is there.")
    ] = (Path("bfcl-oracle.jsonl")),
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first tasks of each category.")] = None,
    any_version: AnyVersion = False,
    json: Json = False,
) -> None:
    """Replay the benchmark's answer key on its own backends and write it as trajectories, marked oracle.

    Example: python -m amd_bfcl record --out base.jsonl && amd build amd base.jsonl --out memory
    """
    chosen = categories_of(category) or (Category.BASE,)
    recording = record_to(out, chosen, find_package(any_version=any_version), limit=limit)
    if json:
        print_json(_as_json(recording))
        return
    for name, counts in recording.counts.items():
        typer.echo(f"{name}: " + ", ".join(f"{counts[what]} {what}" for what in counts))
    typer.echo(f"{recording.total('tasks')} runs in {out}, {recording.seconds:.1f} s, bfcl-eval {recording.version}")
    typer.echo(ORACLE)


def _as_json(recording: Recording) -> dict[str, object]:
    totals = {what: recording.total(what) for what in ("tasks", "turns", "calls", "errors")}
    return {
        "kind": "oracle",
        "out": str(recording.out),
        "bfcl_eval": recording.version,
        **totals,
        "categories": {str(name): dict(counts) for name, counts in recording.counts.items()},
        "seconds": round(recording.seconds, 3),
    }
