"""The embedder without a model: deterministic everywhere, for any script."""

from __future__ import annotations

import os
import subprocess
import sys
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.embedders.hash import WIDTH, HashEmbedder, words

PRINT_ROWS = """
import sys
from hashlib import sha256
from amd.embedders.hash import HashEmbedder
print(sha256(HashEmbedder().embed(sys.argv[1:]).tobytes()).hexdigest())
"""


def rows_in_a_process(seed: str, texts: list[str]) -> str:
    """The hash of the rows that another process makes of the texts."""
    done = subprocess.run(
        [sys.executable, "-c", PRINT_ROWS, *texts],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_rows_are_bit_identical_in_any_process() -> None:
    """D04: two processes with different hash seeds make the same bits; other texts make others."""
    texts = ["send message to contact", "Zażółć gęślą jaźń", "報告書を移動する"]
    assert rows_in_a_process("1", texts) == rows_in_a_process("2", texts)
    assert rows_in_a_process("1", texts) != rows_in_a_process("1", texts[::-1])


def test_every_exact_text_finds_itself() -> None:
    """D04: of twenty short queries each is nearest to itself, alone or in a batch."""
    nouns = ("file", "car", "trip", "bill", "post")
    texts = [f"{verb} the {noun}" for verb in ("send", "move", "count", "sort") for noun in nouns]
    stored = HashEmbedder().embed(texts)
    asked = np.concatenate([HashEmbedder().embed([text]) for text in texts])
    assert (stored @ asked.T).argmax(axis=0).tolist() == list(range(len(texts)))


def test_the_rows_of_today_are_the_rows_of_tomorrow() -> None:
    """A memory that was built with `hash` opens with any later version: these bits are part of the format."""
    rows = HashEmbedder().embed(["Move report_1.txt into the archive", "報告書"])
    assert sha256(rows.tobytes()).hexdigest() == "6936b40d773e58fc0ff0b3ef10677d1143826ba817ea0d99c1b3f26203888e10"


@given(st.lists(st.text(max_size=60), max_size=8))
def test_rows_have_unit_length_and_do_not_depend_on_their_neighbours(texts: list[str]) -> None:
    """Any text, alone or among others: the same finite row of length one."""
    rows = HashEmbedder().embed(texts)
    assert rows.shape == (len(texts), WIDTH)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    for text, row in zip(texts, rows, strict=True):
        assert np.array_equal(HashEmbedder().embed([text])[0], row)


def test_more_texts_than_a_batch() -> None:
    """Nothing is lost or moved where one batch ends and the next begins."""
    texts = [f"text number {n}" for n in range(600)]
    rows = HashEmbedder().embed(texts)
    for n in (0, 255, 256, 511, 512, 599):
        assert np.array_equal(rows[n], HashEmbedder().embed([texts[n]])[0])


@pytest.mark.parametrize("text", ["", "   \n", "?!… --", "🙂🚗", "\ud83d"])
def test_a_text_without_a_word_is_like_nothing_else(text: str) -> None:
    """Its row is fixed, and orthogonal to the row of any text that has a word."""
    empty, *others = HashEmbedder().embed([text, "move the file", "a", "報告", "_ x _"])
    assert np.array_equal(empty, HashEmbedder().embed([""])[0])
    assert [float(empty @ other) for other in others] == [0.0] * len(others)


def test_what_is_near_and_what_is_not() -> None:
    """Spelling, case, order and width of characters hardly matter; another subject is under the floor (C02)."""
    embedder = HashEmbedder()
    base, case, order, plural, wide, other, chinese, near, far = embedder.embed(
        [
            "Move report.txt from drafts to archive and sort it",
            "MOVE REPORT.TXT FROM DRAFTS TO ARCHIVE AND SORT IT",
            "sort it and move report.txt to archive from drafts",
            "Moving reports from the drafts to the archives and sorting them",
            "Ｍove report．txt from drafts to archive and sort it",
            "zebra quintet ferments marmalade",
            "把报告移动到归档文件夹",
            "请把报告移到归档文件夹",
            "预订明天去上海的航班",
        ]
    )
    assert base @ case > 0.999
    assert base @ order > 0.999
    assert base @ wide > 0.999
    assert base @ plural > embedder.floor
    assert base @ other < embedder.floor
    assert chinese @ near > embedder.floor > chinese @ far


def test_a_repeated_word_counts_less_each_time() -> None:
    """The square root of the count: a word that is said nine times does not drown the others."""
    once, often, other = HashEmbedder().embed(["alpha beta", "alpha " * 9 + "beta", "beta"])
    assert once @ other > often @ other > 0.2


def test_a_blob_does_not_drown_a_text() -> None:
    """Of a word beyond all length only the head is spelt out, and two long words with one head still differ."""
    blob = "".join(chr(97 + (n * n * 7 + n) % 26) for n in range(5000))
    text, with_blob = HashEmbedder().embed(
        ["upload the picture to the album", f"upload the picture to the album {blob}"]
    )
    assert text @ with_blob > 0.7
    head, other = HashEmbedder().embed([blob, blob + "y"])
    assert 0.5 < head @ other < 0.99


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("get_user-details v2.0", ["get", "user", "details", "v2", "0"], id="names"),
        pytest.param("Straße İSTANBUL", ["strasse", "i̇stanbul"], id="case folding"),
        pytest.param("ﬁle Ⅳ", ["file", "iv"], id="compatibility forms"),
        pytest.param("हिन्दी भाषा", ["हिन्दी", "भाषा"], id="marks belong to their word"),
        pytest.param("مرحبا بالعالم", ["مرحبا", "بالعالم"], id="arabic"),
        pytest.param("報告", ["報告"], id="one bigram"),
        pytest.param("書", ["書"], id="one character"),
        pytest.param("報告書をPDFで", ["報告", "告書", "書を", "pdf", "で"], id="mixed"),
        pytest.param("파일을 옮겨", ["파일", "일을", "옮겨"], id="korean"),
        pytest.param(" \u2028 ", [], id="nothing"),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    """Words of any script; runs without spaces as bigrams."""
    assert words(text) == expected


@given(st.text())
def test_words_hold_only_word_characters(text: str) -> None:
    """No word is empty, none holds a space, and nothing but words comes of words."""
    found = words(text)
    assert all(word and not word.isspace() and " " not in word for word in found)
    assert bool(found) == bool(words(text.upper()))
