"""What an endpoint takes: one small question, and more only where the first is refused."""

from __future__ import annotations

import json
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any

import pytest

from amd.clients import ChatModel
from amd.errors import ClientError
from amd.testing import Fault, LoopbackServer, Request

PARAMETERS = ("response_format", "temperature", "max_tokens")


def model_at(server: LoopbackServer, **options: Any) -> ChatModel:
    """A model that does not wait long between attempts."""
    return ChatModel("stub", base_url=server.url, **{"first_wait": 0.01, **options})


def completion(content: str | None, finish_reason: str = "stop", **message: Any) -> Fault:
    """A whole answer, in place of the server's own."""
    choice = {"message": {"content": content, **message}, "finish_reason": finish_reason}
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return Fault(200, body=json.dumps({"choices": [choice], "usage": usage}))


def test_a_server_that_takes_all_is_asked_once() -> None:
    """One request finds out, from many threads at the same time, and its cost is told."""
    with LoopbackServer(latency=0.05) as server, model_at(server) as model, ThreadPoolExecutor(8) as threads:
        found = set(threads.map(lambda _: model.probe(), range(8)))
        assert len(server.requests) == 1
        body = server.requests[0].body
    (able,) = found
    assert (able.json_schema, able.limit, able.temperature) == (True, "max_tokens", True)
    assert (able.usage.attempts, able.usage.prompt_tokens > 0, model.notices) == (1, True, ())
    assert (body["temperature"], body["response_format"]["json_schema"]["strict"]) == (0, True)
    assert "json" not in json.dumps(body["messages"]).casefold(), "else any model could answer it by chance"


@pytest.mark.parametrize("refuses", [found for n in range(1, 4) for found in combinations(PARAMETERS, n)], ids=str)
def test_what_is_refused_by_name_is_left_out(refuses: Collection[str]) -> None:
    """As many requests more as there are parameters refused; then every request does without them."""
    with LoopbackServer(chat=["Hello."], refuses=refuses) as server, model_at(server) as model:
        able = model.probe()
        assert len(server.requests) == able.usage.attempts == 1 + len(refuses)
        model.complete([{"role": "user", "content": "Hi."}], max_tokens=7, schema={"type": "object"})
        body = server.requests[-1].body
    assert able.json_schema == ("response_format" in body) == ("response_format" not in refuses)
    assert able.temperature == ("temperature" in body) == ("temperature" not in refuses)
    assert body[able.limit] == 7
    assert (able.limit == "max_tokens") == ("max_tokens" not in refuses)
    assert len(model.notices) == len(set(refuses) - {"max_tokens"})


# How OpenAI's newer models, vLLM and FastAPI word it.
WORDS = [
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    '{"detail": [{"type": "extra_forbidden", "loc": ["body", "max_tokens"], "msg": "Extra inputs are not permitted"}]}',
    "no",
    "no; you sent max_tokens, temperature and response_format",
]


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("status", [400, 422])
def test_the_limit_has_another_name(words: str, status: int) -> None:
    """Found with or without a word of use in the refusal, and nothing else is given up for it."""

    def newer(request: Request) -> Fault | None:
        body = words if words.startswith("{") else None
        return Fault(status, words, body=body) if "max_tokens" in request.body else None

    with LoopbackServer(faults=newer) as server, model_at(server) as model:
        able = model.probe()
    assert (able.json_schema, able.limit, able.temperature) == (True, "max_completion_tokens", True)


def test_a_server_that_refuses_everything_is_asked_eight_times() -> None:
    """Then its own words are the error, and a later call asks again: it may have been repaired."""
    with LoopbackServer(faults=[Fault(400, "no chat today")] * 8) as server, model_at(server) as model:
        with pytest.raises(ClientError, match="answered 400: no chat today") as caught:
            model.probe()
        assert (len(server.requests), caught.value.status) == (8, 400)
        assert model.probe().json_schema


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_of_all_requests_is_told_at_once(status: int) -> None:
    """C18: no parameter is to blame for a wrong key or a missing model."""
    with LoopbackServer(faults=lambda _: Fault(status, "not you")) as server, model_at(server) as model:
        with pytest.raises(ClientError, match="not you"):
            model.probe()
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("answers", "honoured"),
    [
        pytest.param([completion('{"ice_is_cold": true}')], True, id="kept"),
        pytest.param([completion(' \n{ "ice_is_cold" : false }\n')], True, id="kept, with blanks"),
        pytest.param([completion("Yes.")], False, id="taken and ignored"),
        pytest.param([completion('{"answer": "yes"}')], False, id="some other JSON"),
        pytest.param([completion('{"ice_is_cold": "yes"}')], False, id="another type"),
        pytest.param([completion('```json\n{"ice_is_cold": true}\n```')], False, id="in fences"),
        pytest.param([completion(None)], False, id="nothing"),
        pytest.param([completion('{\n\n\n\n "ice_', "length")], True, id="cut on the way"),
        pytest.param([completion("```json\n{\n ", "length")], True, id="cut behind a fence"),
        pytest.param([completion("Ice is a very", "length")], False, id="cut in words"),
        pytest.param(
            [completion(None, "length", reasoning_content="Ice?"), completion('{"ice_is_cold": true}')],
            True,
            id="thought too long",
        ),
        pytest.param([completion(None, "length"), completion(None, "length")], False, id="thinks without end"),
    ],
)
def test_a_schema_that_is_taken_is_not_yet_kept(answers: list[Fault], honoured: bool) -> None:
    """The answer tells; one that had no room for a word is asked again with more."""
    with LoopbackServer(faults=answers) as server, model_at(server) as model:
        able = model.probe()
        rooms = [request.body["max_tokens"] for request in server.requests]
    assert able.json_schema is honoured
    assert (able.usage.attempts, able.usage.completion_tokens) == (len(answers), 5 * len(answers))
    assert rooms == sorted(set(rooms))
    assert [notice.endswith("in the prompt instead") for notice in model.notices] == [True] * (not honoured)
