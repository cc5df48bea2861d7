"""BM25 over keys."""

from __future__ import annotations

import numpy as np
import pytest

from amd.store.lexical import Lexical


def test_words_decide_and_rare_ones_weigh_more():
    """The text with the rare word wins, a text without a shared word has 0."""
    scores = Lexical(["move the file", "move the folder", "book a flight", "move on"]).scores("MOVE Folder")
    assert scores.argmax() == 1
    assert scores[2] == 0
    assert scores[0] > 0


@pytest.mark.parametrize("text", ["", "zebra", "!!!"])
def test_nothing_shared_is_zero(text):
    """Unknown words, punctuation and emptiness."""
    assert Lexical(["move the file", "book"]).scores(text).tolist() == [0, 0]


def test_other_scripts_are_words_too():
    """Japanese is cut into bigrams."""
    scores = Lexical(["報告書を移動する", "move the report"]).scores("報告書")
    assert scores[0] > 0
    assert scores[1] == 0


@pytest.mark.parametrize("texts", [[], [""], ["", "..."]])
def test_texts_without_a_word(texts):
    """An index over nothing answers nothing."""
    assert np.array_equal(Lexical(texts).scores("move"), np.zeros(len(texts)))
