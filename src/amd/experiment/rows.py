"""A row of the table of coverage: one method under one protocol, task by task, and the figures of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from amd.arms.words import ArmProtocol, label_of
from amd.evaluate.estimates import Interval, clustered_ratio
from amd.experiment.covering import TaskCoverage
from amd.experiment.repairs import ErrorHint

__all__ = ["CoverageRow", "Figures", "HintFigures"]

_PER_TOKENS = 100
_DRAWS = 2_000  # of each bootstrap: a table has hundreds of intervals, and shows two digits of each


@dataclass(frozen=True, slots=True)
class HintFigures:
    """What hints had, as shares of the recorded ``errors`` whose repair is known (see ``ErrorHint``); none without."""

    errors: int
    shown: Interval | None
    example: Interval | None
    repairs: Interval | None

    @classmethod
    def of(cls, hints: Sequence[ErrorHint], seed: int) -> HintFigures:
        """The figures of these hints."""

        def share(true: Callable[[ErrorHint], bool]) -> Interval | None:
            return _ratio([true(hint) for hint in hints], [1] * len(hints), [hint.family for hint in hints], seed)

        return cls(
            len(hints),
            share(lambda hint: hint.shown),
            share(lambda hint: hint.example),
            share(lambda hint: hint.repairs),
        )


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a row: shares with intervals clustered by family, and counts.

    A figure that has nothing to be divided by is ``None``. One that fewer than ten families stand behind, or that is
    the same in each of them, has no interval (``amd.evaluate.estimates``).

    ``tools_per_tokens`` and ``arguments_per_tokens`` are calls covered for each 100 tokens shown. What is called
    ``over_random`` is a share less that of random records, task by task. ``precision`` and ``recall`` are of the top-1
    record's calls, repeated: by tool, by tool and argument names, and whole.
    """

    tasks: int
    families: int
    nothing_shown: int
    tokens: float
    own_family: int
    tools: Interval | None
    arguments: Interval | None
    tools_per_tokens: Interval | None
    arguments_per_tokens: Interval | None
    random_tokens: float
    random_tools: Interval | None
    random_arguments: Interval | None
    tools_over_random: Interval | None
    arguments_over_random: Interval | None
    precision: tuple[Interval | None, Interval | None, Interval | None]
    recall: tuple[Interval | None, Interval | None, Interval | None]
    hints: HintFigures
    random_hints: HintFigures


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """One method under one protocol: each task, each task with random records, each hint to a recorded error.

    ``random`` has ``draws`` entries for each entry of ``tasks``, draw after draw, and so has ``random_hints``.
    """

    method: str
    protocol: ArmProtocol
    draws: int
    tasks: tuple[TaskCoverage, ...]
    random: tuple[TaskCoverage, ...]
    hints: tuple[ErrorHint, ...]
    random_hints: tuple[ErrorHint, ...]

    @property
    def label(self) -> str:
        """The protocol, ``IN-SAMPLE`` where nothing is hidden."""
        return label_of(self.method, self.protocol)

    def figures(self, *, seed: int = 0) -> Figures:
        """Everything that is printed of a row; ``seed`` is that of the intervals' draws."""
        tasks = self.tasks

        def share(
            part: Callable[[TaskCoverage], float], whole: Callable[[TaskCoverage], float] = _one
        ) -> Interval | None:
            return _ratio(list(map(part, tasks)), list(map(whole, tasks)), [task.family for task in tasks], seed)

        return Figures(
            tasks=len(tasks),
            families=len({task.family for task in tasks}),
            nothing_shown=sum(not task.records for task in tasks),
            tokens=sum(task.tokens for task in tasks) / len(tasks),
            own_family=sum(task.own_family for task in tasks),
            tools=share(lambda task: task.tools),
            arguments=share(lambda task: task.arguments),
            tools_per_tokens=share(lambda task: _PER_TOKENS * task.tools * task.calls, lambda task: task.tokens),
            arguments_per_tokens=share(
                lambda task: _PER_TOKENS * task.arguments * task.calls, lambda task: task.tokens
            ),
            random_tokens=sum(task.tokens for task in self.random) / (len(self.random) or 1),
            random_tools=self._by_chance(lambda task: task.tools, seed),
            random_arguments=self._by_chance(lambda task: task.arguments, seed),
            tools_over_random=self._over_random(lambda task: task.tools, seed),
            arguments_over_random=self._over_random(lambda task: task.arguments, seed),
            precision=(
                share(lambda task: task.repeat.tools, lambda task: task.repeat.calls),
                share(lambda task: task.repeat.arguments, lambda task: task.repeat.calls),
                share(lambda task: task.repeat.whole, lambda task: task.repeat.calls),
            ),
            recall=(
                share(lambda task: task.repeat.tools, lambda task: task.calls),
                share(lambda task: task.repeat.arguments, lambda task: task.calls),
                share(lambda task: task.repeat.whole, lambda task: task.calls),
            ),
            hints=HintFigures.of(self.hints, seed),
            random_hints=HintFigures.of(self.random_hints, seed),
        )

    def _by_chance(self, part: Callable[[TaskCoverage], float], seed: int) -> Interval | None:
        families = [task.family for task in self.random]
        return _ratio(list(map(part, self.random)), [1] * len(families), families, seed)

    def _over_random(self, part: Callable[[TaskCoverage], float], seed: int) -> Interval | None:
        """The paired difference, task by task; nothing where no random record was drawn."""
        size, families = len(self.tasks), [task.family for task in self.tasks]
        if not self.draws:
            return None
        by_chance = [sum(map(part, self.random[at::size])) / self.draws for at in range(size)]
        more = [part(task) - chance for task, chance in zip(self.tasks, by_chance, strict=True)]
        return _ratio(more, [1] * size, families, seed)


def _one(task: TaskCoverage) -> float:  # noqa: ARG001 - a mean is a ratio whose wholes are all 1
    return 1


def _ratio(parts: Sequence[float], wholes: Sequence[float], families: Sequence[str], seed: int) -> Interval | None:
    return clustered_ratio(parts, wholes, families, seed=seed, resamples=_DRAWS)
