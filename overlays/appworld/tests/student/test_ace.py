"""The agent for ace-appworld's runner, in stand-ins for the three modules of that tree which it touches."""

from __future__ import annotations

import gc
import importlib
import json
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
from greenhouse import DOCS, TEST, TRAIN, garden_run, instruction_of

import amd
from amd.errors import ConfigError, LeakageError

TASK = TRAIN[0]
# Each does what the runner's own does, as far as the agent sees it: a table, a prompt, fences, one reply a step.
RUNNER = {
    "appworld/common/path_store.py": """
from types import SimpleNamespace
path_store = SimpleNamespace(root=None)
""",
    "appworld_experiments/code/ace/base_agent.py": """
class BaseAgent:
    table = {}

    @classmethod
    def register(cls, name):
        return lambda agent: cls.table.setdefault(name, agent)
""",
    "appworld_experiments/code/ace/base_react.py": """
from dataclasses import dataclass, field
from .base_agent import BaseAgent

@dataclass(frozen=True)
class ExecutionIO:
    content: str
    metadata: dict = field(default_factory=dict)

class BaseSimplifiedReActAgent(BaseAgent):
    def __init__(self, replies):
        self.replies = list(replies)

    def initialize(self, world):
        self.world = world
        self.messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go."}]
        self.num_instruction_messages = len(self.messages)

    def next_execution_inputs_and_cost(self, last_execution_outputs):
        if last_execution_outputs:
            said = last_execution_outputs[0].content
            self.messages.append({"role": "user", "content": f"Output:\\n```\\n{said}```\\n\\n"})
        reply = self.replies.pop(0)
        self.messages.append({"role": "assistant", "content": reply})
        return [ExecutionIO(reply.partition("```python\\n")[2].partition("```")[0])], 0.5
""",
}
CODE = "print(apis.garden.show_beds())"
REPLIES = (f"I look.\n```python\n{CODE}\n```", "Done.\n```python\napis.supervisor.complete_task()\n```")
DENIED = (
    f'Execution failed. Traceback:\n  File "<python-input>", line 1, in <module>\n    {CODE}\n'
    'Exception: Response status code is 401:\n{"message":"You are not authorized."}'
)
REQUEST = {"method": "get", "url": "/garden/beds", "data": {}}


@pytest.fixture
def ace(tmp_path, root, monkeypatch):
    """The module, imported into the stand-in runner; nothing of either stays behind."""
    for name, text in RUNNER.items():
        path = tmp_path / "runner" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "runner")
    before = set(sys.modules)
    found = importlib.import_module("amd_appworld.ace")
    importlib.import_module("appworld.common.path_store").path_store.root = str(root.path)
    yield found
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("appworld", "appworld_experiments") or name == "amd_appworld.ace":
            del sys.modules[name]


@pytest.fixture
def agent(ace):
    """An agent, made as the runner makes it: by its registered name, with the settings of its configuration."""

    def make(arm, replies=REPLIES, **more):
        return ace.BaseAgent.table["amd_memory_react"](arm=arm, replies=replies, **more)

    return make


@dataclass
class World:
    """What the runner gives an agent of a task's world."""

    task_id: str
    base_output_directory: str
    task: SimpleNamespace = None
    requester: SimpleNamespace = field(
        default_factory=lambda: SimpleNamespace(requests=[{"method": "get", "url": "/"}])
    )

    def __post_init__(self):
        """The task's own words, and the documents of the garden."""
        self.task = SimpleNamespace(instruction=instruction_of(self.task_id), api_docs=DOCS)


@pytest.fixture
def world(tmp_path):
    """A world of a task."""
    return lambda task_id=TASK: World(task_id, str(tmp_path / "outputs"))


def output_of(ace, content):
    """What the runner gives of a cell."""
    return [importlib.import_module("appworld_experiments.code.ace.base_react").ExecutionIO(content)]


def log_of(tmp_path, task_id=TASK):
    """What was written of a task."""
    return json.loads((tmp_path / "outputs" / "exposures" / f"{task_id}.json").read_text())["amd"]


@pytest.mark.parametrize("layout", ["block", "turns"])
def test_memory_is_put_into_the_prompt_that_the_runner_made(agent, world, memory, tmp_path, layout):
    """The runner shortens what comes behind its prompt, and so must count examples as a part of it."""
    own = agent({"memory": str(memory), "layout": layout})
    own.initialize(world())
    assert own.messages[0]["content"].startswith("<memory>\n")
    assert own.messages[0]["content"].endswith("\n\nBe brief.")
    assert own.messages[-1] == {"role": "user", "content": "Go."}
    assert own.num_instruction_messages == len(own.messages)
    assert (len(own.messages) > 2) == (layout == "turns")
    log = log_of(tmp_path)
    assert (log["task_id"], log["method"], log["hints"]) == (TASK, "amd", 0)
    shown = [family for exposure in log["exposures"] for family in exposure.get("families", ())]
    assert shown
    assert TASK[:7] not in shown


def test_a_failed_call_has_a_hint_behind_its_output(ace, agent, world, memory, tmp_path):
    """Found by the requests of this cell alone; the fence that the runner writes stays on a line of its own."""
    own, its = agent({"memory": str(memory)}), world()
    own.initialize(its)
    (first,), cost = own.next_execution_inputs_and_cost([])
    assert (first.content, cost) == (f"{CODE}\n", 0.5)
    its.requester.requests.append(REQUEST)
    (second,), _ = own.next_execution_inputs_and_cost(output_of(ace, DENIED))
    assert second.content == "apis.supervisor.complete_task()\n"
    told = own.messages[-2]["content"]
    assert told.startswith(f"Output:\n```\n{DENIED}\n\n<memory_hint>\n")
    assert "apis.garden.show_beds(access_token=" in told
    assert told.endswith("</memory_hint>\n```\n\n")
    log = log_of(tmp_path)
    assert (log["calls"], log["failed_calls"], log["hints"]) == (1, 1, 1)


def test_a_request_of_an_earlier_cell_names_nothing(ace, agent, world, memory):
    """The positive control is the same cell after a request of its own."""
    code = "getattr(apis.garden, 'show_' + what)()"
    output = DENIED.replace(CODE, code)
    reply = f"```python\n{code}\n```"
    for requests, hinted in (((), False), ((REQUEST,), True)):
        own, its = agent({"memory": str(memory)}, (reply, reply)), world()
        its.requester.requests.append(REQUEST)
        own.initialize(its)
        own.next_execution_inputs_and_cost([])
        its.requester.requests.extend(requests)
        own.next_execution_inputs_and_cost(output_of(ace, output))
        assert ("apis.garden.show_beds(" in own.messages[-2]["content"]) == hinted


def test_without_memory_it_is_the_runners_own_agent(ace, agent, world, tmp_path):
    """The same messages, byte for byte; the same calls are counted."""
    own = agent({"method": "none"})
    plain = importlib.import_module("appworld_experiments.code.ace.base_react").BaseSimplifiedReActAgent(REPLIES)
    for each in (own, plain):
        each.initialize(world())
        each.next_execution_inputs_and_cost([])
        each.next_execution_inputs_and_cost(output_of(ace, DENIED))
    assert own.messages == plain.messages
    assert own.num_instruction_messages == plain.num_instruction_messages
    assert (log_of(tmp_path)["calls"], log_of(tmp_path)["method"]) == (1, "none")


def test_each_task_has_a_memory_of_its_own(agent, world, memory, tmp_path):
    """One agent plays them one after the other."""
    own = agent({"memory": str(memory)})
    for task_id in (TRAIN[0], TRAIN[2]):
        own.initialize(world(task_id))
        shown = {
            family for exposure in log_of(tmp_path, task_id)["exposures"] for family in exposure.get("families", ())
        }
        assert shown == {TRAIN[2 if task_id == TRAIN[0] else 0][:7]}


def test_a_memory_of_test_tasks_is_refused_unless_that_is_said(agent, tmp_path):
    """By the datasets of the runner's own root too."""
    amd.build_memory([garden_run(TEST[0], split=None)], tmp_path / "m", embedder=amd.load_embedder("hash"))
    with pytest.raises(LeakageError, match="test_normal"):
        agent({"memory": str(tmp_path / "m")})
    assert agent({"memory": str(tmp_path / "m")}, allow_test_source=True)


def test_the_memory_is_closed_with_the_agent(agent, memory):
    """The runner tells no agent that it has ended."""
    own = agent({"memory": str(memory)})
    opened = own._opened
    task = garden_run(TASK).task
    assert opened.session(task, tools=None, call_format="python")
    del own
    gc.collect()
    with pytest.raises(ConfigError, match="closed"):
        opened.session(task, tools=None, call_format="python")
