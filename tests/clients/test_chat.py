"""The chat model behind an endpoint, against a real server on the loopback device and against none."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from amd.clients import ChatModel, Completion, RawCall, Usage
from amd.errors import ClientError, ConfigError
from amd.testing import Fault, LoopbackServer

HI = [{"role": "user", "content": "Hi there."}]
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
TOOLS = [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}]
CALL = {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]}


def model_at(server: LoopbackServer, **options: Any) -> ChatModel:
    """A model that does not wait long between attempts."""
    return ChatModel("stub", base_url=server.url, **{"first_wait": 0.01, **options})


def bodies(server: LoopbackServer) -> list[dict[str, Any]]:
    """What was sent after the first question of a model."""
    return [request.body for request in server.requests[1:]]


def test_a_completion_and_what_was_sent_for_it() -> None:
    """Temperature 0, the limit, the schema; the first call asks what the endpoint takes, the next does not."""
    with LoopbackServer(chat=['{"a": 1}', "Hello."]) as server, model_at(server, api_key="sk") as model:
        first = model.complete(HI, max_tokens=9, schema=SCHEMA)
        second = model.complete(HI, max_tokens=8)
        assert bodies(server) == [
            {
                "model": "stub",
                "messages": HI,
                "max_tokens": 9,
                "temperature": 0,
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True},
                },
            },
            {"model": "stub", "messages": HI, "max_tokens": 8, "temperature": 0},
        ]
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer sk"}
    assert (first.text, second.text, second.finish_reason) == ('{"a": 1}', "Hello.", "stop")
    assert (second.usage.prompt_tokens, second.usage.completion_tokens, second.usage.attempts) == (2, 1, 1)
    assert second.usage.seconds > 0
    assert (model.model, model.notices, model.tools_ignored) == ("stub", (), None)


def test_a_schema_in_words_where_none_is_kept() -> None:
    """The prompt has it then, and the request does not; said once."""
    with LoopbackServer(chat=lambda _: "{}", ignores=["response_format"]) as server, model_at(server) as model:
        for _ in range(2):
            model.complete(HI, max_tokens=9, schema=SCHEMA)
        (body, again) = bodies(server)
    assert body == again
    assert "response_format" not in body
    assert body["messages"][0]["content"].endswith('{"type":"object","properties":{"a":{"type":"integer"}}}')
    assert model.notices == (f"{server.url} keeps to no schema: it stands in the prompt instead",)


def test_reasoning_is_no_text_and_a_cut_is_told() -> None:
    """C08 b and d: what the server keeps apart stays apart; ``length`` and empty content are there to be seen."""
    thinking = {"content": None, "reasoning_content": "So many words", "finish_reason": "length"}
    replies = [thinking, {"content": "Yes.", "reasoning_content": "So"}]
    with LoopbackServer(chat=replies) as server, model_at(server) as model:
        cut = model.complete(HI, max_tokens=3)
        whole = model.complete(HI, max_tokens=300)
    assert (cut.text, cut.finish_reason) == ("", "length")
    assert (whole.text, whole.finish_reason) == ("Yes.", "stop")


def test_thoughts_that_left_no_room_are_a_cut_too() -> None:
    """OpenAI words that as a refusal; it was paid for all the same. Another refusal is none."""
    words = "Could not finish the message because max_tokens or model output limit was reached. Please try again."
    faults = [None, Fault(400, words), Fault(400, "too long")]
    with LoopbackServer(faults=faults) as server, model_at(server) as model:
        found = model.complete(HI, max_tokens=3)
        with pytest.raises(ClientError, match="too long"):
            model.complete(HI, max_tokens=3)
    assert (found.text, found.finish_reason, found.usage.estimated, found.usage.attempts) == ("", "length", True, 1)
    assert found.usage.prompt_tokens > 0


def test_a_server_that_does_not_count() -> None:
    """The tokens are estimated then, and marked."""
    with LoopbackServer(chat=[{"content": "Hello.", "usage": None}]) as server, model_at(server) as model:
        usage = model.complete(HI, max_tokens=9).usage
    assert usage.estimated
    assert (usage.prompt_tokens, usage.completion_tokens) == (13, 2)


def test_attempts_are_counted() -> None:
    """C18: a service that is busy for a moment costs time, which the usage has."""
    with LoopbackServer(chat=["Hello."], faults=[None, Fault(503), Fault(429)]) as server, model_at(server) as model:
        usage = model.complete(HI, max_tokens=9).usage
    assert usage.attempts == 3
    assert usage.seconds >= 0.03


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 429, 500])
def test_what_kind_of_refusal_it_is(status: int) -> None:
    """C18: the status tells a refusal of this request from one of all, and from overload after all attempts."""
    faults = [None, *[Fault(status, "no")] * 2]
    with LoopbackServer(faults=faults) as server, model_at(server, attempts=2) as model:
        with pytest.raises(ClientError, match=f"answered {status}: no") as caught:
            model.complete(HI, max_tokens=9)
        assert len(bodies(server)) == (2 if status in (429, 500) else 1)
    assert caught.value.status == status


def test_nobody_is_there() -> None:
    """No status: then the endpoint is unreachable."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        with (
            ChatModel("stub", base_url=url, attempts=2, first_wait=0.01) as model,
            pytest.raises(ClientError, match="cannot be reached") as caught,
        ):
            model.complete(HI, max_tokens=9)
    assert (caught.value.status, caught.value.fields["attempts"]) == (None, 2)


@pytest.mark.parametrize(
    "body", ["<html>Welcome</html>", '{"choices": []}', '{"error": {"message": "no credit"}}', "7"]
)
def test_an_answer_that_is_none(body: str) -> None:
    """A page, no choice, an error under the status 200."""
    with (
        LoopbackServer(faults=[None, Fault(200, body=body)]) as server,
        model_at(server) as model,
        pytest.raises(ClientError, match="answered a chat request with no completion: ") as caught,
    ):
        model.complete(HI, max_tokens=9)
    assert (caught.value.status, caught.value.fields["attempts"]) == (200, 1)
    assert ("credit" in str(caught.value)) == ("credit" in body)


def test_half_characters_are_replaced_before_they_are_sent() -> None:
    """No request can hold a lone surrogate; what comes back has none either."""
    with LoopbackServer(chat=["bad \ud83d"]) as server, model_at(server) as model:
        found = model.complete([{"role": "user", "content": "half \ud83d"}], max_tokens=9)
        assert bodies(server)[0]["messages"] == [{"role": "user", "content": "half \ufffd"}]
    assert found.text == "bad \ufffd"


def test_sixteen_threads_share_a_model() -> None:
    """Each gets the answer to its own question, at the same time."""
    echo = lambda body: body["messages"][0]["content"].upper()  # noqa: E731 - read in place
    with LoopbackServer(chat=echo, latency=0.05) as server, model_at(server) as model:
        with ThreadPoolExecutor(16) as threads:
            asked = [[{"role": "user", "content": f"question {n}"}] for n in range(64)]
            found = list(threads.map(lambda messages: model.complete(messages, max_tokens=9).text, asked))
        assert len(server.requests) == 65
    assert found == [f"QUESTION {n}" for n in range(64)]


def test_closing_breaks_off() -> None:
    """Whoever waits gets an error; so does whoever comes later."""
    with LoopbackServer(faults=lambda _: Fault(503)) as server, ThreadPoolExecutor(1) as threads:
        model = model_at(server, first_wait=50)
        asked = threads.submit(model.complete, HI, max_tokens=9)
        while not server.requests:
            time.sleep(0.001)
        model.close()
        with pytest.raises(ClientError):
            asked.result(timeout=10)
    with pytest.raises(ClientError):
        model.complete(HI, max_tokens=9)


def test_neither_an_endpoint_nor_a_key() -> None:
    """A usage error, before anything is sent."""
    with pytest.raises(ConfigError, match="neither an endpoint nor a key"):
        ChatModel("stub")


def test_tools_that_are_called() -> None:
    """The calls are in the completion, and the endpoint is known to show them to the model."""
    with LoopbackServer(chat=[CALL]) as server, model_at(server) as model:
        found = model.complete(HI, max_tokens=9, tools=TOOLS, tool_choice="required")
        (body,) = bodies(server)
    assert found.tool_calls == (RawCall("ls", "{}", "c1"),)
    assert (found.text, found.finish_reason) == ("", "tool_calls")
    assert (body["tools"], body["tool_choice"]) == (TOOLS, "required")
    assert (model.tools_ignored, model.notices) == (False, ())


def test_a_required_call_that_does_not_come() -> None:
    """Told once, and with it what to do; later requests are as cheap as any."""
    with LoopbackServer(chat=lambda _: "Let me see.") as server, model_at(server) as model:
        for _ in range(3):
            model.complete(HI, max_tokens=9, tools=TOOLS, tool_choice="required")
        assert len(bodies(server)) == 3
    assert model.tools_ignored is True
    why = "a call was required, and the answer has none"
    assert model.notices == (f"{server.url} ignores tools ({why}): ask for a call by schema (call_schema)",)


@pytest.mark.parametrize(
    ("choice", "reason"), [(None, "stop"), ("auto", "stop"), ("auto", "length"), ("required", "length")]
)
@pytest.mark.parametrize("ignores", [(), ("tools",)], ids=["shown", "ignored"])
def test_the_length_of_the_prompt_tells(choice: str | None, reason: str, ignores: tuple[str, ...]) -> None:
    """Where no call had to come, one small request without the tools compares, once, and its cost is counted."""
    answer = {"content": "Let me see.", "finish_reason": reason}
    with LoopbackServer(chat=lambda _: answer, ignores=ignores) as server, model_at(server) as model:
        first, second = (model.complete(HI, max_tokens=9, tools=TOOLS, tool_choice=choice) for _ in range(2))
        asked, without, again = bodies(server)
    assert (asked, without) == (again, {"model": "stub", "messages": HI, "max_tokens": 1, "temperature": 0})
    assert model.tools_ignored is bool(ignores)
    assert len(model.notices) == len(ignores)
    assert (first.usage.attempts, second.usage.attempts) == (2, 1)
    assert first.usage.prompt_tokens == second.usage.prompt_tokens + 2


def test_a_call_tells_the_contrary() -> None:
    """A model that once kept silent is no server that ignores tools."""
    with LoopbackServer(chat=["Let me see.", CALL]) as server, model_at(server) as model:
        model.complete(HI, max_tokens=9, tools=TOOLS, tool_choice="required")
        assert model.tools_ignored is True
        model.complete(HI, max_tokens=9, tools=TOOLS, tool_choice="required")
    assert model.tools_ignored is False


@pytest.mark.parametrize(
    ("reply", "faults", "choice"),
    [
        ({"content": "Let me see.", "usage": None}, (), "auto"),
        ("Let me see.", (None, None, Fault(400, "no")), "auto"),
        ("Let me see.", (), "none"),
    ],
    ids=["not counted", "refused", "not asked for"],
)
def test_where_nothing_tells_nothing_is_said(reply: Any, faults: tuple[Fault | None, ...], choice: str) -> None:
    """Unknown stays unknown, and the completion is there all the same."""
    with LoopbackServer(chat=lambda _: reply, faults=faults) as server, model_at(server) as model:
        found = model.complete(HI, max_tokens=9, tools=TOOLS, tool_choice=choice)
    assert (found.text, model.tools_ignored, model.notices) == ("Let me see.", None, ())


def test_the_shapes_are_values() -> None:
    """They compare by what they hold, as a journal and a test need it."""
    assert Completion("a", "stop", Usage(1, 2)) == Completion("a", "stop", Usage(1, 2))


def test_a_temperature_and_a_seed_are_sent() -> None:
    """With each request for an answer, where the endpoint lets a temperature be chosen."""
    with LoopbackServer(chat=lambda _: "Hello.") as server, model_at(server, temperature=0.7, seed=3) as model:
        model.complete(HI, max_tokens=8)
        (body,) = bodies(server)
    assert (body["temperature"], body["seed"]) == (0.7, 3)
    with LoopbackServer(chat=lambda _: "Hello.") as server, model_at(server) as model:
        model.complete(HI, max_tokens=8)
        (body,) = bodies(server)
    assert (body["temperature"], "seed" in body) == (0, False)


def test_a_temperature_that_is_refused_is_no_other_one() -> None:
    """An error, before any answer is taken for one of that temperature; without a wish the endpoint's own counts."""

    def refuse(request: Any) -> Fault | None:
        warm = request.method == "POST" and "temperature" in request.body
        return Fault(400, "temperature is not supported") if warm else None

    with LoopbackServer(chat=lambda _: "Hello.", faults=refuse) as server:
        with (
            model_at(server, temperature=0.7) as model,
            pytest.raises(ConfigError, match=r"refuses the temperature 0\.7"),
        ):
            model.complete(HI, max_tokens=8)
        with model_at(server) as model:
            assert model.complete(HI, max_tokens=8).text == "Hello."
