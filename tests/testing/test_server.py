"""The loopback server: a real one, that speaks the protocol, keeps what it was asked, and fails as it is told."""

from __future__ import annotations

import json
import socket
import time
from http.client import HTTPConnection, IncompleteRead
from typing import Any

import openai
import pytest
from pytest_socket import SocketConnectBlockedError

from amd.clients import ChatModel
from amd.testing import Fault, LoopbackServer, StubEmbedder


def ask(server: LoopbackServer, path: str, body: Any = None) -> tuple[int, Any, dict[str, str]]:
    """Status, body and headers of one request on a connection of its own."""
    connection = HTTPConnection(server.url.removeprefix("http://").removesuffix("/v1"), timeout=5)
    try:
        sent = None if body is None else json.dumps(body)
        connection.request("GET" if body is None else "POST", f"/v1{path}", sent, {"Authorization": "Bearer x"})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read()), dict(reply.getheaders())
    finally:
        connection.close()


def ask_again(connection: HTTPConnection) -> bytes:
    """The body of one more request on an open connection."""
    connection.request("GET", "/v1/models")
    return connection.getresponse().read()


def test_the_network_is_blocked_except_loopback() -> None:
    """A test that reaches for the network fails; the loopback device is open."""
    # The plugin's newer versions warn before they raise, and here a warning is an error.
    blocked = (SocketConnectBlockedError, UserWarning)
    with socket.socket() as outside, pytest.raises(blocked, match=r"192\.0\.2\.1"):
        outside.connect(("192.0.2.1", 80))
    with LoopbackServer() as server:
        assert ask(server, "/models")[0] == 200


def test_it_speaks_the_protocol_of_the_real_client() -> None:
    """The openai client understands models, embeddings and chat, and every request is kept."""
    calls = [{"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
    with LoopbackServer(chat=["hello", {"tool_calls": calls}], models=("stub", "other")) as server:
        http_client = openai.DefaultHttpxClient()
        with openai.OpenAI(base_url=server.url, api_key="x", http_client=http_client) as client:
            assert [model.id for model in client.models.list()] == ["stub", "other"]
            row = client.embeddings.create(model="stub", input="a text", encoding_format="float").data[0].embedding
            said = client.chat.completions.create(model="other", messages=[{"role": "user", "content": "hi there"}])
            called = client.chat.completions.create(model="stub", messages=[{"role": "user", "content": "list"}])
    assert row == StubEmbedder().embed(["a text"])[0].tolist()
    assert said.choices[0].message.content == "hello"
    assert said.usage is not None
    assert (said.usage.prompt_tokens, said.usage.completion_tokens) == (2, 1)
    assert called.choices[0].message.tool_calls is not None
    assert called.choices[0].message.tool_calls[0].function.name == "ls"
    assert called.choices[0].finish_reason == "tool_calls"
    paths = [request.path for request in server.requests]
    assert paths == ["/v1/models", "/v1/embeddings", "/v1/chat/completions", "/v1/chat/completions"]
    assert server.requests[2].body["messages"] == [{"role": "user", "content": "hi there"}]


def test_chat_replies_may_depend_on_the_request() -> None:
    """A function is asked instead of a list."""
    with LoopbackServer(chat=lambda body: body["messages"][-1]["content"].upper()) as server:
        _, reply, _ = ask(server, "/chat/completions", {"model": "stub", "messages": [{"content": "loud"}]})
    assert reply["choices"][0]["message"]["content"] == "LOUD"


def test_a_script_that_runs_out_says_so() -> None:
    """A test that asks more often than it planned learns it."""
    with LoopbackServer() as server:
        status, reply, _ = ask(server, "/chat/completions", {"model": "stub", "messages": []})
    assert (status, reply["error"]["message"]) == (500, "the script has no reply left")


def test_a_failing_embedder_is_a_failing_service() -> None:
    """What the embedder raises arrives as a server's error."""
    with LoopbackServer(embedder=StubEmbedder(fail_at=1)) as server:
        status, reply, _ = ask(server, "/embeddings", {"model": "stub", "input": ["a"]})
    assert (status, "as it was told to" in reply["error"]["message"]) == (500, True)


@pytest.mark.parametrize(
    ("path", "body"),
    [("/nothing", None), ("/embeddings", {"model": "stub"}), ("/embeddings", ["a"]), ("/models", {"model": "stub"})],
)
def test_what_it_does_not_know_is_not_found(path: str, body: Any) -> None:
    """A wrong path or body is an answer, not a traceback."""
    with LoopbackServer() as server:
        assert ask(server, path, body)[0] == 404


def test_faults_come_in_order_and_then_stop() -> None:
    """Each fault answers one request; ``None`` and the end of the list are proper answers."""
    faults = [Fault(429, "slow down", headers={"Retry-After": "7"}), None, Fault(500)]
    with LoopbackServer(faults=faults) as server:
        answers = [ask(server, "/models") for _ in range(4)]
    assert [status for status, _, _ in answers] == [429, 200, 500, 200]
    assert answers[0][1]["error"]["message"] == "slow down"
    assert answers[0][2]["Retry-After"] == "7"


def test_a_wrong_key_and_an_unknown_model_are_refused() -> None:
    """401 and 404, as a real service answers."""
    with LoopbackServer(key="secret") as server:
        assert ask(server, "/models")[0] == 401
    with LoopbackServer(key="x") as server:
        assert ask(server, "/models")[0] == 200
        assert ask(server, "/embeddings", {"model": "another", "input": ["a"]})[0] == 404


def test_a_cut_answer_is_incomplete() -> None:
    """The whole body is announced and half of it arrives."""
    with LoopbackServer(faults=[Fault(200, cut=True)]) as server, pytest.raises(IncompleteRead):
        ask(server, "/models")


def test_closing_breaks_the_connections_that_are_kept_open() -> None:
    """After the block nothing is served any more, not even on an old connection."""
    with LoopbackServer() as server:
        connection = HTTPConnection(server.url.removeprefix("http://").removesuffix("/v1"), timeout=5)
        assert ask_again(connection) == ask_again(connection)
    with pytest.raises(ConnectionError):
        ask_again(connection)
    connection.close()


def test_it_listens_where_it_is_told_to() -> None:
    """A port that was chosen is the one in the URL; one that is taken is an error, and free again afterwards."""
    with LoopbackServer() as server:
        taken = int(server.url.removesuffix("/v1").rsplit(":", 1)[1])
        with pytest.raises(OSError, match="in use"):
            LoopbackServer(port=taken)
    with LoopbackServer(port=taken) as server:
        assert server.url == f"http://127.0.0.1:{taken}/v1"
        assert ask(server, "/models")[0] == 200


def test_a_client_that_leaves_is_no_error(capfd: pytest.CaptureFixture[str]) -> None:
    """A client with a short patience leaves; the server goes on without a word, and answers the next one."""
    with LoopbackServer(faults=[Fault(200, delay=0.2, body="x" * 5_000_000)]) as server:
        host, port = server.url.removeprefix("http://").removesuffix("/v1").split(":")
        with socket.create_connection((host, int(port))) as impatient:
            impatient.sendall(b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n")
            while not server.requests:  # the fault is meant for this request
                time.sleep(0.001)
        assert ask(server, "/models")[0] == 200
    assert capfd.readouterr().err == ""


QUESTION: dict[str, Any] = {"model": "stub", "messages": [{"role": "user", "content": "one two"}]}


def chat(server: LoopbackServer, **options: Any) -> tuple[int, Any]:
    """Status and body of one chat request with these members beside model and messages."""
    status, reply, _ = ask(server, "/chat/completions", {**QUESTION, **options})
    return status, reply


def test_it_refuses_parameters_by_name() -> None:
    """In OpenAI's words; a request without them is answered."""
    with LoopbackServer(chat=["hello"], refuses=["temperature", "max_tokens"]) as server:
        for name in ("temperature", "max_tokens"):
            status, reply = chat(server, **{name: 0})
            assert (status, f"'{name}' is not supported" in reply["error"]["message"]) == (400, True)
        assert chat(server, top_p=1)[0] == 200


def test_it_ignores_parameters_by_name() -> None:
    """The chat function does not see them, and the prompt does not grow by them; otherwise both."""
    seen = lambda body: str("tools" in body)  # noqa: E731 - read in place
    for ignores, found in (((), ("True", True)), (("tools",), ("False", False))):
        with LoopbackServer(chat=seen, ignores=ignores) as server:
            _, reply = chat(server, tools=[{"type": "function", "function": {"name": "ls"}}])
        grew = reply["usage"]["prompt_tokens"] > 2
        assert (reply["choices"][0]["message"]["content"], grew) == found


def test_a_reply_may_say_why_it_ends_and_what_it_cost() -> None:
    """``finish_reason`` and ``usage`` are no part of the message; all else in it is."""
    script = {"content": "he", "reasoning_content": "hm", "finish_reason": "length", "usage": None}
    with LoopbackServer(chat=[script, "hello"]) as server:
        _, cut = chat(server)
        _, whole = chat(server)
    message = {"role": "assistant", "content": "he", "reasoning_content": "hm"}
    assert cut["choices"] == [{"index": 0, "message": message, "finish_reason": "length"}]
    assert cut["usage"] is None
    assert (whole["choices"][0]["finish_reason"], whole["usage"]["prompt_tokens"]) == ("stop", 2)


def test_the_first_question_of_a_model_costs_no_reply() -> None:
    """The script is for what the test asks."""
    for ignores in ((), ("response_format",)):
        with LoopbackServer(chat=["hello"], ignores=ignores) as server, ChatModel("stub", base_url=server.url) as model:
            assert model.probe().json_schema is not bool(ignores)
            assert model.complete(QUESTION["messages"], max_tokens=5).text == "hello"
