"""What ``amd coverage`` tells: one table over methods and protocols, or one object with every task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import typer

from amd.build.gate import Gate
from amd.cli.console import counts, print_grid

if TYPE_CHECKING:  # the statistics are loaded when a memory is evaluated
    from amd.evaluate.estimates import Interval
    from amd.experiment.coverage import Recorded
    from amd.experiment.rows import CoverageRow, Figures

__all__ = ["Source", "Told"]

_WHO = ("method", "protocol")
_COVERED = (*_WHO, "none\nshown", "tokens\na task", "tools", "args", "per 100\ntokens")
_BESIDE = (
    *(*_WHO, "random\ntokens", "tools\nover\nrandom", "args\nover\nrandom"),
    *("repeat:\ntools", "repeat:\nargs"),
)
_HINTS = (*_WHO, "recorded\nerrors", "any hint", "an example", "would\nrepair", "would repair,\nrandom")

_LEGEND = (
    "[low, high]: 95 % over families; own: records shown of a task's own family; per 100 tokens: calls covered, by "
    "tool/with arguments; over random: less what random records cover; repeat: precision/recall of the top-1 record's "
    "calls, by tool and by tool with arguments"
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
    """Everything that was measured. ``gate`` says which runs were refused, ``split`` is the hash of the split."""

    rows: Sequence[CoverageRow]
    of: Recorded
    gate: Gate
    sources: Mapping[str, Source]
    split: str | None
    mode: str
    seed: int

    @property
    def read(self) -> dict[str, int]:
        """How many runs were read, and how many of them were admitted."""
        return {"read": self.gate.read, "admitted": len(self.gate.admitted)}

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
            "runs": {**self.read, "refused": dict(self.gate.refused), "kinds": self.kinds, **self._left_out()},
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
        """The tables, and below them what a reader must know to believe them."""
        rows = [(row, row.figures(seed=self.seed)) for row in self.rows]
        _, first = rows[0]
        print_grid(
            f"coverage of {first.tasks} tasks of {first.families} families, mode {self.mode}, without a student",
            _COVERED,
            [_covered(row, each) for row, each in rows],
            broken=(4, 5),
        )
        print_grid(
            "beside as many random records; the top-1 record's calls repeated",
            _BESIDE,
            list(map(_beside, rows)),
            broken=(3, 4),
        )
        if any(row.hints for row in self.rows):
            hints = [_hints(row, each) for row, each in rows if row.hints]
            print_grid("hints to recorded errors", _HINTS, hints, broken=())
        typer.echo(_LEGEND)
        typer.echo(f"runs: {counts(self.read)}; refused: {counts(self.gate.refused)}")
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


def _who(row: CoverageRow, own_family: int = 0) -> tuple[str, str]:
    own = f"\n({own_family} own)" if own_family else ""
    return row.method, f"{row.label}{own}"


def _covered(row: CoverageRow, figures: Figures) -> list[str]:
    return [
        *_who(row, figures.own_family),
        str(figures.nothing_shown),
        f"{figures.tokens:.0f}",
        _bounded(figures.tools),
        _bounded(figures.arguments),
        f"{_plain(figures.tools_per_tokens)}/{_plain(figures.arguments_per_tokens)}",
    ]


def _beside(each: tuple[CoverageRow, Figures]) -> list[str]:
    row, figures = each
    return [
        *_who(row),
        f"{figures.random_tokens:.0f}" if row.random else "-",
        _bounded(figures.tools_over_random, sign="+"),
        _bounded(figures.arguments_over_random, sign="+"),
        _pair(figures.precision[0], figures.recall[0]),
        _pair(figures.precision[1], figures.recall[1]),
    ]


def _hints(row: CoverageRow, figures: Figures) -> list[str]:
    return [
        *_who(row),
        str(len(row.hints)),
        *(
            str(sum(counted))
            for counted in zip(*((hint.shown, hint.example, hint.repairs) for hint in row.hints), strict=True)
        ),
        _plain(figures.random_hints.repairs),
    ]


def _pair(precision: Interval | None, recall: Interval | None) -> str:
    return "-" if precision is None else f"{_plain(precision)}/{_plain(recall)}"


def _plain(interval: Interval | None) -> str:
    return "-" if interval is None else _figure(interval.value)


def _bounded(interval: Interval | None, *, sign: str = "") -> str:
    if interval is None:
        return "-"
    value = _figure(interval.value, sign)
    if interval.low is None or interval.high is None:
        return value
    return f"{value} [{_figure(interval.low)}, {_figure(interval.high)}]"


def _figure(value: float, sign: str = "") -> str:
    """Two digits, without the 0 before the point: a row of them must fit.

    >>> _figure(0.258), _figure(1), _figure(-0.05, "+"), _figure(-0.001)
    ('.26', '1.00', '-.05', '.00')
    """
    rounded = round(value, 2) + 0.0  # no -0
    text = f"{rounded:{sign if rounded else ''}.2f}"
    return text.replace("0.", ".", 1) if abs(rounded) < 1 else text
