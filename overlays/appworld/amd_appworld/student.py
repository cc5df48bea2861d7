"""The student's side of one task: memory before it begins, and a hint behind the output of a call that failed.

Free of AppWorld and of HTTP, so that our own loop and an agent in another runner use the same object.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from amd import FailedCall, Session, Task, append_hint, prepend_memory
from amd.arms import Message, OpenArm, RunLog, writes_placeholder
from amd.errors import ConfigError
from amd_appworld.api_docs import ApiDocs
from amd_appworld.code import CodeCall, Names, read_cell
from amd_appworld.failing import Failure, failing_api
from amd_appworld.tasks import BENCHMARK, family

__all__ = ["TaskMemory", "check_mode"]

Request: TypeAlias = Mapping[str, object]
"""A request that a cell sent to the apps, with ``method`` and ``url``."""

_NAME = re.compile(r"(?<![\w.@])(?P<name>\w+\.\w+)(?!\w)")


def check_mode(mode: str) -> None:
    """Refuse a mode that asks at each turn of the user: a task of AppWorld has one.

    Raises:
        ConfigError: the mode is another one than ``static``.
    """
    if mode != "static":
        raise ConfigError(
            f"mode {mode!r} asks at each turn of the user, and a task of AppWorld has one turn",
            next_step="use --mode static",
        )


class TaskMemory:
    """Used by one thread, from the first request of a task to its last cell; without memory it changes nothing.

    Args:
        task_id: the task, which the model is never told.
        opened: the arm, open. Its mode is ``static``: a task of AppWorld has one user turn.
        docs: the APIs of the world.

    Raises:
        ConfigError: the task is none of AppWorld's, or the mode is another one.
    """

    def __init__(self, task_id: str, opened: OpenArm, docs: ApiDocs) -> None:
        scenario = family(task_id)
        if scenario is None:
            raise ConfigError(f"{task_id!r} is no task of AppWorld's", next_step="a task is such as '82e2fac_1'")
        check_mode(opened.arm.mode)
        self._task = Task(BENCHMARK, task_id, scenario, "")
        self._opened = opened
        self._docs = docs
        self._known = {tool.name for tool in docs.tools}
        self._session: Session | None = None
        self._began = False
        self._names = Names()
        self._step = 0
        self._calls = self._failed = self._hints = self._placeholders = 0

    def begin(self, instruction: str, messages: Sequence[Message]) -> list[Message]:
        """The messages of the first request with memory; the same ones where there is none.

        Args:
            instruction: the task's own words.
            messages: what the model is asked with, the system message first if there is one.
        """
        self._task = replace(self._task, instruction=instruction)
        self._session = self._opened.session(
            self._task, tools=self._docs.tools, call_format="python", wording=self._worded
        )
        self._began = True
        if self._session is None:
            return list(messages)
        return prepend_memory(messages, self._session.before_task(instruction))

    def after(
        self,
        code: str,
        output: str,
        last_request: Request | None = None,
        *,
        reasoning: str = "",
        shown: str | None = None,
    ) -> str:
        """What the model is shown of a cell's output, with a hint behind it if an API failed and the memory knows it.

        Args:
            code: the cell.
            output: what the environment answered, whole.
            last_request: the last request that this cell sent; ``None`` if it sent none, or if nobody knows.
            reasoning: the model's words before the cell.
            shown: what the model is shown without memory; the output if left out.
        """
        self._step += 1
        cell = read_cell(code, self._names)
        failure = failing_api(code, output, last_request=last_request, docs=self._docs, before=self._names)
        self._names = cell.names
        self._calls += len(cell.calls)
        self._placeholders += sum(writes_placeholder(call.written) for call in cell.calls)
        found = failure if failure is not None and failure.hinted else None
        self._failed += found is not None
        content = output if shown is None else shown
        if found is None or self._session is None:
            return content
        block = self._hint(self._session, found, cell.calls, reasoning)
        self._hints += bool(block)
        return append_hint(content, block) if block else content

    def log(self) -> RunLog | None:
        """What was shown so far; ``None`` before the task began."""
        if not self._began:
            return None
        return RunLog.of(
            self._opened,
            self._task,
            self._session,
            calls=self._calls,
            failed_calls=self._failed,
            hints=self._hints,
            placeholders=self._placeholders,
            system_changes=0,
        )

    def _hint(self, session: Session, failure: Failure, calls: Sequence[CodeCall], reasoning: str) -> Any:  # noqa: ANN401 - a block of the library
        assert failure.api is not None
        # Of several calls of one API the last one before the failing line is likeliest to be the one that failed.
        own = [call for call in calls if call.api == failure.api]
        reached = [call for call in own if failure.site is None or call.site <= failure.site] or own
        failed = FailedCall(
            failure.api,
            reached[-1].written if reached else {},
            failure.error,
            reasoning=reasoning,
            turn_text=self._task.instruction,
            place=str(self._step),
        )
        if failure.api in self._known:
            return session.after_error(failed)
        # For a name that is not there the session names the nearest that are offered: those of that app.
        app, _, api = failure.api.partition(".")
        near = set(self._docs.nearest(app, api))
        session.offer_tools([tool for tool in self._docs.tools if tool.name in near])
        block = session.after_error(failed)
        session.offer_tools(self._docs.tools)
        return block

    def _worded(self, text: str, said: str) -> str:
        """A piece with the APIs as a cell writes them, ``apis.app.api``; an example's reply in a block of code."""
        text = _NAME.sub(lambda match: f"apis.{match['name']}" if match["name"] in self._known else match[0], text)
        return f"```python\n{text}\n```" if said == "assistant" else text
