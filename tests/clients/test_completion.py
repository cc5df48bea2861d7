"""What a model answered, read from the bodies that servers send."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amd.chat import estimated_tokens
from amd.clients import Completion, RawCall, Usage
from amd.clients.completion import cost_of, read_completion
from amd.errors import ClientError
from amd.json_text import dumps

PROMPT = [{"role": "user", "content": "Hi."}]
COUNTED = {"prompt_tokens": 10, "completion_tokens": 4}


def read(message: dict[str, Any], usage: Any = COUNTED, **choice: Any) -> Completion:
    """The completion of a body with one choice."""
    body = {"choices": [{"message": message, "finish_reason": "stop", **choice}], "usage": usage}
    return read_completion(json.dumps(body), PROMPT, seconds=0.5, attempts=2)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "Hello."}, "Hello."),
        ({"content": None}, ""),
        ({}, ""),
        ({"content": "Hello.", "reasoning_content": "They greet."}, "Hello."),
        ({"content": None, "reasoning_content": "They greet."}, ""),
        ({"content": "Hello.", "reasoning": "They greet.", "reasoning_details": []}, "Hello."),
        ({"content": "<think>They greet.</think>Hello."}, "<think>They greet.</think>Hello."),
        (
            {"content": [{"type": "thinking"}, {"type": "text", "text": "Hel"}, {"type": "text", "text": "lo."}]},
            "Hello.",
        ),
        ({"content": "half \ud83d"}, "half \ufffd"),
    ],
)
def test_the_text_is_what_was_said(message: dict[str, Any], text: str) -> None:
    """Reasoning that the server keeps apart never reaches it; thoughts in the text are the reader's business."""
    assert read(message).text == text


def test_why_it_stopped() -> None:
    """The server's own word, or none."""
    assert read({}, finish_reason="length").finish_reason == "length"
    assert read({}, finish_reason=None).finish_reason == ""


@pytest.mark.parametrize("arguments", ['{"folder": "a"}', '{"folder":', ""])
def test_calls_are_as_the_model_wrote_them(arguments: str) -> None:
    """Nothing of them is parsed here."""
    calls = [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": arguments}}]
    assert read({"content": None, "tool_calls": calls}).tool_calls == (RawCall("ls", arguments, "c1"),)


def test_calls_in_other_spellings() -> None:
    """Some servers send an object for the text, no id, or null for no arguments."""
    calls = [
        {"function": {"name": "ls", "arguments": {"folder": "a"}}},
        {"function": {"name": "pwd", "arguments": None}},
    ]
    assert read({"tool_calls": calls}).tool_calls == (RawCall("ls", '{"folder":"a"}'), RawCall("pwd", "{}"))
    assert read({"tool_calls": None}).tool_calls == ()


def test_usage_is_the_servers() -> None:
    """Its figures, and what the request took."""
    assert read({"content": "Hello."}).usage == Usage(10, 4, 0.5, 2)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, "many"])
def test_missing_usage_is_estimated_and_marked(usage: Any) -> None:
    """From the bytes that were sent and came back, thoughts and calls among them."""
    calls = [{"id": "c1", "function": {"name": "ls", "arguments": "{}"}}]
    found = read({"content": "Hello.", "reasoning_content": "They greet.", "tool_calls": calls}, usage).usage
    asked, said = estimated_tokens(dumps(PROMPT).decode()), estimated_tokens("They greet.Hello.ls{}")
    assert found == Usage(asked, said, 0.5, 2, estimated=True)


def test_half_of_the_usage_is_kept() -> None:
    """The figure that is there counts; the whole is marked."""
    assert read({"content": "Hello."}, {"prompt_tokens": 7}).usage == Usage(7, 2, 0.5, 2, estimated=True)


@pytest.mark.parametrize("figure", [-5, 0, True, 2**63, 10**30, 3.5, "7"])
def test_a_figure_that_no_request_can_have_is_estimated(figure: Any) -> None:
    """A budget and a bill are made of it: none may shrink, or be without end."""
    usage = read({"content": "Hello."}, {"prompt_tokens": figure, "completion_tokens": figure}).usage
    assert usage.estimated
    assert 0 < usage.prompt_tokens < 1_000
    assert 0 < usage.completion_tokens < 1_000


def test_usages_add_up() -> None:
    """A sum is estimated if a part of it is."""
    total = sum([Usage(1, 2, 0.5), Usage(3, 4, 0.5, 2, estimated=True)], Usage(attempts=0))
    assert total == Usage(4, 6, 1.0, 3, estimated=True)


def test_what_a_failure_cost() -> None:
    """Time and attempts; an error of something else cost nothing that is known."""
    assert cost_of(ClientError("no", attempts=3, seconds=1.5)) == Usage(0, 0, 1.5, 3)
    assert cost_of(ClientError("no")) == Usage(attempts=0)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "Expecting value"),
        ("<html>", "Expecting value"),
        ("null", "no message"),
        ("[]", "no message"),
        ('{"choices": []}', "no message"),
        ('{"choices": null}', "no message"),
        ('{"choices": [null]}', "no message"),
        ('{"choices": [{"text": "Hello."}]}', "no message"),
        ('{"error": {"message": "out of credit", "code": 402}}', "^out of credit$"),
        ('{"error": "out of credit"}', "^out of credit$"),
        ('{"choices": [{"message": {"tool_calls": [{"function": {}}]}}]}', "has no name"),
        ('{"choices": [{"message": {"tool_calls": ["ls"]}}]}', "has no name"),
    ],
)
def test_what_is_no_completion(body: str, words: str) -> None:
    """Said with the server's own words, if it has some."""
    with pytest.raises(ValueError, match=words):
        read_completion(body, PROMPT, seconds=0, attempts=1)


def test_numbers_that_are_none_do_no_harm() -> None:
    """Some servers send log probabilities of minus infinity."""
    body = '{"choices": [{"message": {"content": "Hello."}, "logprobs": {"content": [-Infinity, NaN]}}]}'
    assert read_completion(body, PROMPT, seconds=0, attempts=1).text == "Hello."
