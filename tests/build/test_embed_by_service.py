"""C04: a whole build against an embedding service that refuses texts; never a record without its row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import amd
from amd.embedders.openai import OpenAIEmbedder
from amd.errors import ClientError
from amd.json_text import digest
from amd.testing import Fault, LoopbackServer, StubEmbedder, run

BYTES = "0x9f," * 8000


def runs():
    """Six runs; one asks for nothing, and one for 40,000 characters."""
    made = [run(i) for i in range(6)]
    for i, instruction in ((2, " "), (4, BYTES)):
        made[i] = replace(made[i], task=replace(made[i].task, instruction=instruction))
    return made


def refuse(request):
    """A server that takes no empty text and none over 5,000 characters, and says so of the whole batch."""
    texts = request.body["input"]
    if "" in texts or " " in texts:
        return Fault(400, "Input must not be empty")
    return Fault(400, "input is too long") if max(map(len, texts)) > 5000 else None


@pytest.fixture
def service():
    """A server, and an embedder that asks it."""
    with LoopbackServer(faults=refuse) as server:
        yield server, OpenAIEmbedder("stub", base_url=server.url, first_wait=0.01)


def rows_and_keys(place):
    """Each record's key with its row, as the memory has them."""
    with amd.open_memory(place, embedder=StubEmbedder("openai:stub")) as memory:
        shelf = memory.shelves["workflow"]
        keys = {digest(record.key.encode()): record.key for record in shelf.records()}
        return {keys[sha]: np.array(row) for sha, row in shelf.key_rows()}, len(shelf)


def test_what_can_be_embedded_is_and_the_rest_is_counted(build, tmp_path, service, caplog):
    """Five records, each with its own row; the empty text is rejected before the call, the long one is cut."""
    server, embedder = service
    report = build(runs(), embedder=embedder, method="workflow")
    assert report.records == {"workflow": 5}
    noted = ("empty_text", "truncated_key", "key_cut_by_embedder")
    assert [report.notes.get(note) for note in noted] == [1, 1, 1]
    assert [message for message in caplog.messages if "input is too long" in message]
    rows, count = rows_and_keys(tmp_path / "memory")
    assert len(rows) == count == 5
    for key, row in rows.items():
        assert np.allclose(row, StubEmbedder().embed([key[:4000]])[0], atol=1e-6)
    assert not any(text.strip() == "" for request in server.requests for text in request.body["input"])


def test_a_rerun_embeds_only_what_is_missing(build, service):
    """The same input asks nothing; one run more asks for its own texts."""
    server, embedder = service
    build(runs(), embedder=embedder, method="workflow")
    before = len(server.requests)
    assert build(runs(), embedder=embedder, method="workflow").embedded == 0
    assert len(server.requests) == before
    assert build([*runs(), run(6)], embedder=embedder, method="workflow").embedded == 1
    assert [len(request.body["input"]) for request in server.requests[before:]] == [1]


def test_a_text_that_nothing_helps_stops_the_build_and_is_named(build, tmp_path):
    """Nothing is published, the server's words and the text are in the error, and without it the build is done."""
    bell = lambda request: Fault(400, "no bells") if any("\a" in text for text in request.body["input"]) else None  # noqa: E731 - read in place
    made = [run(i) for i in range(4)]
    made[2] = replace(made[2], task=replace(made[2].task, instruction="ring the \a bell"))
    with LoopbackServer(faults=bell) as server:
        embedder = OpenAIEmbedder("stub", base_url=server.url)
        with pytest.raises(ClientError, match=r"400 for the text 'ring the \\x07 bell' of 15 characters: no bells"):
            build(made, embedder=embedder, method="workflow")
        assert not (tmp_path / "memory" / "manifest.json").exists()
        made.pop(2)
        assert build(made, embedder=embedder, method="workflow").records == {"workflow": 3}
