"""The offered tools and the request: the same for each arm but for the memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amd.inject import Block
from next_call.arms import Shown
from next_call.items import Item
from next_call.prompts import offer, request

SEED = 20
NOTHING = Shown(Block(), Block(), ())


@pytest.fixture
def item(items) -> Item:
    """One item."""
    return items[0]


@pytest.mark.parametrize("named", [(), ("wait", "ring_bell_3")])
def test_twelve_tools_are_offered_the_needed_ones_among_them(item, named):
    """Those of the turn, those that are named, and others by the seed, all in the task's order."""
    tools = offer(item, named, SEED)
    names = [tool.name for tool in tools]
    assert len(names) == 12
    assert {item.right.name, *named} <= set(names)
    assert list(tools) == [tool for tool in item.tools if tool.name in names]
    assert offer(item, named, SEED) == tools != offer(item, named, SEED + 1)


def test_where_more_are_needed_all_of_them_are_offered(item):
    """And no other; a task with few tools offers all it has."""
    needed = [tool.name for tool in item.tools if tool.name != item.right.name][:13]
    assert {tool.name for tool in offer(item, needed, SEED)} == {item.right.name, *needed}
    assert offer(replace(item, tools=item.tools[:6]), (), SEED) == item.tools[:6]


def test_a_request_without_memory_is_tools_and_words(item):
    """One line a tool, by schema one branch a tool."""
    tools = offer(item, (), SEED)
    asked = request(item, "none", NOTHING, tools)
    system, user = asked.messages
    assert user == {"role": "user", "content": item.text}
    assert [line for line in system["content"].split("\n") if line.startswith("- ")][-1] == "- wait(): Do nothing."
    assert "ring_bell_0(hour: string): Ring a bell of the church.\n" in system["content"]
    assert [branch["properties"]["name"]["const"] for branch in asked.schema["anyOf"]] == [tool.name for tool in tools]


def test_memory_is_all_that_differs(item):
    """Before the system message and before the turn; examples are messages of their own."""
    tools = offer(item, (), SEED)
    bare = request(item, "none", NOTHING, tools)
    block = request(item, "block", Shown(Block("TASK"), Block("TURN"), ()), tools)
    assert [message["content"].partition("\n\n")[0] for message in block.messages] == ["TASK", "TURN"]
    assert [message["content"].partition("\n\n")[2] for message in block.messages] == [
        message["content"] for message in bare.messages
    ]
    turns = request(item, "turns", Shown(Block(), Block("", (("u", "a"),)), ()), tools)
    assert [message["role"] for message in turns.messages] == ["system", "user", "assistant", "user"]


def test_an_answer_is_kept_by_all_that_it_follows_from(item):
    """Model, messages and schema; not the arm, for two arms that ask the same have the same answer."""
    tools = offer(item, (), SEED)
    asked = request(item, "none", NOTHING, tools)
    digest = asked.sha256("model")
    assert digest == request(item, "block", NOTHING, tools).sha256("model")
    others = (
        asked.sha256("other"),
        request(item, "none", NOTHING, tools[1:]).sha256("model"),
        replace(asked, schema=request(item, "none", NOTHING, tools[1:]).schema).sha256("model"),
        request(replace(item, text="Other words."), "none", NOTHING, tools).sha256("model"),
    )
    assert len({digest, *others}) == 5
