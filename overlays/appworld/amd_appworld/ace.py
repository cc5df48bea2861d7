"""The agent ``amd_memory_react`` in the runner of ace-appworld: its own ReAct agent, with memory.

Nothing of that runner is replaced: importing this module puts the agent into its table, and two methods are overridden.
The runner finds an agent only if it is registered, so import this before an experiment is run::

    import amd_appworld.ace
    from appworld_experiments.code.ace.run import run_experiment

    run_experiment("amd", {"run_type": "non-ace-evaluation", "agent": {"type": "amd_memory_react",
        "arm": {"memory": "memory", "protocol": "self-excluded"}, ...}, "task_ids": [...]})

It needs ace-appworld's own environment: AppWorld on pydantic 2, and this library beside it.
"""

from __future__ import annotations

import dataclasses
import json
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from appworld.common.path_store import path_store
from appworld_experiments.code.ace.base_agent import BaseAgent
from appworld_experiments.code.ace.base_react import BaseSimplifiedReActAgent

from amd.arms import Arm, Message, replace_text
from amd_appworld.api_docs import ApiDocs
from amd_appworld.exposures import exposures_file
from amd_appworld.root import Root
from amd_appworld.sources import check_sources
from amd_appworld.student import TaskMemory
from amd_appworld.words import words_beside

__all__ = ["MemoryReActAgent"]


@BaseAgent.register("amd_memory_react")
class MemoryReActAgent(BaseSimplifiedReActAgent):  # type: ignore[misc]  # the runner is no typed package
    """The runner's ReAct agent, with a memory or without one.

    Args:
        arm: the settings of an arm, as ``Arm.of`` takes them.
        allow_test_source: take a memory that holds runs of test tasks.
        more: the runner's own.
    """

    messages: list[Message]
    num_instruction_messages: int

    def __init__(self, arm: Mapping[str, Any], *, allow_test_source: bool = False, **more: Any) -> None:  # noqa: ANN401 - the runner's own
        super().__init__(**more)
        # Opened before there is a world: with one the clock stands still.
        self._opened = Arm.of(arm).open()
        weakref.finalize(self, self._opened.close)  # the runner tells no agent that it has ended
        check_sources(self._opened, Root(Path(path_store.root)), allowed=allow_test_source)
        self._memory: TaskMemory | None = None
        self._code = ""
        self._sent = 0

    def initialize(self, world: Any) -> None:  # noqa: ANN401 - the runner's own
        """Begin a task. The block goes in when the prompt is made: in its template it could pose as a speaker."""
        super().initialize(world)
        self._memory = TaskMemory(world.task_id, self._opened, ApiDocs.of(world.task.api_docs))
        shown = self._memory.begin(world.task.instruction, self.messages)
        # The runner shortens what comes behind the prompt, and counts the prompt's messages.
        self.num_instruction_messages += len(shown) - len(self.messages)
        self.messages = shown
        self._code, self._sent = "", len(world.requester.requests)
        self._keep(self._memory)

    def next_execution_inputs_and_cost(self, last_execution_outputs: Any) -> Any:  # noqa: ANN401 - the runner's own
        """Ask the model, with a hint behind the last output if a call in it failed."""
        memory = self._memory
        assert memory is not None  # a task has begun
        if last_execution_outputs:
            last_execution_outputs = [self._hinted(memory, last_execution_outputs[0])]
            self._keep(memory)
        inputs, cost = super().next_execution_inputs_and_cost(last_execution_outputs)
        self._code = inputs[0].content
        return inputs, cost

    def _hinted(self, memory: TaskMemory, output: Any) -> Any:  # noqa: ANN401 - the runner's own
        requests = self.world.requester.requests
        last = requests[-1] if len(requests) > self._sent else None
        self._sent = len(requests)
        words = words_beside(self.messages[-1]["content"], self._code)
        content = memory.after(self._code, output.content, last, reasoning=words)
        # The runner closes its fence right behind what it is given.
        return output if content == output.content else dataclasses.replace(output, content=f"{content}\n")

    def _keep(self, memory: TaskMemory) -> None:
        """Write down what the task was shown so far: the runner records nothing of it."""
        log = memory.log()
        assert log is not None
        path = exposures_file(Path(self.world.base_output_directory), log.task_id)
        replace_text(path, json.dumps({"amd": log.as_json()}) + "\n")
