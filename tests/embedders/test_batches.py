"""Texts to rows, and embedders that break their word."""

from __future__ import annotations

import numpy as np
import pytest

from amd.embedders.batches import embed_batches, texts_cut
from amd.errors import ClientError, RowsDoNotMatch, WidthDoesNotMatch
from amd.testing import StubEmbedder


def test_rows_in_the_order_of_their_texts():
    """Across batches too, and each batch is told."""
    stub, told = StubEmbedder(width=8), []
    texts = [f"text {n}" for n in range(600)]
    rows = embed_batches(stub, texts, progress=lambda done, total: told.append((done, total)))
    assert np.array_equal(np.array(rows), StubEmbedder(width=8).embed(texts))
    assert stub.calls == 3
    assert told == [(256, 600), (512, 600), (600, 600)]


def test_no_texts_ask_nobody():
    """An embedder may not like an empty request."""
    stub = StubEmbedder()
    assert embed_batches(stub, [], width=7) == []
    assert stub.calls == 0


class Shaped(StubEmbedder):
    """An embedder that gives arrays of another shape for each call."""

    def __init__(self, *shapes):
        super().__init__()
        self.shapes = list(shapes)

    def embed(self, texts):
        """Ones, of the next shape."""
        return np.ones(self.shapes.pop(0))


@pytest.mark.parametrize("shape", [(1, 16), (3, 16), (2,), (2, 1, 16), (), (0,)])
def test_any_other_number_of_rows_is_refused(shape):
    """Too few, too many, and arrays that are no rows at all."""
    with pytest.raises(RowsDoNotMatch, match="for 2 texts"):
        embed_batches(Shaped(shape), ["a", "b"])
    assert len(embed_batches(Shaped((2, 16)), ["a", "b"])) == 2


def test_two_widths_are_refused():
    """C03: the width asked for, or that of the first batch, is the width of all."""
    with pytest.raises(WidthDoesNotMatch, match="width 16 after rows of width 8") as caught:
        embed_batches(Shaped((1, 16)), ["a"], width=8)
    assert caught.value.fields == {"expected": 8, "found": 16}
    with pytest.raises(WidthDoesNotMatch):
        embed_batches(Shaped((256, 8), (1, 9)), ["a"] * 257)


def test_what_the_service_raises_comes_through():
    """C04: nothing is returned of what was embedded before."""
    with pytest.raises(ClientError):
        embed_batches(StubEmbedder(fail_at=2), ["a"] * 300)


class Refusing(StubEmbedder):
    """An embedder that refuses one text, and says where it stood in its batch."""

    def embed(self, texts):
        """Rows, or the place of the bad text."""
        if "bad" in texts:
            raise ClientError("refused", index=texts.index("bad"))
        return super().embed(texts)


@pytest.mark.parametrize("at", [0, 255, 256, 599])
def test_a_bad_text_is_counted_among_all(at):
    """C04: an embedder sees a batch, a caller sees all texts."""
    texts = ["good"] * 600
    texts[at] = "bad"
    with pytest.raises(ClientError) as raised:
        embed_batches(Refusing(), texts)
    assert raised.value.fields == {"index": at}


def test_what_an_embedder_has_cut():
    """Counted where it counts; one that does not has cut nothing."""
    stub = StubEmbedder()
    assert texts_cut(stub) == 0
    stub.cut = 3
    assert texts_cut(stub) == 3
