"""What ``amd coverage`` tells: one table over methods and protocols, or one object with every task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import typer

from amd.cli.console import counts, print_grid
from amd.experiment.coverage import Recorded
from amd.experiment.intervals import Interval
from amd.experiment.rows import CoverageRow, Figures

__all__ = ["Source", "Told"]

_HEADINGS = (
    "method",
    "protocol",
    "nothing\nshown",
    "tokens a task\n(random)",
    "tools",
    "arguments",
    "tools\nover random",
    "arguments\nover random",
    "per 100:\ntools, args",
    "repeat: tools\nP / R",
    "repeat: args\nP / R",
    "hints that\nwould repair",
)


@dataclass(frozen=True, slots=True)
class Source:
    """A memory that was evaluated: what it holds, how it embeds, and whose runs it is made of, each with its kind."""

    content: str
    seal: str
    embedder: str
    teachers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """Everything that was measured. ``read`` has the gate's figures, ``split`` the hash of the split."""

    rows: Sequence[CoverageRow]
    of: Recorded
    read: Mapping[str, int]
    refused: Mapping[str, int]
    sources: Mapping[str, Source]
    split: str | None
    mode: str
    seed: int

    @property
    def repairs(self) -> dict[str, int]:
        """Recorded errors with a known repair, by what repaired them."""
        return dict(Counter(str(error.kind) for _, errors in self.of.errors for error in errors))

    @property
    def kinds(self) -> list[str]:
        """Whose runs say what the tasks need: ``teacher``, ``oracle``, ``student``."""
        return sorted({run.source.kind for run in self.of.runs})

    def as_json(self) -> dict[str, object]:
        """One object: figures, and each task, draw and hint of each row."""
        return {
            "runs": {**self.read, "refused": dict(self.refused), "kinds": self.kinds, **self._left_out()},
            "errors": self.repairs,
            "memories": {place: asdict(source) for place, source in self.sources.items()},
            "split": self.split,
            "mode": self.mode,
            "seed": self.seed,
            "rows": [
                {
                    "method": row.method,
                    "protocol": row.protocol,
                    "label": row.label,
                    "draws": row.draws,
                    "figures": asdict(row.figures(seed=self.seed)),
                    "tasks": [asdict(task) for task in row.tasks],
                    "random": [asdict(task) for task in row.random],
                    "hints": [asdict(hint) for hint in row.hints],
                }
                for row in self.rows
            ],
        }

    def print(self) -> None:
        """The table, and below it what a reader must know to believe it."""
        figures = [row.figures(seed=self.seed) for row in self.rows]
        whose = f"{figures[0].tasks} tasks of {figures[0].families} families"
        print_grid(
            f"coverage of {whose}, mode {self.mode}, without a student",
            _HEADINGS,
            [_cells(row, each) for row, each in zip(self.rows, figures, strict=True)],
        )
        typer.echo(f"runs: {counts(self.read)}; refused: {counts(self.refused)}")
        left_out = {name: number for name, number in self._left_out().items() if number}
        if left_out:
            typer.echo(f"successes left out: {counts(left_out)}")
        if "oracle" in self.kinds:
            typer.echo("ORACLE: what these tasks need is told by the benchmark's answer key, not by a teacher's runs")
        for place, source in self.sources.items():
            typer.echo(f"memory {place}: content {source.content}, from {', '.join(source.teachers)}")
        if self.split is not None:
            typer.echo(f"split  {self.split}")
        typer.echo(f"recorded errors with a known repair, by what repaired them: {counts(self.repairs)}")

    def _left_out(self) -> dict[str, int]:
        of = self.of
        return {
            "without_call": of.without_call,
            "not_held_out": of.not_held_out,
            "beyond_limit": of.beyond_limit,
        }


def _cells(row: CoverageRow, figures: Figures) -> list[str]:
    own = f" ({figures.own_family} own)" if figures.own_family else ""
    return [
        row.method,
        f"{row.label}{own}",
        str(figures.nothing_shown),
        f"{figures.tokens:.0f} ({figures.random_tokens:.0f})" if row.random else f"{figures.tokens:.0f}",
        _bounded(figures.tools),
        _bounded(figures.arguments),
        _bounded(figures.tools_over_random, sign=True),
        _bounded(figures.arguments_over_random, sign=True),
        f"{_plain(figures.tools_per_tokens)}, {_plain(figures.arguments_per_tokens)}",
        _pair(figures.precision[0], figures.recall[0]),
        _pair(figures.precision[1], figures.recall[1]),
        _hints(row, figures),
    ]


def _plain(interval: Interval) -> str:
    return "-" if interval.value is None else f"{interval.value:.2f}"


def _hints(row: CoverageRow, figures: Figures) -> str:
    if not row.hints:
        return "-"
    by_chance = f" (random {_plain(figures.random_hints.repairs)})" if row.random_hints else ""
    return f"{sum(hint.repairs for hint in row.hints)} of {len(row.hints)}{by_chance}"


def _pair(precision: Interval, recall: Interval) -> str:
    return "-" if precision.value is None else f"{_plain(precision)} / {_plain(recall)}"


def _bounded(interval: Interval, *, sign: bool = False) -> str:
    if interval.value is None:
        return "-"
    form = "+.2f" if sign else ".2f"
    bounds = "" if interval.low is None else f" [{interval.low:{form}}, {interval.high:{form}}]"
    return f"{interval.value:{form}}{bounds}"
