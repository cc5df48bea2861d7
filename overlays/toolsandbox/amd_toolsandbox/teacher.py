"""The reader of ToolSandbox's run folders, format ``toolsandbox``: each scenario's folder is one run of that scenario.

``amd build toolsandbox PATH...``, where PATH is a folder that the harness wrote, a run directory of ours, or any folder
above several of them. What the agent did comes from ``execution_context.json`` alone: ``conversation.json`` holds the
expected answers. The tools' schemas are recorded nowhere, so the tools of a run are unknown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from amd.errors import TrajectoryError
from amd.traces import Conversation, Item, Kind, Note, ReaderOptions, Refusal, Source, Task, Trajectory
from amd_toolsandbox.context import MOST_BYTES, MOST_MESSAGES, Context, read_context
from amd_toolsandbox.conversation import to_conversation
from amd_toolsandbox.exposures import memory_assisted, student_of
from amd_toolsandbox.families import BENCHMARK, family
from amd_toolsandbox.folders import CONTEXT, HarnessFolder, find_folders
from amd_toolsandbox.oracle.player import AGENT as ORACLE
from amd_toolsandbox.summary import Score, Scores, outcome, read_scores

__all__ = ["ToolSandboxOptions", "ToolSandboxReader", "reader"]


class ToolSandboxOptions(ReaderOptions):
    """How to read ToolSandbox's run folders."""

    success_score: float = Field(
        0.9,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="the least similarity of a success. Most scenarios compare the agent's last words with one "
        "sentence, so a task done rightly in other words stays below 1",
    )
    """The least similarity of a success."""
    teacher: str = Field(
        "", description="the name of the agent that made the runs; the model in the folder's name if not given"
    )
    """The name of the agent that made the runs."""
    kind: Literal["teacher", "student"] = Field("teacher", description="who made the runs")
    """Who made the runs; a folder of the scripted agent is always an oracle's."""


class ToolSandboxReader:
    """Reads the folders that the harness of ToolSandbox writes."""

    name = BENCHMARK
    benchmark = BENCHMARK
    options = ToolSandboxOptions

    def read(self, paths: Sequence[Path], options: ToolSandboxOptions) -> Iterator[Item]:
        """One trajectory or refusal for each scenario's folder; several runs of a scenario are its trials.

        Raises:
            TrajectoryError: A path is not there, cannot be looked at, or holds no runs.
        """
        for folder in find_folders(paths):
            yield from _FolderReading(folder, options).items()


class _FolderReading:
    """The reading of one of the harness's folders."""

    def __init__(self, folder: HarnessFolder, options: ToolSandboxOptions) -> None:
        self._folder, self._options = folder, options
        self._scores: Scores = read_scores(folder.path)
        # A folder may have been renamed; the run's own settings still say who played.
        self._kind: Kind = "oracle" if ORACLE in (folder.agent, student_of(folder.run)) else options.kind

    def items(self) -> Iterator[Item]:
        """One item for each scenario, with notes in between."""
        scenarios = self._folder.scenarios
        left = set(self._scores.rows) - {scenario.name for scenario in scenarios}
        notes = {**self._scores.notes, "summary_without_trajectory": len(left)}
        yield from (Note(name, count) for name, count in notes.items() if count)
        for scenario in scenarios:
            yield from self._run(scenario.name, scenario / CONTEXT)

    def _run(self, task_id: str, path: Path) -> Iterator[Item]:
        score = self._scores.rows.get(task_id)
        own_family = family(task_id)
        if own_family is None:
            yield Refusal("unreadable", str(path), f"{task_id!r} is no scenario of ToolSandbox", task_id)
            return
        if score is not None and score.infrastructure:
            yield Refusal("inference_error", str(path), f"a service failed: {score.exception_type}", task_id)
            return
        try:
            content = _content(path)
            context = read_context(content)
            chat = to_conversation(context)
            task = Task(BENCHMARK, task_id, own_family, _instruction(chat))
        except TrajectoryError as error:
            yield Refusal("unreadable", str(path), str(error), task_id)
            return
        yield from (Note(name, count) for name, count in _notes(context, chat).items() if count)
        yield self._scored(task, chat, context, score, self._source(path, task_id, content, chat))

    def _scored(
        self, task: Task, chat: Conversation, context: Context, score: Score | None, source: Source
    ) -> Trajectory | Refusal:
        """The run, unless what it is scored as cannot be: a summary made afterwards does not know that a run broke."""
        ended = outcome(score, self._options.success_score, self._scores.missing)
        if ended.success:
            fault = _unfinished(context, chat)
            if fault:
                return Refusal("score_mismatch", source.path, f"scored as a success, and {fault}", task.task_id)
        return Trajectory(task, chat.turns, None, ended, source)

    def _source(self, path: Path, task_id: str, content: bytes, chat: Conversation) -> Source:
        assisted = True if chat.memory_assisted else memory_assisted(self._folder.run, task_id, self._kind)
        return Source(
            teacher=self._options.teacher or self._folder.agent or "unknown",
            run_id=self._folder.name,
            path=str(path),
            sha256=hashlib.sha256(content).hexdigest(),
            kind=self._kind,
            memory_assisted=assisted,
        )


def _content(path: Path) -> bytes:
    """The bytes of a context; ``TrajectoryError`` if there are none to read, or far too many."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise TrajectoryError(f"no execution context: {size} bytes, where {MOST_BYTES} are the most")
        return path.read_bytes()
    except OSError as error:
        raise TrajectoryError(f"{path.name} cannot be read: {error.strerror}") from error


def _instruction(chat: Conversation) -> str:
    """The first words that the user says to the agent; never the brief, which may hold the answer."""
    said = next((turn.user for turn in chat.turns if turn.user and turn.user.strip()), None)
    if said is None:
        raise TrajectoryError("no message of the user's reaches the agent, so there is no instruction")
    return said


def _notes(context: Context, chat: Conversation) -> dict[str, int]:
    limit = context.active and context.played >= MOST_MESSAGES
    return {**chat.notes, "message_limit": int(limit)}


def _unfinished(context: Context, chat: Conversation) -> str:
    """Why a run cannot have succeeded, whatever its score; empty if it can."""
    if not any(turn.steps for turn in chat.turns):
        return "the agent said and did nothing"
    if context.active and context.played < MOST_MESSAGES:
        return f"it broke off after {context.played} messages"
    return ""


reader = ToolSandboxReader()
