"""One result file, line by line: each becomes the run of a task, or a refusal with its reason.

What the benchmark knows of a task (the tools offered, the turns in which the user says nothing, the backends that a
missing log is rebuilt on) comes from the installed ``bfcl-eval``. Without it runs are read from their logs alone, and
their tools are unknown.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from amd.arms import RunLog
from amd.errors import TrajectoryError
from amd.traces import Conversation, Item, Kind, Line, Note, Refusal, Source, Task, Trajectory, Turn, read_jsonl
from amd_bfcl.backends import parameters_of
from amd_bfcl.conversation import to_conversation
from amd_bfcl.families import BENCHMARK, Category, category, family
from amd_bfcl.inference_log import LoggedTurn, read_log
from amd_bfcl.package import INSTALL, Package, find_package
from amd_bfcl.record import TEACHER
from amd_bfcl.replay import rebuild
from amd_bfcl.result_files import ResultFile
from amd_bfcl.scores import ScoreFile, Tasks, disagreement, fingerprint, outcome
from amd_bfcl.tasks import Entry, by_id, tasks

__all__ = ["Benchmark", "FileReading", "survey"]


def survey(file: ResultFile) -> Tasks:
    """The tasks of a file: what can only be known when all its lines were seen.

    ``TrajectoryError`` if it cannot be read.
    """
    tasks = Tasks()
    for number, item in enumerate(read_jsonl([file.path])):
        if isinstance(item, Line) and (task_id := _task_id(item)):
            found = fingerprint(item.value.get("result"))
            if tasks.fingerprints.get(task_id, found) != found:
                tasks.rewritten.add(task_id)
            tasks.last[task_id] = number
            tasks.fingerprints[task_id] = found
        elif not isinstance(item, Note):
            tasks.unreadable += 1
    return tasks


def _task_id(line: Line) -> str | None:
    found = line.value.get("id")
    return found if isinstance(found, str) and found else None


class Benchmark:
    """What the installed benchmark says of tasks; nothing where none is installed.

    ``ConfigError`` where another version than the one that was checked is, unless ``any_version``.
    """

    def __init__(self, *, any_version: bool = False) -> None:
        installed = importlib.util.find_spec("bfcl_eval") is not None
        self._package: Package | None = find_package(any_version=any_version) if installed else None

    @property
    def installed(self) -> bool:
        """Whether there is one: without it tools are unknown, and the harness's own words are taken for the user's."""
        return self._package is not None

    def families_that_say(self, words: str) -> frozenset[str]:
        """The families whose tasks begin with these words; none where the benchmark is not installed.

        A handler may have put a system prompt before them.
        """
        said = " ".join(words.split())
        known = _by_words(self._package) if self._package else {}
        return frozenset().union(*(families for own, families in known.items() if said.endswith(own)))

    def entry(self, task_id: str) -> Entry | None:
        """The entry of a task; ``None`` if the benchmark is not installed, or has no such task."""
        known = category(task_id)
        if self._package is None or known is None:
            return None
        return by_id(known, self._package).get(task_id)


@cache
def _by_words(package: Package) -> Mapping[str, frozenset[str]]:
    """First words of a task -> the families that begin with them."""
    found: dict[str, set[str]] = {}
    for name in Category:
        for task in tasks(name, package):
            found.setdefault(" ".join(task.instruction.split()), set()).add(task.family)
    return {words: frozenset(names) for words, names in found.items()}


class FileReading:
    """The reading of one result file, whose lines :func:`survey` has seen, with the score file that belongs to it.

    ``teacher`` names the agent; empty, it is the model's directory, or else the model that the score file names.
    """

    def __init__(
        self,
        file: ResultFile,
        tasks: Tasks,
        score: ScoreFile | None,
        benchmark: Benchmark,
        *,
        teacher: str = "",
        kind: Kind = "teacher",
    ) -> None:
        self._file, self._tasks, self._score, self._benchmark = file, tasks, score, benchmark
        named = next(iter(score.models), None) if score else None
        student = file.student
        self._teacher = teacher or student or file.model or named or "unknown"
        # Who plays the benchmark's answer key is nobody's teacher, wherever it was played.
        self._kind: Kind = "oracle" if student == TEACHER else kind
        self._mismatch = disagreement(score, file, tasks) if score else ""

    def items(self) -> Iterator[Item]:
        """One item for each line, with notes in between."""
        if not self._benchmark.installed and self._tasks.last:
            yield Note("read_without_the_benchmark", len(self._tasks.last))
        for number, item in enumerate(read_jsonl([self._file.path])):
            if not isinstance(item, Line):
                yield item
                continue
            task_id = _task_id(item)
            if task_id is None:
                yield Refusal("unreadable", item.where, "the line has no id")
            elif self._tasks.last.get(task_id) != number:
                yield Refusal("duplicate", item.where, "a later line of the file has the same id", task_id)
            else:
                yield from self._run(item, task_id)

    def _run(self, line: Line, task_id: str) -> Iterator[Item]:
        refusal = self._refusal(line, task_id)
        if refusal:
            yield refusal
            return
        entry = self._benchmark.entry(task_id)
        try:
            turns, rebuilt = _turns(line.value, entry)
            if any(turn.forced for turn in turns):
                yield Refusal("forced_quit", line.where, "the harness ended a turn that went on too long", task_id)
                return
            chat = to_conversation(turns, parameters_of(entry.classes) if entry else {})
            run, other_words = self._trajectory(line, task_id, chat, entry)
        except TrajectoryError as error:
            yield Refusal("unreadable", line.where, str(error), task_id)
            return
        notes = {**chat.notes, "replayed": int(rebuilt), "other_words_than_the_task": int(other_words)}
        yield from (Note(name, count) for name, count in notes.items() if count)
        yield run

    def _refusal(self, line: Line, task_id: str) -> Refusal | None:
        """Why a run is refused before its log is read."""
        result = line.value.get("result")
        if self._mismatch:
            return Refusal("score_mismatch", line.where, self._mismatch, task_id)
        if family(task_id) is None:
            reason = "unreadable" if self._score else "unscored"
            return Refusal(reason, line.where, f"{task_id!r} is no multi-turn task of BFCL", task_id)
        entry = self._benchmark.entry(task_id)
        if entry is not None and isinstance(result, list) and len(result) < len(entry.users):
            ended = f"the run ended after {len(result)} of {len(entry.users)} turns, which is never scored as right"
            return Refusal("failed", line.where, ended, task_id)
        if isinstance(result, str):
            return Refusal("inference_error", line.where, "the run ended with an error instead of a result", task_id)
        return None

    def _trajectory(self, line: Line, task_id: str, chat: Conversation, entry: Entry | None) -> tuple[Trajectory, bool]:
        """The run, and whether its first words are others than the task's."""
        turns = _with_own_words(chat.turns, entry)
        instruction, own_family = turns[0].user if turns else None, family(task_id)
        if own_family is None or instruction is None or not instruction.strip():
            raise TrajectoryError("the first turn has no words of the user, so there is no instruction")
        spoken = self._benchmark.families_that_say(instruction)
        if spoken and own_family not in spoken:
            raise TrajectoryError(f"it begins with the words of {min(spoken)!r}, and is said to be of {own_family!r}")
        run = Trajectory(
            Task(BENCHMARK, task_id, own_family, instruction),
            turns,
            entry.all_tools if entry else None,
            outcome(self._score, task_id, self._tasks),
            self._source(line, task_id, chat),
        )
        return run, entry is not None and entry.task.instruction != instruction

    def _source(self, line: Line, task_id: str, chat: Conversation) -> Source:
        return Source(
            teacher=self._teacher,
            run_id=self._file.run_id,
            path=line.where,
            sha256=line.sha256,
            kind=self._kind,
            memory_assisted=self._memory_assisted(line, task_id, chat),
        )

    def _memory_assisted(self, line: Line, task_id: str, chat: Conversation) -> bool | None:
        """Whether memory helped: text of ours proves it, the key ``amd`` of our own runs says it.

        A line of our own run directories without that key is unknown, and so is a student's.
        """
        if chat.memory_assisted:
            return True
        if "amd" in line.value:
            try:
                log = RunLog.read(line.value["amd"])
            except TrajectoryError:
                return None
            return log.memory_assisted if log.task_id == task_id else None
        return None if self._file.run or self._kind == "student" else False


def _turns(line: Mapping[str, Any], entry: Entry | None) -> tuple[list[LoggedTurn], bool]:
    """The turns of a line, from its log or, where that is missing, replayed; and whether they were."""
    result = line.get("result")
    if not isinstance(result, list) or not all(isinstance(steps, list) for steps in result):
        raise TrajectoryError("result is neither a text nor a list of turns, each a list of steps")
    turns = read_log(line.get("inference_log"))
    if not turns:
        if entry is None:
            raise TrajectoryError("there is no inference_log", next_step=f"to rebuild it, install: {INSTALL}")
        return rebuild(result, line.get("reasoning_content"), entry), True
    logged = [len(turn.steps) for turn in turns]
    if logged != [len(steps) for steps in result]:
        raise TrajectoryError(
            f"inference_log has {sum(logged)} steps in {len(logged)} turns, "
            f"result {sum(map(len, result))} in {len(result)}"
        )
    return turns, False


def _with_own_words(turns: Sequence[Turn], entry: Entry | None) -> tuple[Turn, ...]:
    """The turns with the user's own words, where the benchmark tells them from its harness's.

    In a turn that only brings tools the harness speaks for the user. Handlers of models without a system prompt put
    theirs, with every tool's document, before the user's first words.
    """
    if entry is None:
        return tuple(turns)
    silent = [place < len(entry.users) and entry.users[place] is None for place in range(len(turns))]
    own = [replace(turn, user=None) if no_words else turn for turn, no_words in zip(turns, silent, strict=True)]
    if own and own[0].user and own[0].user.endswith(entry.task.instruction):
        own[0] = replace(own[0], user=entry.task.instruction)
    return tuple(own)
