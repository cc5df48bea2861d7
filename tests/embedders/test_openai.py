"""The embedder behind an OpenAI-compatible endpoint, against a real server on the loopback device."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest

from amd.embedders.openai import OpenAIEmbedder
from amd.errors import ClientError
from amd.testing import Fault, LoopbackServer, Request, StubEmbedder


def embedder_at(server: LoopbackServer, **options: Any) -> OpenAIEmbedder:
    """An embedder for the server that does not wait long between attempts."""
    return OpenAIEmbedder("stub", base_url=server.url, **{"first_wait": 0.01, **options})


def sent(server: LoopbackServer) -> list[int]:
    """How many texts each request carried."""
    return [len(request.body["input"]) for request in server.requests]


def test_rows_are_what_the_server_sends_in_batches() -> None:
    """Rows come back in the order of the texts, of the observed width, whatever the batches."""
    texts = [f"text number {n}" for n in range(7)]
    with LoopbackServer() as server:
        embedder = embedder_at(server, batch=3)
        rows = embedder.embed(texts)
        assert embedder.embed([]).shape == (0, 0)
    assert sent(server) == [3, 3, 1]
    assert rows.dtype == np.float32
    assert np.allclose(rows, StubEmbedder().embed(texts))
    assert embedder.id == "openai:stub"


def test_rows_are_sorted_by_index_and_made_unit_length() -> None:
    """A server may answer in another order, and with rows of another length."""
    answer = '{"data": [{"index": 1, "embedding": [0, 5]}, {"index": 0, "embedding": [3, 4]}]}'
    with LoopbackServer(faults=[Fault(200, body=answer)]) as server:
        rows = embedder_at(server).embed(["a", "b"])
    assert np.allclose(rows, [[0.6, 0.8], [0, 1]])


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_busy_server_is_asked_again(status: int) -> None:
    """C18: a service that is busy or broken for a moment costs time, not the build."""
    with LoopbackServer(faults=[Fault(status), Fault(status)]) as server:
        rows = embedder_at(server).embed(["text"])
    assert rows.shape == (1, 1536)
    assert sent(server) == [1, 1, 1]


def test_retry_after_is_honoured() -> None:
    """C18: the server's own figure counts, in seconds or as a date, not ours."""
    soon = format_datetime(datetime.now(UTC) - timedelta(seconds=5), usegmt=True)
    with LoopbackServer(faults=[Fault(429, headers={"Retry-After": "0.25"})]) as server:
        begin = time.monotonic()
        embedder_at(server, first_wait=30).embed(["text"])
        assert time.monotonic() - begin >= 0.25
    with LoopbackServer(faults=[Fault(429, headers={"Retry-After": soon})]) as server:
        embedder_at(server, first_wait=30).embed(["text"])
        assert sent(server) == [1, 1]


def test_a_server_that_asks_for_an_hour_is_told_about() -> None:
    """Nobody sleeps for an hour without a word."""
    with LoopbackServer(faults=[Fault(429, "come back later", headers={"Retry-After": "3600"})]) as server:
        with pytest.raises(ClientError, match="answered 429: come back later"):
            embedder_at(server).embed(["text"])
        assert sent(server) == [1]


def test_it_gives_up_after_the_last_attempt() -> None:
    """The server's own message is in the error; nothing is made up instead of a row."""
    with LoopbackServer(faults=lambda _: Fault(503, "overloaded")) as server:
        with pytest.raises(ClientError, match="answered 503: overloaded") as raised:
            embedder_at(server, attempts=3).embed(["text"])
        assert sent(server) == [1, 1, 1]
    assert raised.value.exit_code == 3
    assert raised.value.fields["status"] == 503


@pytest.mark.parametrize("fault", [Fault(200, cut=True), Fault(200, delay=5)], ids=["cut", "timeout"])
def test_a_broken_connection_is_tried_again(fault: Fault) -> None:
    """A connection that breaks or hangs is tried again."""
    with LoopbackServer(faults=[fault]) as server:
        assert embedder_at(server, timeout=0.3).embed(["text"]).shape == (1, 1536)
        assert sent(server) == [1, 1]


def test_a_server_that_is_not_there() -> None:
    """One typed error that names the place."""
    with LoopbackServer() as server:
        gone = server.url
    with pytest.raises(ClientError, match="cannot be reached") as raised:
        OpenAIEmbedder("stub", base_url=gone, attempts=2, first_wait=0.01).embed(["text"])
    assert raised.value.fields["url"] == gone


def test_a_wrong_key_is_not_retried() -> None:
    """C18: 401 is final, and the right key beside it works."""
    with LoopbackServer(key="secret") as server:
        with pytest.raises(ClientError, match="answered 401: Incorrect API key provided") as raised:
            embedder_at(server, api_key="wrong").embed(["text"])
        assert "wrong" not in str(raised.value)
        assert sent(server) == [1]
        assert embedder_at(server, api_key="secret").embed(["text"]).shape == (1, 1536)


def test_an_unknown_model_is_not_retried() -> None:
    """C18: 404 is final, with the server's words."""
    with LoopbackServer() as server:
        with pytest.raises(ClientError, match="answered 404: The model `nowhere` does not exist"):
            OpenAIEmbedder("nowhere", base_url=server.url).embed(["text"])
        assert sent(server) == [1]


def refuse_empty(request: Request) -> Fault | None:
    """A server that refuses any batch with an empty text in it (C04)."""
    return Fault(400, "Input must not be empty") if "" in request.body["input"] else None


@pytest.mark.parametrize("at", range(6))
def test_a_bad_text_is_isolated_by_halving(at: int) -> None:
    """C04: a batch refused as a whole is halved until the bad text stands alone, and it is named."""
    texts = ["one", "two", "three", "four", "five", "six"]
    with LoopbackServer(faults=refuse_empty) as server:
        assert embedder_at(server, batch=4).embed(texts).shape == (6, 1536)
        bad = [*texts[:at], "", *texts[at + 1 :]]
        with pytest.raises(
            ClientError, match="answered 400 for the text '' of 0 characters: Input must not be empty"
        ) as raised:
            embedder_at(server, batch=4).embed(bad)
    assert (raised.value.fields["index"], raised.value.fields["text"]) == (at, "")


def refuse_long(request: Request) -> Fault | None:
    """A server whose model reads 1,000 characters."""
    longest = max(map(len, request.body["input"]))
    return Fault(400, f"maximum context length exceeded: {longest}") if longest > 1000 else None


@pytest.mark.parametrize("at", range(6))
def test_a_text_that_is_too_long_gets_the_row_of_its_beginning(at: int, caplog: pytest.LogCaptureFixture) -> None:
    """C04: isolated, cut until the service takes it, and counted; the log has the server's words, each text its row."""
    texts = ["one", "two", "three", "four", "five", "six"]
    texts[at] = "0x9f," * 8000
    with LoopbackServer(faults=refuse_long) as server:
        embedder = embedder_at(server, batch=4)
        rows = embedder.embed(texts)
        assert embedder.cut == 1
        assert np.array_equal(embedder.embed(["one two"]), StubEmbedder().embed(["one two"]).astype(np.float32))
        assert embedder.cut == 1
    begun = [text[:625] for text in texts]  # 40,000 halved until 1,000 are enough
    assert np.allclose(rows, StubEmbedder().embed(begun))
    (told,) = caplog.messages
    assert "of 40000 characters: maximum context length exceeded: 40000" in told
    assert told.endswith("its first 625 characters were embedded")


def test_a_long_text_that_is_bad_from_its_beginning_is_named(caplog: pytest.LogCaptureFixture) -> None:
    """Cutting does not help, nothing is made up, and the error shows its beginning and not all of it."""
    refuse = lambda request: Fault(400, "no bells") if any("\a" in text for text in request.body["input"]) else None  # noqa: E731 - read in place
    text = "\a" + "word " * 1000
    with LoopbackServer(faults=refuse) as server:
        with pytest.raises(
            ClientError, match=r"for the text '\\x07word .*\.\.\. of 5001 characters: no bells"
        ) as raised:
            embedder_at(server).embed(["good", text])
        assert len(server.requests) < 12
    assert raised.value.fields["text"] == text
    assert len(str(raised.value)) < 400
    assert caplog.messages == []


def test_a_server_that_refuses_everything_is_not_asked_for_each_text() -> None:
    """A request that the server never understands fails at its first text."""
    with LoopbackServer(faults=lambda _: Fault(400, "unknown parameter: encoding_format")) as server:
        with pytest.raises(ClientError, match="unknown parameter"):
            embedder_at(server).embed(["text " * 400] * 300)
        assert len(server.requests) < 16


def test_while_a_text_is_cut_other_refusals_are_final() -> None:
    """A key that is withdrawn in the middle is told as such, not as a bad text."""
    faults = [Fault(400, "too long"), Fault(401, "wrong key")]
    with LoopbackServer(faults=faults) as server, pytest.raises(ClientError, match="answered 401: wrong key"):
        embedder_at(server).embed(["text " * 400])


def test_a_broken_character_is_sent_as_a_question_mark() -> None:
    """A request is UTF-8, which has no lone surrogates."""
    with LoopbackServer() as server:
        embedder_at(server).embed(["one \ud83d two"])
        assert server.requests[0].body["input"] == ["one ? two"]


def test_a_batch_that_is_only_too_large_is_halved_and_done() -> None:
    """A limit on the size of a request is no fault of any text."""
    limit = lambda request: Fault(413, "batch too large") if len(request.body["input"]) > 2 else None  # noqa: E731 - read in place
    texts = [f"text number {n}" for n in range(5)]
    with LoopbackServer(faults=limit) as server:
        rows = embedder_at(server).embed(texts)
    assert np.allclose(rows, StubEmbedder().embed(texts))


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ('{"data": []}', "sent 0 embeddings for 2 texts"),
        ('{"object": "list"}', "sent no list of embeddings for 2 texts"),
        ('"hello"', "sent no list of embeddings"),
        ('{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}', "of the shape"),
        ('{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]}', "no rows of numbers"),
        ('{"data": [{"index": 0, "embedding": [1]}, {"index": 1}]}', "no rows of numbers"),
        ('{"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}', "of the shape"),
        ('{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [0]}]}', "has no direction"),
        ('{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1e400]}]}', "has no direction"),
    ],
)
def test_an_answer_that_makes_no_rows_is_refused(answer: str, says: str) -> None:
    """Never a record without its row: what the server sends is checked before it is believed."""
    with LoopbackServer(faults=[Fault(200, body=answer)]) as server, pytest.raises(ClientError, match=says):
        embedder_at(server).embed(["a", "b"])


def test_two_widths_in_one_answer_are_refused() -> None:
    """C03: a service that changes its width between two batches is noticed."""
    narrow = '{"data": [{"index": 0, "embedding": [1, 2, 3]}]}'
    faults = [None, Fault(200, body=narrow)]
    with LoopbackServer(faults=faults) as server, pytest.raises(ClientError, match="rows of 3 and of 1536 numbers"):
        embedder_at(server, batch=1).embed(["a", "b"])


def test_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """C18: with a key and an endpoint of somebody else in the environment, neither is used."""
    monkeypatch.setenv("OPENAI_API_KEY", "from-outside")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with LoopbackServer() as server:
        embedder_at(server).embed(["text"])
    headers: Mapping[str, str] = server.requests[0].headers
    assert headers["authorization"] == "Bearer none"
