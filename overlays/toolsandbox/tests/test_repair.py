"""What is mended in a completion, and what stays because it is the model's own."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion

from amd.errors import AmdError, ClientError
from amd_toolsandbox.repair import repair, without_thoughts


def completion(**message):
    """A completion as the client makes it."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": None, **message}}
    value = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return ChatCompletion.model_validate(value)


def call(call_id="call_1", name="water", arguments="{}"):
    """A call."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def mended(**message):
    """The message after the repair."""
    return repair(completion(**message)).choices[0].message


@pytest.mark.parametrize(("content", "said"), [("Done.", "Done."), (None, ""), ("", "")])
@pytest.mark.parametrize("more", [{"tool_calls": []}, {"tool_calls": None}, {}])
def test_no_calls_are_none_and_no_words_are_empty(content, said, more):
    """An empty list of calls would make the harness ask for ever; it insists on words where no call is."""
    message = mended(content=content, **more)
    assert (message.tool_calls, message.content) == (None, said)


@pytest.mark.parametrize(
    ("given_id", "known"),
    [
        ("call_1", "call_1"),
        ("chatcmpl-tool-5fe3", "chatcmpl_tool_5fe3"),
        ("0", "call_0"),
        ("9f-x y", "call_9f_x_y"),
        ("", "call_0"),
        ("functions.water:0", "functions_water_0"),
    ],
)
def test_an_id_becomes_a_python_name(given_id, known):
    """The harness writes it into code; one that is a name already stays."""
    assert [each.id for each in mended(tool_calls=[call(given_id)]).tool_calls] == [known]


@given(st.text())
def test_every_id_becomes_a_python_name(given_id):
    """Whatever a server sends, and whatever place it has."""
    made = mended(tool_calls=[call(), call(given_id)]).tool_calls
    assert made[0].id == "call_1"
    assert made[1].id.isidentifier()


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ("", "{}"),
        (" \n", "{}"),
        ("{", "{"),
        ("[]", "[]"),
        ("null", "null"),
        ('{"a": NaN}', '{"a": NaN}'),
        ('{"a":1}', '{"a":1}'),
    ],
)
def test_only_empty_arguments_are_filled_in(arguments, kept):
    """What cannot be read is the model's own mistake, and changes the benchmark if it is mended."""
    assert mended(tool_calls=[call(arguments=arguments)]).tool_calls[0].function.arguments == kept


def test_a_call_of_no_tool_stays():
    """So does what is right, byte for byte."""
    before = completion(content="I look.", tool_calls=[call("a", "no_such", '{"x": "é"}'), call("a")])
    assert repair(before.model_copy(deep=True)) == before


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Wifi is off.", "Wifi is off."),
        ("<think>Off?</think>\n\nWifi is off.", "Wifi is off."),
        ("Off?</think>\nWifi is off.", "Wifi is off."),
        ("<think>a</think>One. <think>b</think>Two.", "One. Two."),
        ("<think>no end", ""),
        ("I think <b>so</b>", "I think <b>so</b>"),
    ],
)
def test_thoughts_do_not_reach_the_other_side(text, plain):
    """Neither the user nor the evaluator reads them."""
    assert without_thoughts(text) == plain
    assert mended(content=text).content == plain
    assert mended(content=text, tool_calls=[call()]).content == plain


@pytest.mark.parametrize("choices", [None, []])
def test_an_answer_without_a_message_is_the_service_s_fault(choices):
    """Some servers answer 200 with an error of their own; its words are kept."""
    answer = completion()
    answer.choices = choices
    answer.id = "out of memory"
    with pytest.raises(ClientError, match=r"without a message: .*out of memory"):
        repair(answer)


def test_an_answer_of_another_shape_is_no_fault_of_the_model():
    """The client gives a text where the answer was no JSON."""
    with pytest.raises(AmdError, match="amd failed: AttributeError"):
        repair(json.dumps({"error": "x"}))
