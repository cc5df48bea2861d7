"""The reader of AppWorld's runs, format ``appworld``: each task's folder in an experiment is one run of that task.

``amd build appworld EXPERIMENT_DIR``, where EXPERIMENT_DIR is ``experiments/outputs/NAME`` or any folder above
several. Code and answers come from the environment's own log, the agent's words from the log of its model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from amd.errors import TrajectoryError
from amd.traces import Item, Kind, Note, Outcome, ReaderOptions, Refusal, Source, Task, Trajectory, Turn
from amd_appworld.evaluations import Verdict, outcome_of, read_evaluations, read_report
from amd_appworld.experiments import INTERACTIONS, LM_CALLS, REQUESTS, find_experiments, task_folders
from amd_appworld.exposures import ORACLE, memory_assisted, student_of
from amd_appworld.files import bytes_of
from amd_appworld.interactions import Interactions, read_interactions
from amd_appworld.lm_calls import LmCalls, read_lm_calls
from amd_appworld.root import Root
from amd_appworld.sent_requests import read_log
from amd_appworld.steps import to_steps
from amd_appworld.tasks import BENCHMARK, family, is_test
from amd_appworld.words import align, words_beside

__all__ = ["AppWorldOptions", "AppWorldReader", "reader"]


class AppWorldOptions(ReaderOptions):
    """How to read AppWorld's runs."""

    root: str = Field(
        "",
        description="AppWorld's root, whose data/ has the tasks; the nearest folder above the experiment if not given",
    )
    """AppWorld's root, whose ``data/`` has the tasks."""
    teacher: str = Field(
        "", description="the name of the agent that made the runs; the model in lm_calls.jsonl if not given"
    )
    """The name of the agent that made the runs."""
    kind: Literal["teacher", "student"] = Field("teacher", description="who made the runs")
    """Who made the runs; those that play AppWorld's own solutions are always an oracle's."""
    allow_test_source: bool = Field(
        default=False,
        description="take runs of test_normal and test_challenge too, which AppWorld's rules keep for scoring alone",
    )
    """Take runs of the test datasets too."""


class AppWorldReader:
    """Reads the folders that AppWorld writes for experiments."""

    name = BENCHMARK
    benchmark = BENCHMARK
    options = AppWorldOptions

    def read(self, paths: Sequence[Path], options: AppWorldOptions) -> Iterator[Item]:
        """One trajectory or refusal for each task's folder; runs of a task in several experiments are its trials.

        Raises:
            TrajectoryError: A path is not there, cannot be looked at, or holds no experiment.
            ConfigError: The root has no tasks, or its API documents are of another shape.
        """
        given = Root.of(Path(options.root)) if options.root else None
        worlds: dict[Path, Root] = {}
        for experiment in find_experiments(paths):
            world = given or Root.above(experiment)
            if world is not None:
                world = worlds.setdefault(world.data, world)  # what was read of it is read once
            yield from _Experiment(experiment, world, options).items()


class _Experiment:
    """The reading of one experiment."""

    def __init__(self, path: Path, world: Root | None, options: AppWorldOptions) -> None:
        self._path, self._world, self._options = path, world, options
        self._evaluations = read_evaluations(path)
        self._student = student_of(path)

    def items(self) -> Iterator[Item]:
        """One item for each task, with notes in between."""
        tasks = task_folders(self._path)
        left = set(self._evaluations.verdicts) - {task.name for task in tasks}
        notes = {
            "evaluation_without_run": len(left),
            "unreadable_evaluation": self._evaluations.unreadable,
            "no_datasets": int(self._world is None or not self._world.lists),
        }
        yield from (Note(name, count) for name, count in notes.items() if count)
        for task in tasks:
            try:
                yield from self._run(task)
            except TrajectoryError as error:
                yield Refusal("unreadable", str(task / INTERACTIONS), str(error), task.name)

    def _run(self, folder: Path) -> Iterator[Item]:
        where = str(folder / INTERACTIONS)
        task = self._task(folder)
        kept = self._kept_for_scoring(task.split)
        if kept and not self._options.allow_test_source:
            reason, said = kept
            yield Refusal(reason, where, f"{said}; --allow-test-source takes it", task.task_id)
            return
        content = _content(folder / INTERACTIONS)
        calls = read_lm_calls(folder / LM_CALLS)
        log = read_interactions(content.decode("utf-8", "replace"), calls.replies if calls else ())
        texts, notes = _texts(log, calls)
        docs = self._world.docs if self._world else None
        requests = read_log(folder / REQUESTS)
        steps = to_steps(log.cells, texts, docs, requests.by_api(docs))
        notes |= {**steps.notes, "unknown_split": int(task.split is None and bool(kept))}
        yield from (Note(name, count) for name, count in notes.items() if count)
        try:
            ended = self._outcome(folder, has_steps=bool(log.cells))
        except TrajectoryError as error:
            yield Refusal("score_mismatch", where, str(error), task.task_id)
            return
        tools = docs.tools if docs else None
        source = self._source(folder, content, calls)
        turns = (Turn(task.instruction, steps.steps),)
        yield Trajectory(task, turns, tools, ended, source, beside=(*requests.held, *steps.printed))

    def _kept_for_scoring(self, split: str | None) -> tuple[str, str] | None:
        """Why a task of this dataset may not be learned from, if so: the reason, and what is to be said of it.

        A task that no list names may be one of a test set whose list is missing. Without any list nothing can be told.
        """
        if is_test(split):
            return "test_source", f"a task of {split}, which is kept for scoring"
        if split is None and self._world is not None and self._world.lists:
            return "unknown_split", f"none of the datasets {', '.join(self._world.lists)} names this task"
        return None

    def _task(self, folder: Path) -> Task:
        """The task of a folder.

        Raises:
            TrajectoryError: It is none of AppWorld's, or nobody says what it asks.
        """
        own_family = family(folder.name)
        if own_family is None:
            raise TrajectoryError(f"{folder.name!r} is no task of AppWorld")
        instruction = self._world.instruction(folder.name) if self._world else None
        if instruction is None:
            place = self._world.data if self._world else "any folder above"
            raise TrajectoryError(
                f"no instruction: data/tasks/{folder.name}/specs.json is not in {place}",
                next_step="name AppWorld's root with --root",
            )
        assert self._world is not None
        return Task(BENCHMARK, folder.name, own_family, instruction, self._world.split(folder.name))

    def _outcome(self, folder: Path, *, has_steps: bool) -> Outcome:
        """How the run ended; ``TrajectoryError`` if what was written of it contradicts itself."""
        told = self._evaluations.verdicts.get(folder.name)
        report = read_report(folder)
        if folder.name in self._evaluations.disputed:
            raise TrajectoryError("two evaluations of the experiment judge it differently")
        if told is not None and report is not None and told.success != report.success:
            raise TrajectoryError(f"the evaluation says {_said(told)}, the task's own report {_said(report)}")
        verdict = told or report
        if verdict is not None and verdict.success and not has_steps:
            raise TrajectoryError("scored as a success, and the agent did nothing")
        return outcome_of(verdict)

    def _source(self, folder: Path, content: bytes, calls: LmCalls | None) -> Source:
        models = calls.models if calls else ()
        kind: Kind = "oracle" if ORACLE in (self._student, *models) else self._options.kind
        seen = calls.memory if calls else False
        return Source(
            teacher=self._options.teacher or " + ".join(models) or self._student or "unknown",
            run_id=self._path.resolve().name,
            path=str(folder / INTERACTIONS),
            sha256=hashlib.sha256(content + "\0".join(calls.replies if calls else ()).encode()).hexdigest(),
            kind=kind,
            memory_assisted=memory_assisted(self._path, folder.name, kind, seen=seen),
            terms=self._world.terms if self._world else None,
        )


def _said(verdict: Verdict) -> str:
    return "success" if verdict.success else "failure"


def _content(path: Path) -> bytes:
    try:
        return bytes_of(path)
    except OSError as error:
        raise TrajectoryError(f"{path.name} cannot be read: {error.strerror}") from error


def _texts(log: Interactions, calls: LmCalls | None) -> tuple[list[str], dict[str, int]]:
    """The agent's words to each cell, and what is worth a count.

    Code and answers are certain by themselves, so that words which cannot be told apart are left out, and the run
    stays. More cells than replies are another thing: an answer may have forged one.

    Raises:
        TrajectoryError: There are more cells than replies, and some cell's code is in none of them.
    """
    notes = {"torn_log": int(log.torn)}
    none = [""] * len(log.cells)
    if calls is None:
        return none, notes | {"no_lm_calls": 1}
    if calls.faults:
        return none, notes | {"unreadable_lm_calls": calls.faults}
    places = align(log.cells, calls.replies)
    if places is None:
        more = len(log.cells) - len(calls.replies)
        if more > int(calls.torn):
            raise TrajectoryError(
                f"the log has {len(log.cells)} cells, the model gave {len(calls.replies)} replies, "
                "and some cell's code stands in none of them",
            )
        return none, notes | {"replies_do_not_match": 1}
    texts = [words_beside(calls.replies[place], cell.code) for place, cell in zip(places, log.cells, strict=True)]
    repeated = [at > 0 and places[at] == places[at - 1] for at in range(len(places))]
    lost = len(calls.replies) - 1 - places[-1] if places else len(calls.replies)
    return ["" if again else text for text, again in zip(texts, repeated, strict=True)], notes | {"cells_lost": lost}


reader = AppWorldReader()
