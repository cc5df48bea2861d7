"""The stub embedder: predictable, and it counts."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

from amd.chat import Embedder
from amd.errors import ClientError
from amd.testing import StubEmbedder


def test_each_word_has_its_column() -> None:
    """A bag of words: crc32 of each word modulo the width, at unit length."""
    row = StubEmbedder().embed(["move move file"])[0]
    assert row.shape == (1536,)
    assert row[crc32(b"move") % 1536] == pytest.approx(2 / 5**0.5)
    assert row[crc32(b"file") % 1536] == pytest.approx(1 / 5**0.5)
    assert np.count_nonzero(row) == 2


def test_it_keeps_the_protocol() -> None:
    """It may stand wherever an embedder may, under any id and width."""
    stub = StubEmbedder("fake-a", width=64, floor=0.2)
    assert isinstance(stub, Embedder)
    assert (stub.id, stub.floor, stub.embed(["a"]).shape) == ("fake-a", 0.2, (1, 64))


def test_it_counts_calls_and_texts() -> None:
    """Every text is kept, repeats included."""
    stub = StubEmbedder()
    stub.embed(["a", "b"])
    stub.embed(["a"])
    assert (stub.calls, stub.texts) == (2, ["a", "b", "a"])


def test_it_fails_at_the_call_it_was_told() -> None:
    """The n-th call fails, and embeds nothing; the others work."""
    stub = StubEmbedder(fail_at=2)
    stub.embed(["a"])
    with pytest.raises(ClientError, match="fails at call 2"):
        stub.embed(["b"])
    stub.embed(["c"])
    assert stub.texts == ["a", "c"]
