"""From messages to turns: what the agent could see, whose result is whose, and which calls failed."""

from __future__ import annotations

import itertools
import json

import pytest
from run_folders import ASKED, BRIEF, DRY, asks, call, context, ends, guard, result, row, says

from amd.errors import TrajectoryError
from amd_toolsandbox.context import read_context
from amd_toolsandbox.conversation import to_conversation


def read(*rows, **more):
    """The conversation of these rows."""
    return to_conversation(read_context(json.dumps(context(*rows, **more)).encode()))


def calls(chat):
    """Name, arguments, observation and whether it went well, of each call."""
    return [(c.name, dict(c.arguments), c.observation, c.ok) for turn in chat.turns for c in turn.calls]


def test_the_agent_learns_from_what_it_could_see():
    """No example of the user's, no brief, no imports, no end by the user; every turn begins with the user's words."""
    chat = read(says("Which can?"), asks("The red one"), call(), result(), says())
    assert [turn.user for turn in chat.turns] == [ASKED, "The red one"]
    assert [[step.text for step in turn.steps] for turn in chat.turns] == [["Which can?"], ["", "Bed 4 is watered."]]
    assert BRIEF not in repr(chat.turns)
    assert "rose" not in repr(chat.turns)


def test_a_message_hidden_from_the_agent_is_no_turn():
    """What both ends see by default is not what a row says that only the user sees."""
    hidden = row("USER", "AGENT", "hidden", visible_to=["USER"])
    assert [turn.user for turn in read(hidden, says()).turns] == [ASKED]
    assert [turn.user for turn in read({**hidden, "visible_to": None}, says()).turns] == [ASKED, "hidden"]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_d17_parallel_calls_whose_results_come_permuted(order):
    """D17: one step with three calls, each with its own result, however they come back."""
    names = ["water", "measure", "lock"]
    asked = [call(name, call_id=f"c{number}") for number, name in enumerate(names)]
    came = [result(names[number], f"res{number}", f"c{number}", arguments={"bed": 4}) for number in order]
    (turn,) = read(*asked, *came, says()).turns
    assert [len(step.calls) for step in turn.steps] == [3, 0]
    assert [(c.name, c.observation, c.call_id) for c in turn.calls] == [
        ("water", "res0", "c0"),
        ("measure", "res1", "c1"),
        ("lock", "res2", "c2"),
    ]


@pytest.mark.parametrize("texts", range(4))
def test_d16_each_call_has_its_own_result(texts):
    """D16 (a): nine calls, nine results, wherever the agent speaks."""
    rows = []
    for turn in range(3):
        for step in range(3):
            said = f"t{turn}s{step}"
            rows += [says()] * (texts == step) + [call(call_id="call_0"), result(content=said, call_id="call_0")]
        rows += [says(), asks()]
    chat = read(*rows)
    assert [c[2] for c in calls(chat)] == [f"t{turn}s{step}" for turn in range(3) for step in range(3)]


def test_d16_a_failed_call_keeps_its_own_result():
    """D16 (b): of two turns with two calls the last one failed, and no other."""
    rows = [
        call("cd", call_id="a"),
        result("cd", "ok1", "a"),
        call("mv", call_id="b"),
        result("mv", "ok2", "b"),
        says(),
    ]
    again = [
        call("cd", call_id="a"),
        result("cd", "ok3", "a"),
        call("mv", call_id="b"),
        result("mv", call_id="b", error=DRY),
    ]
    assert [(c[2], c[3]) for c in calls(read(*rows, asks(), *again))] == [
        ("ok1", True),
        ("ok2", True),
        ("ok3", True),
        (DRY, False),
    ]


def test_ids_that_repeat_in_one_message_are_paired_in_order():
    """Servers that give every call the same id; the tool's name and its trace must fit."""
    asked = [call(arguments={"bed": bed}, call_id="call_0") for bed in (4, 5)]
    came = [result(content=f"bed{bed}", arguments={"bed": bed, "can": None}, call_id="call_0") for bed in (4, 5)]
    assert [(c[1], c[2]) for c in calls(read(*asked, *came))] == [({"bed": 4}, "bed4"), ({"bed": 5}, "bed5")]
    with pytest.raises(TrajectoryError, match="trace of another call"):
        read(*asked, *reversed(came))


def test_ids_that_repeat_beside_a_failure_are_not_guessed():
    """The harness then answers in the order that failed. Other tools, or equal calls, can still be told apart."""
    asked = [call(arguments={"bed": bed}, call_id="call_0") for bed in (4, 5)]
    came = [result(call_id="call_0", error=DRY), result(call_id="call_0")]
    with pytest.raises(TrajectoryError, match="in any order"):
        read(*asked, *came)
    equal = [call(call_id="call_0")] * 2
    assert [c[3] for c in calls(read(*equal, *came))] == [False, True]
    tools = [call(call_id="call_0"), call("lock", call_id="call_0")]
    other = [result("lock", call_id="call_0", error=DRY), result(call_id="call_0")]
    assert [(c[0], c[3]) for c in calls(read(*tools, *other))] == [("water", True), ("lock", False)]


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([call(call_id="a"), call(call_id="b"), result(call_id="a")], "2 calls and 1 results"),
        ([call(), result(), result()], "1 calls and 2 results"),
        ([call(call_id="a"), result(call_id="b")], "water a"),
        ([result()], "no call before it"),
        ([call(), says(), result()], "1 calls and 0 results"),
        ([call(), result("lock", arguments={"bed": 4}, shown="water")], "trace of another call"),
        ([call(), result(arguments={"bed": 5})], "trace of another call"),
        ([call(shown="lock"), result(shown="lock")], "the call of 'lock' runs 'water'"),
        ([row("AGENT", "AGENT", "to myself")], "from AGENT to AGENT"),
        ([{**call(), "content": "print(repr(water(bed=4)))"}, result()], "not a call in the harness's form"),
        ([call(written="{'bed': nan}"), result(arguments={"bed": 4})], "arguments of 'water' cannot be read"),
        ([call(written="{'bed': 1e999}"), result(arguments={})], "trace of another call|not JSON"),
    ],
)
def test_what_cannot_be_told_is_refused(rows, fault):
    """D16: never guessed; the message says where."""
    with pytest.raises(TrajectoryError, match=fault) as caught:
        read(*rows, says())
    assert "message " in str(caught.value)


def test_calls_that_nobody_answered_any_more_are_counted():
    """The harness stops after so many messages, also between a call and its result; elsewhere it is a fault."""
    chat = read(call(), result(), call(call_id="x"), call(call_id="y"), ended=False)
    assert len(calls(chat)) == 1
    assert chat.notes["unanswered_call"] == 2


@pytest.mark.parametrize(
    "observation",
    [
        "Error during execution: missing arg",
        '{"error": "cd: no such directory"}',
        "{'errors': [], 'ok': True}",
        "Reminder: retake failed exam",
        "Traceback of the parcel: found",
    ],
)
def test_d19_a_call_failed_if_and_only_if_an_exception_was_recorded(observation):
    """D19: the same text on both sides; no text makes an error, and none hides one."""
    good, bad = result(content=observation), {**result(content=observation), "tool_call_exception": "ValueError"}
    assert [c[2:] for c in calls(read(call(), good))] == [(observation, True)]
    assert [c[2:] for c in calls(read(call(), bad))] == [(observation, False)]


def test_names_are_the_tools_own():
    """With scrambled names the agent knew the tool by another one; the code has the real one."""
    scrambled = [call(shown="garden_3"), result(shown="garden_3")]
    assert [c[0] for c in calls(read(*scrambled, scrambled=True))] == ["water"]
    with pytest.raises(TrajectoryError, match="'garden_3' runs 'water'"):
        read(*scrambled)


def test_ids_that_are_no_names_and_no_ids():
    """A server's id of another kind, or none at all, is read like any other."""
    odd = "chatcmpl-tool-4f/é"
    assert calls(read(call(call_id=odd), result(call_id=odd, error="SyntaxError: invalid syntax")))[0][3] is False
    none = [{**call(), "openai_tool_call_id": None}, {**result(), "openai_tool_call_id": None}]
    assert calls(read(*none))[0][3] is True


def test_arguments_that_failed_and_cannot_be_read_keep_their_name():
    """NaN ends such a run; a list is no arguments. What can be told is kept, and counted."""
    for written in ("{'bed': nan}", "[4]", "{'bed': {1, 2}}", "{4: 4}", "(" * 900):
        chat = read(call(written=written), result(error="TypeError: no mapping"), says())
        assert calls(chat) == [("water", {}, "TypeError: no mapping", False)]
        assert chat.notes["unparsable_call"] == 1


def test_every_kind_of_argument_is_read():
    """As Python writes what JSON gave it: quotes, line breaks, nothing, deep lists."""
    arguments = {"text": 'it\'s "so"\n{}', "none": None, "deep": [{"a": [1.5, True, -0.0]}], "näme": "\\n"}
    chat = read(call(arguments=arguments), result(arguments=arguments))
    assert calls(chat)[0][1] == arguments


def test_memory_addresses_are_no_part_of_an_observation():
    """Two runs of one error have one text; what the agent said is left alone."""
    error = "NoDataError: nothing at 0x7F1A5DEB2C90 found"
    chat = read(call(), result(error=error), says("It stood at 0x7F1A5DEB2C90."))
    assert calls(chat)[0][2] == "NoDataError: nothing at 0x… found"
    assert chat.turns[0].steps[-1].text == "It stood at 0x7F1A5DEB2C90."


def test_a_fault_of_the_machine_is_no_lesson():
    """No key, no network: the call is left out and counted, the one beside it stays; the agent's own faults stay."""
    fault = "PermissionError: Please provide 'RAPID_API_KEY'."
    chat = read(call(), call("lock", call_id="b"), result("lock", call_id="b"), result(error=fault), says())
    assert [c[0] for c in calls(chat)] == ["lock"]
    assert [len(step.calls) for step in chat.turns[0].steps] == [1, 0]
    alone = read(call(), result(error=fault), says())
    assert [len(step.calls) for step in alone.turns[0].steps] == [0]
    assert (chat.notes["environment_fault"], alone.notes["environment_fault"]) == (1, 1)
    own = read(call(), result(error="PermissionError: Wifi cannot be turned on"))
    assert own.notes["environment_fault"] == 0


def test_thoughts_lose_their_tags():
    """As every reader does: tags go, and what stands between them stays."""
    chat = read(says("<think>Bed 4 is dry.</think>\nI water it."))
    assert chat.turns[0].steps[0].text == "Bed 4 is dry.\nI water it."


def test_empty_rows_hold_nothing():
    """The harness's own rows between snapshots are skipped; half a row is a fault."""
    plain, more = read(call(), result(), says()), read(guard(), call(), guard(), result(), guard(), says())
    assert plain.turns == more.turns
    with pytest.raises(TrajectoryError, match="a row has a sender, a recipient and a content, or none of them"):
        read({**says(), "content": None})


def test_the_users_end_is_no_step():
    """It is seen by the user alone."""
    assert len(ends()) == 2
    assert [len(turn.steps) for turn in read(says()).turns] == [1]
