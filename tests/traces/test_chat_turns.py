"""Chat messages become turns: every call with its own result, or a refusal. Nothing is guessed."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.errors import TrajectoryError
from amd.inject import CLOSE_TAG, HINT_CLOSE, HINT_OPEN, OPEN_TAG
from amd.testing import openai_chat, run
from amd.traces import Step, ToolCall, Turn, read_conversation, read_tools

Message = dict[str, Any]

USER = {"role": "user", "content": "Go."}


def calls(*names: str, ids: bool = True, text: str | None = None, **arguments: str) -> Message:
    """An assistant message with these calls; the id of a call is its name in capitals."""
    asked = [
        {"type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        | ({"id": name.upper()} if ids else {})
        for name in names
    ]
    return {"role": "assistant", "content": text, "tool_calls": asked}


def result(text: object, call_id: str | None = None, **more: object) -> Message:
    """A tool message."""
    return {"role": "tool", "content": text} | ({"tool_call_id": call_id} if call_id else {}) | more


def say(text: object) -> Message:
    """An assistant message without a call."""
    return {"role": "assistant", "content": text}


def turns(*messages: Message) -> tuple[Turn, ...]:
    """The turns of these messages, after one user message."""
    return read_conversation([USER, *messages]).turns


def pairs(*messages: Message) -> list[tuple[str, str]]:
    """Tool and observation of each call."""
    return [(call.name, call.observation) for turn in turns(*messages) for call in turn.calls]


def refused(*messages: Message) -> str:
    """Why these messages are refused, after one user message."""
    with pytest.raises(TrajectoryError) as caught:
        read_conversation([USER, *messages])
    return caught.value.message


def test_d16a_nine_calls_with_their_own_results() -> None:
    """D16a: run(0) comes back as it was made, each call with its own result, its closing texts being no calls."""
    made = run(0)
    entry = openai_chat(made)
    assert read_conversation(entry["messages"]).turns == made.turns
    assert read_tools(entry["tools"]) == made.tools
    observations = [json.loads(call.observation)["current_working_directory"].split()[0] for call in made.calls]
    assert observations == [f"t{turn}s{step}" for turn in range(3) for step in range(3)]


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("where", list(itertools.product([0, 1], repeat=4)))
def test_d16a_text_steps_in_every_position(ids: bool, where: tuple[int, ...]) -> None:
    """D16a: text before, between (also between a call and its result) and after the calls moves no result."""
    exchange = [
        say("before") if where[0] else None,
        calls("cd", ids=ids),
        say("waiting") if where[1] else None,
        result("in a", "CD" if ids else None),
        say("between") if where[2] else None,
        calls("mv", ids=ids),
        result("moved", "MV" if ids else None),
        say("after") if where[3] else None,
    ]
    messages = [message for message in exchange if message]
    assert pairs(*messages) == [("cd", "in a"), ("mv", "moved")]
    texts = [step.text for step in turns(*messages)[0].steps if step.text]
    assert texts == [
        text for text, there in zip(["before", "waiting", "between", "after"], where, strict=True) if there
    ]


def test_d16b_the_failing_call_keeps_its_own_error() -> None:
    """D16b: of two turns with two calls exactly the last one failed, and only it."""
    error = '{"error":"no such file"}'
    first = [calls("cd"), result("in a", "CD"), calls("mv"), result("moved", "MV")]
    second = [USER, calls("cd"), result("in b", "CD"), calls("mv"), result(error, "MV")]
    found = [call for turn in turns(*first, *second) for call in turn.calls]
    assert [(call.name, call.observation, call.ok) for call in found] == [
        ("cd", "in a", True),
        ("mv", "moved", True),
        ("cd", "in b", True),
        ("mv", error, False),
    ]


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([calls("cd")], "message 2 has 1 calls and 0 results"),
        ([calls("cd"), say("Done."), USER, result("late", "CD")], "message 5 is a result, and its turn has no call"),
        ([calls("cd"), result("a", "CD"), result("b", "CD")], "1 calls and 2 results"),
        ([calls("cd", "mv"), result("a", "CD")], "2 calls and 1 results"),
        ([calls("cd", "mv"), result("a", "CD"), result("b", "CD")], r"the ids of its calls are ['CD', 'MV']"),
        ([calls("cd"), result("a", "OTHER")], "those of the results ['OTHER']"),
        ([calls("cd", "cd"), result("a", "CD"), result("b", "CD")], "the ids of its calls are ['CD', 'CD']"),
        ([calls("cd", "mv"), result("a", "CD"), result("b")], "those of the results ['CD', None]"),
        ([calls("cd", ids=False), result("a", "CD")], "the ids of its calls are [None]"),
        ([calls("cd"), calls("mv"), result("a"), result("b")], "message 2 has 1 calls and 0 results"),
        (
            [calls("cd", "mv", ids=False), result("b", name="mv"), result("a", name="cd")],
            "message 3 is a result of 'mv' without an id, where 'cd' comes next",
        ),
        ([result("a", "CD")], "message 2 is a result, and its turn has no call"),
    ],
)
def test_d16_what_cannot_be_matched_is_refused(messages: list[Message], why: str) -> None:
    """D16: a result that could belong to another call refuses the run, with the place."""
    assert why in refused(*messages)


def test_d17_parallel_calls() -> None:
    """D17: one step with three calls keeps all three, in order, each with its own result."""
    asked = calls("cd", "mv", "wc")
    want = [("cd", "res0"), ("mv", "res1"), ("wc", "res2")]
    assert pairs(calls("cd", "mv", "wc", ids=False), result("res0"), result("res1"), result("res2")) == want
    assert pairs(asked, result("res0"), result("res1"), result("res2")) == want
    assert len(turns(asked, result("res0"), result("res1"), result("res2"))[0].steps[0].calls) == 3


@given(st.permutations(range(5)))
def test_d17_results_in_any_order(order: list[int]) -> None:
    """D17: with ids the order of the results does not matter."""
    names = [f"tool{n}" for n in range(5)]
    results = [result(f"res{n}", f"TOOL{n}") for n in order]
    assert pairs(calls(*names), *results) == [(f"tool{n}", f"res{n}") for n in range(5)]


def test_call_ids_may_repeat_in_another_step() -> None:
    """A harness that numbers its calls anew in each message is read as well."""
    step = [calls("cd"), result("a", "CD"), calls("cd"), result("b", "CD")]
    assert pairs(*step) == [("cd", "a"), ("cd", "b")]


def test_text_is_never_a_call() -> None:
    """A call that is only spoken of is text."""
    spoken = 'cd(folder="a") {"name": "cd", "arguments": {}} <tool_call>{"name": "cd"}</tool_call>'
    assert turns(say(spoken)) == (Turn("Go.", (Step(spoken),)),)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ('["a", "b"]', "are no JSON object but a list"),
        (["a", "b"], "are no JSON object but a list"),
        ('{"password": "hunter2"', "are not JSON"),
        ("", "are not JSON"),
        (None, "are no JSON object but a NoneType"),
        ('{"n": NaN}', "NaN is not JSON"),
    ],
)
def test_d22b_bad_arguments_name_the_call_and_no_value(arguments: object, why: str) -> None:
    """D22b and D13: arguments that are no object refuse the run; the call is named, its values are not."""
    message = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "login", "arguments": arguments}}]}
    told = refused(message, result("x", "a"))
    assert told.startswith("message 2: the arguments of call 'login'")
    assert why in told
    assert "hunter2" not in told


def test_arguments_as_object_or_text() -> None:
    """Both spellings give the same call, and integers keep their digits."""
    big = 123456789012345678901234567890
    for arguments in ({"n": big}, json.dumps({"n": big})):
        message = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": arguments}}]}
        assert turns(message, result("ok", "a"))[0].calls == (ToolCall("f", {"n": big}, "ok", ok=True, call_id="a"),)


def test_older_spellings() -> None:
    """A single ``function_call`` with a ``function`` message, and a call without the wrapper, are calls too."""
    older = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    assert pairs(older, {"role": "function", "name": "f", "content": "ok"}) == [("f", "ok")]
    bare = {"role": "assistant", "tool_calls": [{"id": "a", "name": "f", "arguments": {}}]}
    assert pairs(bare, result("ok", "a")) == [("f", "ok")]


def test_d22d_null_content() -> None:
    """D22d: a user message without content is a turn without a word; the run is read."""
    messages = [{"role": "user", "content": None}, calls("cd"), result("a", "CD"), say(None)]
    [_, turn] = turns(*messages)
    assert turn.user is None
    assert [step.text for step in turn.steps] == ["", ""]


def test_content_as_parts() -> None:
    """Text parts are joined by line ends, for every role; parts without text are counted."""
    parts = [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "two"}]
    chat = read_conversation([{"role": "user", "content": parts}, calls("cd"), result(parts, "CD"), say(parts)])
    [turn] = chat.turns
    assert (turn.user, turn.calls[0].observation, turn.steps[1].text) == ("one\ntwo",) * 3
    assert chat.notes["parts_without_text"] == 3


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"error": "no such file"}, '{"error":"no such file"}'),
        ([{"type": "restaurant", "name": "Nero"}], '[{"name":"Nero","type":"restaurant"}]'),
        ([], "[]"),
        (7, "7"),
        (None, ""),
    ],
)
def test_a_result_may_be_a_json_value(content: object, text: str) -> None:
    """A result that was logged as a value is its text; an error in it is seen."""
    [call] = turns(calls("cd"), result(content, "CD"))[0].calls
    assert call.observation == text
    assert call.ok is ("error" not in text)


def test_think_tool_becomes_text() -> None:
    """A thought is text of its step, also beside a real call, and consecutive thoughts stay in order."""
    think = {"id": "T", "function": {"name": "think", "arguments": '{"thought": "Look first."}'}}
    both = {"role": "assistant", "content": "Well.", "tool_calls": [think, *calls("cd")["tool_calls"]]}
    alone = {"role": "assistant", "content": None, "tool_calls": [think]}
    [turn] = turns(alone, result("", "T"), alone, result("", "T"), both, result("in a", "CD"), result("", "T"))
    assert [step.text for step in turn.steps] == ["Look first.", "Look first.", "Well.\nLook first."]
    assert [(call.name, call.observation) for call in turn.calls] == [("cd", "in a")]
    chat = read_conversation([USER, alone, result("", "T")], think={"other"})
    assert [call.name for call in chat.turns[0].calls] == ["think"]


def test_think_tags_are_removed_and_the_thought_kept() -> None:
    """What stands between think tags is the step's text, without the tags."""
    assert turns(say("<think>\nLook first.\n</think>\n\nDone."))[0].steps[0].text == "Look first.\n\n\nDone."
    assert turns(say(" a < b \n"))[0].steps[0].text == " a < b \n"


MEMORY = f"{OPEN_TAG}\nNotes from other tasks.\n\nCANARY\n{CLOSE_TAG}"
HINT = f"{HINT_OPEN}\nCANARY\n{HINT_CLOSE}"


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "system", "content": f"{MEMORY}\n\nBe brief."}, USER],
        [{"role": "developer", "content": [{"type": "text", "text": f"{MEMORY}\n\n"}]}, USER],
        [{"role": "user", "content": f"{MEMORY}\n\nGo."}],
        [{"role": "user", "content": [{"type": "text", "text": f"{MEMORY}\n\n"}, {"type": "text", "text": "Go."}]}],
        [USER, calls("cd"), result(f"Error: no folder\n\n{HINT}", "CD")],
    ],
)
def test_injected_memory_is_stripped_and_told(messages: list[Message]) -> None:
    """Memory of ours never comes back in, and its run says that it had some."""
    chat = read_conversation(messages)
    assert chat.memory_assisted
    assert "CANARY" not in repr(chat)
    assert chat.turns[0].user == "Go."
    assert [call.observation for call in chat.turns[0].calls] in ([], ["Error: no folder"])


def test_runs_without_memory_are_not_assisted() -> None:
    """Control: the same messages without a block, or with a word that only looks like one, had no memory."""
    chat = read_conversation([{"role": "system", "content": "Be brief. <memory>16 GB</memory>"}, USER])
    assert not chat.memory_assisted


def test_system_messages_are_dropped() -> None:
    """A policy is no part of the run."""
    chat = read_conversation([{"role": "system", "content": "POLICY"}, USER, {"role": "developer", "content": "MORE"}])
    assert chat.turns == (Turn("Go."),)


def test_assistant_before_the_user() -> None:
    """An agent that greets first has a turn without a user's word."""
    assert read_conversation([say("Hello."), USER]).turns == (Turn(None, (Step("Hello."),)), Turn("Go."))


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ("text", "the messages: a list is needed, not a str"),
        (None, "a list is needed, not a NoneType"),
        ([USER, "text"], "1 of 2 entries are no objects"),
        ([{"content": "Go."}], "message 1 has the role None"),
        ([{"role": "user", "content": {"a": 1}}], "message 1 has a content that is neither"),
        ([{"role": "user", "content": ["Go."]}], "message 1 has a content that is neither"),
        ([USER, {"role": "assistant", "tool_calls": {}}], "message 2: a list is needed"),
        ([USER, {"role": "assistant", "tool_calls": [{"function": "f"}]}], "a call without a function"),
        (
            [USER, {"role": "assistant", "tool_calls": [{"function": {"arguments": "{}"}}]}],
            "a call in message 2 has no",
        ),
    ],
)
def test_other_shapes_are_refused(messages: Any, why: str) -> None:
    """What is no chat is refused with its place."""
    with pytest.raises(TrajectoryError) as caught:
        read_conversation(messages)
    assert why in caught.value.message


def test_own_judge_of_errors() -> None:
    """A reader may replace the default."""
    chat = read_conversation([USER, calls("cd"), result("DENIED", "CD")], failed=lambda text: text == "DENIED")
    assert not chat.turns[0].calls[0].ok


@pytest.mark.parametrize("as_text", [True, False])
def test_arguments_nested_too_deeply_refuse_the_run(as_text: bool) -> None:
    """They could be read, but not written and read back; the limit itself is no fault."""

    def messages(levels: int) -> list[Message]:
        text = '{"a":' + "[" * levels + "]" * levels + "}"
        asked = {"name": "f", "arguments": text if as_text else json.loads(text)}
        return [USER, {"role": "assistant", "tool_calls": [{"id": "a", "function": asked}]}, result("ok", "a")]

    assert read_conversation(messages(63)).turns[0].calls[0].name == "f"
    with pytest.raises(TrajectoryError, match="message 2: the arguments of call 'f' are nested deeper than 64"):
        read_conversation(messages(65))


def test_surrogates_in_arguments_are_counted() -> None:
    """A surrogate that was escaped twice is found where the arguments are parsed."""
    message = {
        "role": "assistant",
        "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": r'{"a": "\ud83d"}'}}],
    }
    chat = read_conversation([USER, message, result("ok", "a")])
    assert chat.turns[0].calls[0].arguments == {"a": "\ufffd"}
    assert chat.notes["replaced_surrogates"] == 1


@pytest.mark.parametrize(
    "tools", [{}, ["f"], [{"function": {"description": "no name"}}], [{"name": "f", "parameters": []}, 1]]
)
def test_bad_tools_are_refused(tools: Any) -> None:
    """A list of tools that cannot be understood is not taken for an unknown one."""
    with pytest.raises(TrajectoryError):
        read_tools(tools)


def test_no_tools_are_not_unknown_tools() -> None:
    """``null`` is unknown, an empty list is none."""
    assert read_tools(None) is None
    assert read_tools([]) == ()
