"""A real student in a loop of its own: tool calls by schema, a memory before the task, a hint after a failed call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import amd
from amd.clients import ChatModel, call_schema, read_call
from amd.traces import load_reader
from amd.trajectory import ToolSpec

RUNS = Path(__file__).resolve().parents[2] / "examples" / "runs.json"
STEPS = 3


def tool(name, description, **properties):
    """A tool that takes nothing but these."""
    parameters = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    return ToolSpec(name, description, parameters)


BED = {"type": "integer", "minimum": 1, "maximum": 9}
READ = tool("readMoisture", "Measure how wet the soil of a bed is.", bed=BED)
TOOLS = (
    READ,
    tool("openValve", "Let water into a bed.", bed=BED, minutes={"type": "integer", "minimum": 1, "maximum": 60}),
    tool("closeValve", "Stop the water of a bed.", bed=BED),
)
TASK = amd.Task("openai-chat", "shed-12", "shed-12", "Water the herbs in bed 4 and tell me how wet the soil is.")


@pytest.fixture
def memory(tmp_path):
    """What the example's teacher learnt in the same garden."""
    reader = load_reader("openai-chat")
    amd.build_memory(reader.read([RUNS], reader.options()), tmp_path / "m", embedder=amd.load_embedder("hash"))
    with amd.open_memory(tmp_path / "m") as opened:
        yield opened


def fits(arguments, schema):
    """Whether whole numbers stand under these names, and nothing else."""
    return set(arguments) == set(schema["properties"]) and all(type(value) is int for value in arguments.values())


def test_a_student_calls_tools_by_schema_and_reads_a_hint(served, memory):
    """Each answer is a call of an offered tool with arguments of its schema; what was shown is logged and was sent."""
    session = amd.Session(memory, viewer=amd.self_excluded(TASK), tools=TOOLS)
    messages = [{"role": "user", "content": TASK.instruction}]
    messages = list(amd.prepend_memory(messages, session.before_task(TASK.instruction)))
    parameters = {each.name: each.parameters for each in TOOLS}
    prompts = []
    with ChatModel(served.model, base_url=served.url, timeout=600) as student:
        for step in range(STEPS):
            # The first call is one whose failure the memory knows: so small a student chooses at random.
            offered = (READ,) if step == 0 else TOOLS
            completion = student.complete(messages, max_tokens=128, schema=call_schema(offered))
            assert completion.finish_reason == "stop"
            name, arguments = read_call(completion.text)
            assert name in {each.name for each in offered}
            assert fits(arguments, parameters[name])
            prompts.append(completion.usage.prompt_tokens)
            answer = "Error: sensor of bed 4 is asleep, open a valve first" if step == 0 else '{"ok": true}'
            if step == 0:
                failed = amd.FailedCall(name, arguments, answer, place=step)
                answer = amd.append_hint(answer, session.after_error(failed))
                assert "was repaired before" in answer
            messages += [
                {"role": "assistant", "content": json.dumps({"name": name, "arguments": arguments})},
                {"role": "user", "content": answer},
            ]
    assert prompts == sorted(set(prompts))  # what was added was read
    assert {exposure.tier for exposure in session.exposures if exposure.record_ids} >= {"workflow", "function"}
    assert all(TASK.family not in exposure.families for exposure in session.exposures)


def test_a_memory_is_part_of_the_prompt(served, memory):
    """By the server's own count."""
    session = amd.Session(memory, viewer=amd.self_excluded(TASK), tools=TOOLS)
    bare = [{"role": "user", "content": TASK.instruction}]
    shown = amd.prepend_memory(bare, session.before_task(TASK.instruction))
    with ChatModel(served.model, base_url=served.url, timeout=600) as student:
        without, with_memory = (
            student.complete(messages, max_tokens=1).usage.prompt_tokens for messages in (bare, shown)
        )
    assert with_memory > without + 40
