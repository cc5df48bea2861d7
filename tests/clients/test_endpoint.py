"""The question before the first task, against a real server on the loopback device and against none."""

from __future__ import annotations

import socket
import time

import pytest

from amd.clients import check_endpoint
from amd.errors import ClientError, ConfigError
from amd.testing import Fault, LoopbackServer


def test_a_served_model_passes_with_one_small_question() -> None:
    """``GET /models`` and nothing else: no chat is paid for."""
    with LoopbackServer(models=["small", "large"]) as server:
        check_endpoint("large", base_url=server.url, api_key=None)
        check_endpoint("large", base_url=server.url + "/", api_key="")
        assert [(request.method, request.path) for request in server.requests] == [("GET", "/v1/models")] * 2


def test_the_key_is_sent() -> None:
    """With it the endpoint answers, without it the error names the address and the next step, not the key."""
    with LoopbackServer(key="sk-right") as server:
        check_endpoint("stub", base_url=server.url, api_key="sk-right")
        for key in (None, "sk-wrong"):
            with pytest.raises(ClientError, match=r"answered 401: Incorrect API key.*give the key") as caught:
                check_endpoint("stub", base_url=server.url, api_key=key)
            assert (caught.value.status, caught.value.fields["url"]) == (401, server.url)
            assert "sk-" not in str(caught.value) + str(caught.value.fields)


@pytest.mark.parametrize("status", [400, 403, 429, 500, 502, 503])
def test_a_refusal_is_told_at_once(status: int) -> None:
    """With the server's own words and exit code 3; nothing is asked twice."""
    with LoopbackServer(faults=lambda _: Fault(status, "not today")) as server:
        with pytest.raises(ClientError, match=f"at {server.url} answered {status}: not today") as caught:
            check_endpoint("stub", base_url=server.url, api_key=None)
        assert len(server.requests) == 1
    assert caught.value.exit_code == 3
    assert caught.value.next_step


def test_a_refusal_without_words() -> None:
    """Some proxies answer with a page."""
    with (
        LoopbackServer(faults=[Fault(502, body="<html>Bad gateway</html>")]) as server,
        pytest.raises(ClientError, match="answered 502"),
    ):
        check_endpoint("stub", base_url=server.url, api_key=None)


@pytest.mark.parametrize("status", [404, 405])
def test_a_server_that_lists_nothing_passes(status: int) -> None:
    """Not every server that answers a chat also lists its models."""
    with LoopbackServer(faults=[Fault(status)]) as server:
        check_endpoint("whatever", base_url=server.url, api_key=None)
        assert len(server.requests) == 1


def test_a_slow_server_is_not_waited_for() -> None:
    """It may be loading its weights still: said after the timeout, in seconds."""
    with LoopbackServer(faults=[Fault(200, delay=30)]) as server:
        begin = time.monotonic()
        with pytest.raises(ClientError, match=r"did not answer within 0\.2 seconds"):
            check_endpoint("stub", base_url=server.url, api_key=None, timeout=0.2)
        assert time.monotonic() - begin < 10


def test_a_port_that_nobody_listens_on() -> None:
    """The system's own reason is in the message."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(ClientError, match=r"cannot be reached: .*refused.*start the server") as caught:
        check_endpoint("stub", base_url=url, api_key=None)
    assert url in str(caught.value)


def test_an_answer_that_breaks_off() -> None:
    """Half a list is no list."""
    with (
        LoopbackServer(faults=[Fault(200, body='{"data": [{"id": "stub"}]}', cut=True)]) as server,
        pytest.raises(ClientError, match="cannot be reached"),
    ):
        check_endpoint("stub", base_url=server.url, api_key=None)


def test_a_model_that_is_not_there() -> None:
    """The names of up to five that are."""
    with (
        LoopbackServer(models=["m1", "m2"]) as server,
        pytest.raises(ClientError, match="has no model 'stub'; it has m1, m2; name one of them"),
    ):
        check_endpoint("stub", base_url=server.url, api_key=None)
    with (
        LoopbackServer(models=[f"m{n}" for n in range(7)]) as server,
        pytest.raises(ClientError, match="it has m0, m1, m2, m3, m4 and 2 more;") as caught,
    ):
        check_endpoint("stub", base_url=server.url, api_key=None)
    assert caught.value.fields["models"] == [f"m{n}" for n in range(7)]


@pytest.mark.parametrize(
    "body",
    [
        '{"data": []}',
        '{"data": null}',
        '{"models": [{"name": "m1"}]}',
        "[]",
        '[{"id": "stub"}]',
        '{"data": [{"id": "models/stub"}]}',
        '{"data": [{"id": "m1"}, {"id": "stub:latest"}]}',
        '{"data": [{"id": 7}, "m1", null]}',
    ],
)
def test_lists_in_other_shapes_pass(body: str) -> None:
    """A bare list, a longer name for the same model, or no list at all: only a chat can tell."""
    with LoopbackServer(faults=[Fault(200, body=body)]) as server:
        check_endpoint("stub", base_url=server.url, api_key=None)


@pytest.mark.parametrize("body", ['[{"id": "m1"}]', '{"data": [{"id": "models/stubborn"}, {"id": "stub:7b"}]}'])
def test_other_shapes_that_lack_the_model(body: str) -> None:
    """The control of the above: a name that only begins or ends alike is another model."""
    with (
        LoopbackServer(faults=[Fault(200, body=body)]) as server,
        pytest.raises(ClientError, match="has no model 'stub'"),
    ):
        check_endpoint("stub", base_url=server.url, api_key=None)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<html>Welcome</html>", "answers /models with no JSON"),
        ("", "answers /models with no JSON"),
        ("{" * 200, "answers /models with no JSON"),
        ('{"error": "Unexpected endpoint. (GET /models)"}', "with an error: Unexpected endpoint"),
    ],
)
def test_a_body_of_something_else(body: str, words: str) -> None:
    """A page, or an error under the status 200, means that the base URL is not the one of the endpoint."""
    with (
        LoopbackServer(faults=[Fault(200, body=body)]) as server,
        pytest.raises(ClientError, match=f"{words}.*up to and with /v1"),
    ):
        check_endpoint("stub", base_url=server.url, api_key=None)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000/v1",
        "http://",
        "http://[::1/v1",
        "ftp://h/v1",
        "http://h:99999/v1",
        "http://a..b/v1",
        "http://h\n/v1",
    ],
)
def test_what_is_no_address(url: str) -> None:
    """A usage error: nothing was unreachable, nothing was asked."""
    with pytest.raises(ConfigError, match="is no address; give it as http://HOST:PORT/v1"):
        check_endpoint("stub", base_url=url, api_key=None)


@pytest.mark.parametrize("key", ["sk-secret\n", "sk secret", "sk-geheimnüsse"])
def test_a_key_that_no_header_holds(key: str) -> None:
    """Said without the key in it."""
    with pytest.raises(ConfigError, match="API key") as caught:
        check_endpoint("stub", base_url="http://127.0.0.1:1/v1", api_key=key)
    assert key.strip() not in str(caught.value)
