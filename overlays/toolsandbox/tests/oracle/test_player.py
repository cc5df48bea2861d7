"""The two scripted models: they find their place in any request, look through memory, and remember nothing."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phone import END, SYSTEM, converse, moves, offered
from sheets import HEDGES, HOLIDAY, NOTHING, SCRAMBLED, SEND, SEND_ASKED, SHEETS, SWITCH, sheet

from amd.errors import TrajectoryError
from amd.inject import Block, append_hint, build_block, build_hint, prepend_memory, prepend_turn, replace_memory
from amd_toolsandbox.oracle.goals import Said, Traced
from amd_toolsandbox.oracle.player import AGENT, GO_ON, USER, Player
from amd_toolsandbox.oracle.script import CLOSING, QUESTION, SORRY

PLAYER = Player(SHEETS, SCRAMBLED)
BLOCK = Block(build_block([("Strategies:", ["Look at the hedges first."])]))
OTHER = Block(build_block([("Strategies:", ["Look twice."])]))
HINT = Block(build_hint([("Try:", ['{"name": "water", "arguments": {"bed": "<bed>"}}'])]))
# The first words of other bases are in them.
CALL = '{"name": "set_wifi_status", "arguments": {"on": true}}'
EXAMPLES = Block(build_block([], examples=True), ((SWITCH.first, CALL), (SEND.first, f"{CALL}\n{CALL}")))


def hinted(messages):
    """The messages, each tool's answer with a hint behind it."""
    return [
        {**each, "content": append_hint(each["content"], HINT)} if each["role"] == "tool" else each for each in messages
    ]


def in_parts(messages):
    """The messages, each content that is text as two parts."""
    return [
        {
            **each,
            "content": [{"type": "text", "text": each["content"][:4]}, {"type": "text", "text": each["content"][4:]}],
        }
        if each["content"]
        else each
        for each in messages
    ]


def at_each_turn(messages, block):
    """The messages with the block before all that the user says."""
    return [new for each in messages for new in (prepend_turn([each], block) if each["role"] == "user" else [each])]


MEMORIES = {
    "none": list,
    "static": lambda messages: hinted(prepend_memory(messages, BLOCK)),
    "dynamic": lambda messages: at_each_turn(prepend_memory(messages, BLOCK), OTHER),
    "replace": lambda messages: replace_memory(prepend_memory(messages, BLOCK), OTHER),
    "turns": lambda messages: prepend_memory(messages, EXAMPLES),
    "turns at each turn": lambda messages: at_each_turn(prepend_memory(messages, EXAMPLES), EXAMPLES),
    "parts": lambda messages: in_parts(hinted(prepend_memory(messages, BLOCK))),
    "parts and turns": lambda messages: in_parts(prepend_memory(messages, EXAMPLES)),
}
"""How memory may stand in a request, whatever it says."""

NAMES = {"plain": {}, "scrambled": SCRAMBLED}


@pytest.mark.parametrize("each", SHEETS, ids=lambda each: each.base)
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_every_sheet_is_played_to_its_end(each, names):
    """Everything that is to be said is said, the last move is words, and no name is called that is not shown."""
    asked, _ = converse(PLAYER, each, names=names)
    done = moves(asked, names)
    said = [goal.text for goal in each.goals if isinstance(goal, Said)] or [SORRY]
    assert [move for move in done if move not in (QUESTION, CLOSING) and isinstance(move, str)] == [
        words.replace("{days}", "3") for words in said
    ]
    shown = {tool["function"]["name"] for request, _ in asked for tool in request["tools"]}
    called = {call["function"]["name"] for _, answer in asked for call in answer.get("tool_calls") or ()}
    assert called <= shown
    assert "end_conversation" in called


def test_errors_are_met_and_mended():
    """The phone is as it must be in the end, and nothing was done twice."""
    asked, phone = converse(PLAYER, HOLIDAY)
    assert [move[0][0] for move in moves(asked) if isinstance(move, list)] == [
        "search_holiday",
        "set_wifi_status",
        "set_low_battery_mode_status",
        "set_wifi_status",
        "search_holiday",
        "get_current_timestamp",
        "timestamp_diff",
    ]
    assert moves(asked)[-1] == "It is 3 days to Bloom Day."
    assert (phone.settings["wifi"], phone.settings["low_battery_mode"]) == (True, False)
    _, phone = converse(PLAYER, SEND)
    assert phone.sent == [{"phone_number": "garden-7", "content": "The tulips are up"}]


def test_the_agent_asks_and_the_user_answers():
    """What the base is about, and the values that its goals name."""
    asked, phone = converse(PLAYER, SEND_ASKED)
    assert moves(asked)[0] == QUESTION
    told = [answer["content"] for request, answer in asked if request["model"] == USER]
    assert told == [SEND_ASKED.answer, None]
    assert len(phone.sent) == 1


@pytest.mark.parametrize("permuted", [False, True])
def test_several_things_are_said_and_calls_are_parallel(permuted):
    """Between them the user says to go on; results may come back in another order."""
    asked, phone = converse(PLAYER, HEDGES, permuted=permuted)
    assert [len(move) for move in moves(asked) if isinstance(move, list)] == [1, 2, 2]
    told = [answer["content"] for request, answer in asked if request["model"] == USER]
    assert told == [HEDGES.answer, GO_ON, None]
    assert phone.people["p-rose"]["relationship"] == phone.people["p-fern"]["relationship"] == "bed"
    ids = [
        call["id"] for request, answer in asked if request["model"] == AGENT for call in answer.get("tool_calls", ())
    ]
    assert len(set(ids)) == len(ids) == 5
    assert all(each.isidentifier() for each in ids)


@pytest.mark.parametrize("shown", MEMORIES.values(), ids=MEMORIES)
@pytest.mark.parametrize("each", SHEETS, ids=lambda each: each.base)
def test_memory_is_looked_through(each, shown):
    """Before the task, at each turn, swapped, as examples that begin other scripts, behind errors, and in parts."""
    plain, _ = converse(PLAYER, each)
    asked, _ = converse(PLAYER, each, shown=shown)
    assert moves(asked) == moves(plain)
    first = [SYSTEM, {"role": "user", "content": each.first}]
    assert (shown(first) == first) is (shown is list)


def test_words_of_the_agents_own_are_no_example():
    """Also with a result in them; what the agent says and the user answers is part of the conversation."""
    told = sheet(
        "find_days_till_holiday",
        HOLIDAY.first,
        HOLIDAY.tools,
        *HOLIDAY.goals[:-1],
        Said("I looked."),
        HOLIDAY.goals[-1],
    )
    asked, _ = converse(Player([told]), told)
    assert moves(asked)[-2:] == ["I looked.", "It is 3 days to Bloom Day."]
    request = [request for request, _ in asked if request["model"] == AGENT][-1]
    ends = [{"role": "assistant", "content": "It is 3 days to Bloom Day."}, {"role": "user", "content": "Sure?"}]
    assert Player([told])({**request, "messages": [*request["messages"], *ends]})["content"] == CLOSING


def test_the_tools_tell_sheets_of_the_same_words_apart():
    """What calls a tool that is not offered is not played; of those that fit, the one with the most goals is."""
    less = sheet("turn_on_wifi_insufficient_information", SWITCH.first, {"set_wifi_status"})
    player = Player([less, SWITCH])

    def first(tools):
        request = {"model": AGENT, "messages": [{"role": "user", "content": SWITCH.first}], "tools": offered(tools, {})}
        return player(request)

    assert first(SWITCH.tools)["tool_calls"]
    assert first(SWITCH.tools | {"water"})["tool_calls"]
    assert first({"set_wifi_status"})["content"] == SORRY
    assert first(())["content"] == SORRY


def test_what_the_user_answers_tells_sheets_of_the_same_words_apart():
    """Two scenarios may begin alike, and only the answer to the agent's question says which one it is."""
    fern = sheet("get_fern_multiple_user_turn", SEND_ASKED.first, SEND_ASKED.tools, Said("Fern is well."))
    player = Player([*SHEETS, fern])
    start = [{"role": "user", "content": fern.first}, {"role": "assistant", "content": QUESTION}]
    tools = offered(fern.tools, {})
    for told, said in ((fern.answer, "Fern is well."), (SEND_ASKED.answer, None)):
        messages = [*start, {"role": "user", "content": told}]
        assert player({"model": AGENT, "messages": messages, "tools": tools})["content"] == said
    with pytest.raises(TrajectoryError, match="no script begins with"):
        player({"model": AGENT, "messages": [*start, {"role": "user", "content": "Never mind"}], "tools": tools})


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [SYSTEM],
        [{"role": "user", "content": "Mow the lawn"}],
        [{"role": "user", "content": None}],
        [{"role": "user", "content": []}],
    ],
)
def test_words_that_begin_no_script_are_an_error(messages):
    """With the words and the tools, and what to do; never a guess."""
    with pytest.raises(TrajectoryError, match=r"no script begins with '.*set_wifi_status") as caught:
        PLAYER({"model": AGENT, "messages": messages, "tools": offered(SWITCH.tools, {})})
    assert caught.value.next_step


def test_a_sheet_whose_tool_is_not_offered_is_an_error():
    """Positive control: with its tools it is played."""
    request = {"model": AGENT, "messages": [{"role": "user", "content": SWITCH.first}]}
    with pytest.raises(TrajectoryError, match="these tools: "):
        PLAYER({**request, "tools": offered({"set_low_battery_mode_status"}, {})})
    assert PLAYER({**request, "tools": offered(SWITCH.tools, {})})["tool_calls"]


def test_a_wrong_number_of_answers_is_an_error():
    """A result is missing, or one too many came, or words came in place of it."""
    asked, _ = converse(PLAYER, HEDGES)
    request = next(request for request, _ in asked if sum(m["role"] == "tool" for m in request["messages"]) == 3)
    whole = request["messages"]
    assert PLAYER(request)["content"] == "The hedges are friends now."
    words = {"role": "user", "content": "Well?"}
    unanswered = min(at for at, message in enumerate(whole) if message.get("tool_calls")) + 1
    for messages in (
        whole[:-1],
        [*whole, whole[-1]],
        [*whole[:-1], words],
        [*whole[:unanswered], words],
    ):
        with pytest.raises(TrajectoryError, match=r"\d answers came to .*_contact") as caught:
            PLAYER({**request, "messages": messages})
        assert "the whole conversation" in caught.value.next_step


def test_the_user_ends_where_its_tool_is_offered():
    """Without it it says its thanks; so it does to an agent that it does not know."""
    request = {
        "model": USER,
        "messages": [{"role": "system", "content": "You tend a shed."}, {"role": "user", "content": "Done."}],
    }
    assert PLAYER({**request, "tools": [END]})["tool_calls"][0]["function"] == {
        "name": "end_conversation",
        "arguments": "{}",
    }
    assert PLAYER(request) == {"role": "assistant", "content": "Thank you."}


def test_the_brief_tells_the_user_who_it_is():
    """Two may begin alike; white space around a brief is nobody's, and examples that come before are passed over."""
    fern = replace(SEND_ASKED, base="greet_fern_multiple_user_turn", brief="\n  You miss Fern. ", goals=())
    player = Player([SEND_ASKED, fern])
    for each in (SEND_ASKED, fern):
        messages = [
            {"role": "system", "content": "You play a gardener."},
            {"role": "assistant", "content": "I want a rose."},
            {"role": "user", "content": QUESTION},
            {"role": "system", "content": each.brief},
            {"role": "assistant", "content": each.first},
            {"role": "user", "content": QUESTION},
        ]
        assert player({"model": USER, "messages": messages, "tools": [END]})["content"] == each.answer
    assert SEND_ASKED.answer != fern.answer == "Please greet fern."


def test_the_users_model_has_any_name():
    """Every other model is the agent."""
    player = Player(SHEETS, user_model="gardener")
    assert player({"model": "gardener", "messages": [{"role": "user", "content": "x"}]})["content"] == "Thank you."
    request = {"model": USER, "messages": [{"role": "user", "content": NOTHING.first}], "tools": []}
    assert player(request)["content"] == SORRY


def test_letters_of_any_script_are_sent_as_they_are():
    """Arguments are JSON without escapes."""
    roses = sheet("search_contacts", "Look", {"search_contacts"}, Traced("search_contacts", {"name": "薔薇 é"}))
    request = {"model": AGENT, "messages": [{"role": "user", "content": "Look"}], "tools": offered(roses.tools, {})}
    assert "薔薇 é" in Player([roses])(request)["tool_calls"][0]["function"]["arguments"]


@cache
def everything_asked():
    """Each request of each sheet with its answer, plain and scrambled, with memory and without."""
    return [
        (request, answer)
        for each in SHEETS
        for names in NAMES.values()
        for shown in MEMORIES.values()
        for request, answer in converse(PLAYER, each, names=names, shown=shown)[0]
    ]


@given(st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_nothing_is_remembered(draw):
    """Whatever was asked before and in whatever order, the same request has the same answer, also of a new player."""
    everything = everything_asked()
    some = draw.sample(everything, 40)
    new = Player(random.Random(draw.random()).sample(SHEETS, len(SHEETS)), SCRAMBLED)
    for request, answer in some:
        assert new(request) == answer
