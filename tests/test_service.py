"""How a service is reached, against a real server on the loopback device and against none."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from amd.errors import ClientError, ConfigError
from amd.service import Service
from amd.testing import Fault, LoopbackServer

BODY = {"model": "stub", "input": "a text"}


@pytest.fixture
def dead_url() -> Iterator[str]:
    """An address that nobody listens on, for as long as the test lasts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{free.getsockname()[1]}/v1"


def service_at(server: LoopbackServer, **options: Any) -> Service:
    """A service that does not wait long between attempts."""
    return Service(server.url, None, **{"attempts": 5, "first_wait": 0.01, **options})


def test_an_answer_says_what_it_took() -> None:
    """The body as it came, the requests that were sent for it, and the time that they took together."""
    faults = [Fault(503), Fault(429), None]
    with LoopbackServer(faults=faults) as server, closing(service_at(server)) as service:
        answer = service.post("/embeddings", BODY)
        assert '"embedding"' in answer.text
        assert (answer.attempts, service.get("/models").attempts) == (3, 1)
        assert answer.seconds >= 0.03  # two waits
        assert [request.body for request in server.requests] == [BODY, BODY, BODY, None]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504])
def test_what_may_pass_is_asked_again(status: int) -> None:
    """C18: overload is told after all attempts, with the server's words, the status and what it cost."""
    with (
        LoopbackServer(faults=lambda _: Fault(status, "slow down")) as server,
        closing(service_at(server, attempts=3)) as service,
        pytest.raises(ClientError, match=f"at {server.url} answered {status}: slow down") as caught,
    ):
        service.get("/models")
    assert len(server.requests) == 3
    assert (caught.value.status, caught.value.fields["attempts"], caught.value.exit_code) == (status, 3, 3)
    assert caught.value.fields["seconds"] >= 0.03


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 501])
def test_what_will_not_pass_is_final(status: int) -> None:
    """C18: a refusal of the request, the key or the model is asked once."""
    with LoopbackServer(faults=lambda _: Fault(status)) as server, closing(service_at(server)) as service:
        with pytest.raises(ClientError, match=f"answered {status}: the server was told to fail") as caught:
            service.get("/models")
        assert len(server.requests) == 1
    assert caught.value.status == status


@pytest.mark.parametrize("after", ["0.3", "date"])
def test_the_servers_own_wait_counts(after: str) -> None:
    """C18: ``Retry-After`` in seconds or as a date, against a first wait that would be far too long."""
    header = format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True) if after == "date" else after
    faults = [Fault(429, headers={"Retry-After": header})]
    with LoopbackServer(faults=faults) as server, closing(service_at(server, first_wait=60)) as service:
        assert service.get("/models").attempts == 2


@pytest.mark.parametrize("header", ["3600", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_wait_of_an_hour_is_told(header: str) -> None:
    """Nobody sleeps that long without a word."""
    faults = [Fault(429, "tomorrow", headers={"Retry-After": header})]
    with LoopbackServer(faults=faults) as server, closing(service_at(server)) as service:
        with pytest.raises(ClientError, match="tomorrow"):
            service.get("/models")
        assert len(server.requests) == 1


@pytest.mark.parametrize("fault", [Fault(200, cut=True), Fault(200, delay=5)], ids=["cut", "late"])
def test_a_broken_connection_is_tried_again(fault: Fault) -> None:
    """What breaks off or hangs once costs one more request."""
    with LoopbackServer(faults=[fault]) as server, closing(service_at(server, timeout=0.3)) as service:
        assert service.get("/models").attempts == 2


def test_who_never_answers_is_unreachable(dead_url: str) -> None:
    """There is no status then, and the address and the reason are in the message."""
    with (
        closing(Service(dead_url, None, attempts=2, first_wait=0.01)) as service,
        pytest.raises(ClientError, match=f"{dead_url} cannot be reached: .*refused.*start the server") as caught,
    ):
        service.get("/models")
    assert (caught.value.status, caught.value.fields["attempts"]) == (None, 2)


def test_who_is_too_slow_is_told_with_the_patience() -> None:
    """After the timeout, in seconds."""
    with (
        LoopbackServer(faults=[Fault(200, delay=30)]) as server,
        closing(service_at(server, attempts=1, timeout=0.2)) as service,
        pytest.raises(ClientError, match=r"did not answer within 0\.2 seconds; wait until") as caught,
    ):
        service.get("/models")
    assert caught.value.status is None


def test_an_answer_that_drips_is_too_slow_too() -> None:
    """Each byte comes in time and the whole does not; a steady answer within the time is the control."""
    for pause, late in ((0.05, True), (0.0, False)):
        with dripping(pause) as url, closing(Service(url, None, attempts=5, first_wait=0.01, timeout=0.4)) as service:
            if not late:
                assert len(service.get("/models").text) == LONG
                continue
            with pytest.raises(ClientError, match=r"did not answer within 0\.4 seconds") as caught:
                service.get("/models")
            assert caught.value.fields["attempts"] == 2  # a timeout is tried again once


@contextmanager
def dripping(pause: float) -> Iterator[str]:
    """The address of a server that sends a long answer byte by byte."""
    closing_down = threading.Event()

    class Drip(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", str(LONG))
            self.end_headers()
            for _ in range(LONG):
                if closing_down.wait(pause):
                    return
                try:
                    self.wfile.write(b" ")
                except OSError:  # nobody waits any more
                    return

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Drip) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            closing_down.set()
            server.shutdown()
            thread.join()


LONG = 1_000


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"error": {"message": "too long", "param": "x"}}', "answered 400: too long;"),
        ('{"object": "error", "message": "too long"}', "answered 400: too long;"),
        ('{"error": "too\\nlong"}', "answered 400: too long;"),
        ('{"detail": "too long"}', "answered 400: too long;"),
        ('{"detail": [{"loc": ["body", "n"], "msg": "NaN"}]}', 'answered 400: [{"loc": ["body", "n"], "msg": "NaN"}];'),
        ("<html>\n too long </html>", "answered 400: <html> too long </html>;"),
        ('{"error": {"message": "half \\ud83d"}}', "answered 400: half ?;"),
        ("", "answered 400: Error code: 400"),
        ("{}", "answered 400: Error code: 400"),
    ],
)
def test_the_words_of_a_refusal(body: str, words: str) -> None:
    """Every server words it in its own way; the message is one line."""
    with (
        LoopbackServer(faults=[Fault(400, body=body)]) as server,
        closing(service_at(server)) as service,
        pytest.raises(ClientError) as caught,
    ):
        service.get("/models")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_long_page_is_cut_in_the_message_and_whole_beside_it() -> None:
    """A caller that looks for a word finds it in ``said``."""
    with (
        LoopbackServer(faults=[Fault(400, "x" * 5000 + " temperature")]) as server,
        closing(service_at(server)) as service,
        pytest.raises(ClientError) as caught,
    ):
        service.get("/models")
    assert len(str(caught.value)) < 700
    assert str(caught.value.fields["said"]).endswith("temperature")


def test_a_turn_is_waited_for() -> None:
    """With more threads than connections none fails for having waited longer than the timeout for its turn."""
    with (
        LoopbackServer(latency=0.2) as server,
        closing(service_at(server, connections=2, timeout=0.5, attempts=1)) as service,
        ThreadPoolExecutor(10) as threads,
    ):
        answers = list(threads.map(lambda _: service.get("/models"), range(10)))
    assert [answer.attempts for answer in answers] == [1] * 10
    assert max(answer.seconds for answer in answers) > 0.5, "control: somebody waited"


def test_closing_ends_the_waits() -> None:
    """A build that is interrupted does not wait for a minute: who waits between attempts gets its error at once."""
    with LoopbackServer(faults=lambda _: Fault(503)) as server, ThreadPoolExecutor(1) as threads:
        service = service_at(server, first_wait=50)
        asked = threads.submit(service.get, "/models")
        while not server.requests:
            time.sleep(0.001)
        service.close()
        with pytest.raises(ClientError):
            asked.result(timeout=10)
    with pytest.raises(ClientError, match="closed"):
        service.get("/models")


def test_what_cannot_be_an_endpoint() -> None:
    """Usage errors, before anything is sent; the key is not in them."""
    with pytest.raises(ConfigError, match="neither an endpoint nor a key"):
        Service(None, None)
    with pytest.raises(ConfigError, match="is no address"):
        Service("", None)
    with pytest.raises(ConfigError, match="API key") as caught:
        Service("http://127.0.0.1:1/v1", "sk secret")
    assert "secret" not in str(caught.value)


def test_without_an_address_a_key_is_for_openai() -> None:
    """As the client has it; nothing is sent."""
    with closing(Service(None, "sk-key")) as service:
        assert service.url == "https://api.openai.com/v1"


def test_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """C18: with a key and an endpoint of somebody else in the environment, neither is used."""
    monkeypatch.setenv("OPENAI_API_KEY", "from-outside")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with LoopbackServer() as server, closing(service_at(server)) as service:
        service.get("/models")
    assert server.requests[0].headers["authorization"] == "Bearer none"


def test_a_key_that_a_server_repeats_is_told_to_nobody() -> None:
    """Neither in the message nor in a field."""
    said = "who are you? Authorization: Bearer sk-secret-7"
    with (
        LoopbackServer(faults=lambda _: Fault(400, said)) as server,
        closing(Service(server.url, "sk-secret-7", attempts=1)) as service,
        pytest.raises(ClientError, match="Bearer <key>") as caught,
    ):
        service.get("/models")
    assert "sk-secret-7" not in f"{caught.value} {caught.value.fields}"


@pytest.mark.parametrize("charset", ["utf-16", "hex", "idna"])
def test_an_answer_in_a_charset_that_is_none_is_one_error(charset: str) -> None:
    """Whatever the header says: no traceback, and a status that a caller can go on with."""
    fault = Fault(200, headers={"Content-Type": f"application/json; charset={charset}"}, body='{"a": "b"}x')
    # A client that can decode it all the same is as good.
    with (
        LoopbackServer(faults=lambda _: fault) as server,
        closing(service_at(server)) as service,
        suppress(ClientError),
    ):
        assert isinstance(service.get("/models").text, str)


def test_a_date_beyond_all_calendars_is_no_wait() -> None:
    """A broken header is one that says nothing."""
    fault = Fault(503, headers={"Retry-After": "Wed, 21 Oct 99999999999999999999 07:28:00 GMT"})
    with LoopbackServer(faults=[fault]) as server, closing(service_at(server)) as service:
        assert service.get("/models").attempts == 2
