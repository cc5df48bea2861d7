"""Asks a memory as each of the harness's 1032 scenarios, without a model; prints what was shown, as JSON.

``python ask_all.py MEMORY PROTOCOL...``. A process of its own: what the harness imports warns.
"""

from __future__ import annotations

import json
import sys

from amd.arms import Arm, RunLog, report
from amd_toolsandbox.families import family
from amd_toolsandbox.harness import load, resolve
from amd_toolsandbox.trial import Trial

FAILED = "TypeError: got an unexpected keyword argument 'no_such_argument'"


def first_request(scenario):
    """What the agent sees first in a scenario, the tools that it is offered, and how their names are told."""
    contexts = load("tool_sandbox.common.execution_context")
    roles = load("tool_sandbox.roles.openai_api_agent")
    contexts.set_current_context(scenario.starting_context)
    agent = roles.OpenAIAPIAgent.__new__(roles.OpenAIAPIAgent)
    messages = roles.to_openai_messages(agent.filter_messages(agent.get_messages()))[0]
    tools = roles.convert_to_openai_tools(agent.get_available_tools())
    return messages, tools, scenario.starting_context.get_execution_facing_tool_name


def failed(tools):
    """A call of each tool with its failed result."""
    names = [tool["function"]["name"] for tool in tools]
    calls = [
        {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for at, name in enumerate(names)
    ]
    results = [
        {"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": FAILED}
        for call in calls
    ]
    return [{"role": "assistant", "content": "", "tool_calls": calls}, *results]


def ask(name, opened, messages, tools, real_name):
    """The log of a scenario in which every tool failed once, read back from its JSON."""
    trial = Trial(name, opened, real_name)
    trial.request(messages, tools, [])
    trial.request([*messages, *failed(tools)], tools, [FAILED] * len(tools))
    return RunLog.read(trial.log().as_json())


def main(memory, *protocols):
    """Ask as everybody, under each protocol."""
    asked = {name: first_request(scenario) for name, scenario in resolve(None).items()}
    told = {}
    for protocol in protocols:
        with Arm.of({"memory": memory, "protocol": protocol}).open() as opened:
            figures = report((ask(name, opened, *request) for name, request in asked.items()), family=family)
        told[protocol] = {
            "scenarios": figures.tasks,
            "own_family": figures.own_family,
            "leaks": figures.leaks,
            "hints": figures.hints,
            "failed_calls": figures.failed_calls,
            "shown": sum(tier.shown for tier in figures.tiers),
        }
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
