"""A made-up village: two families for each kind of work, each with two turns of a call or two, and its memory."""

from __future__ import annotations

from pathlib import Path

import pytest

import amd
from amd.json_text import digest
from amd.traces import Outcome, Source, Step, Task, ToolCall, ToolSpec, Trajectory, Turn
from next_call.items import Item, draw

SEED = 20


def _tool(name: str, description: str, *arguments: str) -> ToolSpec:
    properties = {argument: {"type": "string"} for argument in arguments}
    return ToolSpec(name, description, {"type": "object", "properties": properties, "required": [*arguments]})


TOOLS = (
    _tool("water_bed", "Water a bed of the garden.", "bed"),
    _tool("lock_gate", "Lock the gate of the garden."),
    _tool("bake_bread", "Bake bread of a flour.", "flour"),
    _tool("clean_oven", "Clean the oven of the kitchen."),
    _tool("lend_book", "Lend a book of the library.", "title"),
    _tool("count_readers", "Count the readers in the library."),
    *(_tool(f"ring_bell_{number}", "Ring a bell of the church. It is loud.", "hour") for number in range(8)),
    _tool("wait", "Do nothing."),
)
"""Fifteen tools; nobody ever calls the last nine."""

KINDS = (
    ("Water the roses in bed {i} of the garden with rain water, please.", ("water_bed", {"bed": "rose bed {i}"})),
    ("Lock the gate of the garden with the iron key for the night.", ("lock_gate", {})),
    ("Bake a fresh loaf of bread from flour number {i} in the kitchen.", ("bake_bread", {"flour": "fine rye {i}"})),
    ("Clean the hot oven of the kitchen until no crumb is left in it.", ("clean_oven", {})),
    ("Lend the novel number {i} of the library shelf to a young reader.", ("lend_book", {"title": "Old Novel {i}"})),
    ("Count how many readers sit in the library at the long table.", ("count_readers", {})),
)
"""What is said in a turn, and the call that it needs; a task is two neighbours."""


def village_run(index: int) -> Trajectory:
    """The run of task ``village_{index}``: garden, kitchen and library take turns."""
    turns = []
    for text, (name, arguments) in KINDS[index % 3 * 2 : index % 3 * 2 + 2]:
        filled = {key: value.format(i=index) for key, value in arguments.items()}
        call = ToolCall(name, filled, '{"done": true}', ok=True)
        turns.append(Turn(text.format(i=index), (Step(calls=(call,)), Step("Done."))))
    return Trajectory(
        task=Task("village", f"village_{index}", f"family_{index}", str(turns[0].user)),
        turns=tuple(turns),
        tools=TOOLS,
        outcome=Outcome(success=True, score=1.0),
        source=Source("mayor", "run-1", f"village_{index}.json", digest(str(index).encode())),
    )


@pytest.fixture(scope="session")
def village() -> list[Trajectory]:
    """Six runs of six families: twelve items, two of each kind."""
    return [village_run(index) for index in range(6)]


@pytest.fixture(scope="session")
def items(village: list[Trajectory]) -> list[Item]:
    """All items."""
    return draw(village, 100, SEED)


@pytest.fixture(scope="session")
def memory(village: list[Trajectory], tmp_path_factory: pytest.TempPathFactory) -> amd.Memory:
    """The memory of the village, as the measurement builds it, embedded by hash."""
    folder: Path = tmp_path_factory.mktemp("village") / "memory"
    embedder = amd.load_embedder("hash")
    amd.build_memory(village, folder, embedder=embedder, options=amd.Options(method="workflow+subtask"))
    return amd.open_memory(folder, embedder=embedder)
