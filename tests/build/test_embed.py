"""Rows for keys: only what is new, each text once."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from amd.build.embed import embed_new
from amd.errors import RowsDoNotMatch, WidthDoesNotMatch
from amd.json_text import digest
from amd.testing import StubEmbedder


def sha(text):
    """The name of a text's row."""
    return digest(text.encode())


def test_each_new_text_is_embedded_once():
    """Repeats and known texts cost nothing."""
    stub = StubEmbedder()
    known = {sha("old"): stub.embed(["old"])[0]}
    stub.texts.clear()
    rows = embed_new(["a", "old", "a", "b"], known, stub)
    assert stub.texts == ["a", "b"]
    assert rows.keys() == {sha("a"), sha("b")}
    assert np.array_equal(rows[sha("b")], stub.embed(["b"])[0])


def test_progress():
    """Only what is new counts."""
    stub, told = StubEmbedder(width=8), []
    known = {sha("text 0"): stub.embed(["text 0"])[0]}
    embed_new((f"text {n}" for n in range(300)), known, stub, progress=lambda done, total: told.append((done, total)))
    assert told == [(256, 299), (299, 299)]


class Broken(StubEmbedder):
    """An embedder that breaks its word."""

    def embed(self, texts):
        """One row too few, for a single batch."""
        return super().embed(texts)[1:]


def test_a_row_too_few_is_refused():
    """Never a record without a row."""
    with pytest.raises(RowsDoNotMatch, match="1 rows for 2 texts"):
        embed_new(["a", "b"], {}, Broken())


def test_another_width_is_refused():
    """C03: never two widths in one matrix."""
    known = {sha("old"): StubEmbedder(width=8).embed(["old"])[0]}
    with pytest.raises(WidthDoesNotMatch, match="width 16 after rows of width 8"):
        embed_new(["a"], known, StubEmbedder(width=16))


class Short(StubEmbedder):
    """An embedder that reads three characters."""

    cut = 0

    def embed(self, texts):
        """Rows of beginnings, counted."""
        self.cut += sum(len(text) > 3 for text in texts)
        return super().embed([text[:3] for text in texts])


def test_keys_that_were_cut_are_noted():
    """Those of this build, each text once; nobody has to ask."""
    stub, notes = Short(), Counter(kept=1)
    stub.embed(["before"])
    embed_new(["one", "three", "three", "seven"], {}, stub, notes=notes)
    assert notes == {"kept": 1, "key_cut_by_embedder": 2}
    assert len(embed_new(["eleven"], {}, stub)) == 1
