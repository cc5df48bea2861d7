"""A made-up garden under the names of real scenarios: runs, tools, messages as the harness makes them, summaries."""

from __future__ import annotations

import json

from amd.arms import replace_text
from amd.traces import Outcome, Source, Step, Task, ToolCall, ToolSpec, Trajectory, Turn
from amd_toolsandbox.families import BENCHMARK, family

SCALE = "celsius-deep"
BASES = ("wifi_off", "cellular_off", "get_wifi", "turn_on_wifi_low_battery_mode")
FROZEN = "ConnectionError: The soil is frozen"


def _tool(name, description, *arguments):
    properties = {argument: {"type": "string", "description": f"The {argument}."} for argument in arguments}
    parameters = {"type": "object", "properties": properties, "required": [*arguments]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS = (
    _tool("water", "Water a bed of the garden.", "bed"),
    _tool("measure", "Measure how warm the soil of a bed is.", "bed", "scale"),
    _tool("lock_gate", "Lock the gate of the garden.", "key"),
)
SCRAMBLED = {"garden_0": "water", "garden_1": "measure", "garden_2": "lock_gate"}
"""What is offered in place of which tool where names are scrambled."""


def texts(index):
    """What the user says in three turns."""
    return (
        f"Please water bed_{index} in the garden and measure how warm its soil is.",
        f"Lock the gate of the garden for the night, number {index}.",
        f"Water bed_{index} once more, then measure its soil again.",
    )


def _call(name, number, **arguments):
    return Step(calls=(ToolCall(name, arguments, '{"done": true, "soil": "moist"}', ok=True, call_id=f"c{number}"),))


def garden_run(base, index):
    """A teacher's run of a base: each turn calls what it was asked for."""
    first, second, third = texts(index)
    bed = f"bed_{index}"
    care = (_call("water", 1, bed=bed), _call("measure", 2, bed=bed, scale=SCALE), Step("Done."))
    return Trajectory(
        task=Task(BENCHMARK, base, family(base) or "", first),
        turns=(
            Turn(first, care),
            Turn(second, (_call("lock_gate", 3, key=f"key_{index}"), Step("Locked."))),
            Turn(third, care),
        ),
        tools=tuple(
            ToolSpec(each["function"]["name"], each["function"]["description"], each["function"]["parameters"])
            for each in TOOLS
        ),
        outcome=Outcome(success=True, score=1.0),
        source=Source("made-up-teacher", "run-1", f"{base}.json", "0" * 64),
    )


def tools(*, scrambled=False):
    """What a scenario offers."""
    shown = {real: name for name, real in SCRAMBLED.items()} if scrambled else {}
    return [
        {
            **each,
            "function": {**each["function"], "name": shown.get(each["function"]["name"], each["function"]["name"])},
        }
        for each in TOOLS
    ]


SYSTEM = {"role": "system", "content": "Ask if anything is unclear."}


def user(index=9, turn=0):
    """What the user says in a turn."""
    return {"role": "user", "content": texts(index)[turn]}


def said(text="Done."):
    """What the agent says."""
    return {"role": "assistant", "content": text}


def calls(*made):
    """The agent's calls as the harness shows them: (name, arguments, id)."""
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for name, arguments, call_id in made
        ],
    }


def result(name="measure", call_id="call_1", content=FROZEN):
    """What a tool answered."""
    return {"tool_call_id": call_id, "role": "tool", "name": name, "content": content}


def row(name, similarity=1.0, exception=None, minefield=0.0):
    """A row of the harness's summary."""
    return {
        "name": name,
        "categories": ["SINGLE_TOOL_CALL"],
        "exception_type": exception,
        "similarity": similarity,
        "minefield_similarity": minefield,
    }


def summary(run, *rows, hour=8, name="result_summary.json", model="student"):
    """A folder of the harness with these rows; with none it was interrupted."""
    folder = run.path / f"agent_{model}_user_user_05_13_2031_{hour:02}_00_00"
    for each in rows or [{"name": BASES[0]}]:
        (folder / "trajectories" / each["name"]).mkdir(parents=True, exist_ok=True)
    if rows:
        replace_text(folder / name, json.dumps({"per_scenario_results": rows}))
    return folder
