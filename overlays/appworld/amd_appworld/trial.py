"""One task, from the first request to its evaluation; a world that breaks is begun anew once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from amd.arms import Message, OpenArm
from amd.clients import OF_THE_REQUEST, ChatModel, Completion
from amd.errors import ClientError
from amd_appworld.answers import Briefing, EnvironmentGone, EnvironmentRefused
from amd_appworld.api_docs import ApiDocs
from amd_appworld.environment import Environment
from amd_appworld.prompt import ONE_BLOCK, ReplyCell, cell_of, first_messages, observed, without_cell
from amd_appworld.request_log import RequestLog
from amd_appworld.run import Ended, Ending, Run
from amd_appworld.seat import Seat
from amd_appworld.standing import Results
from amd_appworld.student import TaskMemory
from amd_appworld.words import words_beside

__all__ = ["SharedDocs", "Stopped", "Table", "Unanswered", "play_task"]


class Stopped(Exception):
    """The run is being stopped; the task has no result."""


class Unanswered(ClientError):
    """The model refused a task's first request: what is wrong may be the request's own, or every request's."""


class SharedDocs:
    """The documents of the APIs, kept for all workers once one of them has been told."""

    def __init__(self) -> None:
        self._docs: ApiDocs | None = None

    def of(self, environment: Environment) -> ApiDocs:
        """The documents; every server of a root has the same, and none is waited for on another's behalf."""
        if self._docs is None:
            self._docs = ApiDocs.of(environment.api_docs())
        return self._docs


@dataclass(frozen=True, slots=True)
class Table:
    """What all tasks of a run share."""

    run: Run
    opened: OpenArm
    model: ChatModel
    results: Results
    stopping: Callable[[], bool]
    docs: SharedDocs = field(default_factory=SharedDocs)


def play_task(task_id: str, table: Table, seat: Seat, *, gradable: bool) -> None:
    """Play a task and keep what came of it.

    Args:
        task_id: the task.
        table: what it shares with others.
        seat: this worker's.
        gradable: whether there is a ground truth.

    Raises:
        EnvironmentGone, EnvironmentRefused: the world broke a second time, or cannot evaluate; the task has no result.
        Unanswered: the model refused its first request; it has none either.
        ClientError: the model's service is down, or refuses everything.
        Stopped: the run ends.
    """
    trial = _Trial(task_id, table, gradable=gradable)
    try:
        trial.play(seat.environment())
    except (EnvironmentGone, EnvironmentRefused) as fault:
        seat.reset()
        # An evaluation that is refused would be refused again; a server that died in one may have died by chance.
        if table.stopping() or (trial.evaluating and isinstance(fault, EnvironmentRefused)):
            raise
        _Trial(task_id, table, gradable=gradable).play(seat.environment())


class _Trial:
    """One try. ``evaluating`` says that it was played to its end."""

    def __init__(self, task_id: str, table: Table, *, gradable: bool) -> None:
        self.evaluating = False
        self._task_id = task_id
        self._table = table
        self._gradable = gradable
        self._logs = table.run.tasks / task_id / "logs"
        self._requests = RequestLog(self._logs / "api_calls.jsonl")
        self._steps = self._left_out = self._prompt_tokens = self._completion_tokens = 0

    def play(self, environment: Environment) -> None:
        """From the first request to the evaluation."""
        run, task_id = self._table.run, self._task_id
        self._table.results.forget(task_id)
        memory = TaskMemory(task_id, self._table.opened, self._table.docs.of(environment))
        briefing = environment.initialize(task_id, run.path.name, ground_truth=self._gradable)
        self._requests.last_new()  # what a world asks by itself is no cell's
        ended = self._talk(environment, memory, briefing)
        environment.save_logs(task_id)
        log = memory.log()
        ending = Ending(
            amd=log.as_json() if log else None,
            ended=ended,
            steps=self._steps,
            unscored=not self._gradable,
            left_out=self._left_out,
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
        )
        # Before the evaluation, which leaves a report: a scored run that says nothing of its memory is no use.
        run.keep_ending(task_id, ending)
        self.evaluating = True
        if self._gradable:
            self._table.results.keep(task_id, environment.evaluate(task_id))

    def _talk(self, environment: Environment, memory: TaskMemory, briefing: Briefing) -> Ended:
        """Ask, run, tell, until the task is declared done; how it ended."""
        messages = memory.begin(briefing.instruction, first_messages(briefing))
        for _ in range(self._table.run.settings.max_steps):
            if self._table.stopping():
                raise Stopped
            completion = self._asked(messages)
            if completion is None:
                return "refused"
            self._steps += 1
            cut = completion.finish_reason == "length"
            cell = cell_of(completion.text, cut=cut)
            # A reply without a cell is a cell without code: so the logs of replies and of cells stay in step.
            output = environment.execute(self._task_id, cell.code if cell else "")
            shown, left_out = observed(output, *_notes(cell, cut=cut))
            self._left_out += left_out
            last, words = self._requests.last_new(), words_beside(completion.text, cell.code if cell else "")
            told = memory.after(cell.code if cell else "", output, last, reasoning=words, shown=shown)
            said = cell.said if cell else completion.text
            messages += [{"role": "assistant", "content": said}, {"role": "user", "content": told}]
            if environment.completed(self._task_id):
                return "completed"
        return "max_steps"

    def _asked(self, messages: Sequence[Message]) -> Completion | None:
        """The model's answer, written down; ``None`` if it answered before and refuses this one request."""
        settings = self._table.run.settings
        try:
            completion = self._table.model.complete(messages, max_tokens=settings.max_tokens)
        except ClientError as refusal:
            if refusal.status not in OF_THE_REQUEST:
                raise
            if self._steps:
                return None
            raise Unanswered(refusal.message, next_step=refusal.next_step, status=refusal.status) from refusal
        self._prompt_tokens += completion.usage.prompt_tokens
        self._completion_tokens += completion.usage.completion_tokens
        name = f"{self._task_id}-{self._steps + 1}"
        _append(self._logs / "lm_calls.jsonl", _line(name, settings.agent.name, messages, completion))
        return completion


def _notes(cell: ReplyCell | None, *, cut: bool) -> tuple[str, ...]:
    if cell is None:
        return (without_cell(cut=cut),)
    return (ONE_BLOCK,) if cell.more else ()


def _line(name: str, model: str, messages: Sequence[Message], completion: Completion) -> str:
    """A call in the shape in which AppWorld's own agents write theirs; nobody tells us what it cost."""
    asked, said = completion.usage.prompt_tokens, completion.usage.completion_tokens
    message = {"role": "assistant", "content": completion.text}
    output = {
        "id": name,
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "finish_reason": completion.finish_reason, "message": message}],
        "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
        "cost": 0.0,
    }
    return json.dumps({"id": name, "input": {"model": model, "messages": [*messages]}, "output": output})


def _append(path: Path, line: str) -> None:
    """Write a line behind those that are there, down to the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(line + "\n")
        file.flush()
        os.fsync(file.fileno())
