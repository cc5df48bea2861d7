"""The embedder without a model: signed, hashed character n-grams of words in any script.

Feature hashing as in Weinberger et al. 2009 (arXiv:0902.2206): each feature adds or subtracts its weight in one of
1,023 buckets, so collisions cancel on average. Words are weighted by the square root of how often they occur, with
no weights over a corpus: a row depends on its text alone, and adding records never moves an older row. All sums are
whole numbers, so a row has the same bits in any process and on any machine.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import isqrt
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from amd.chat import Rows

__all__ = ["WIDTH", "HashEmbedder", "words"]

WIDTH = 1024
"""The width of a row. Its last column belongs to texts without a word: nothing else has anything there."""

_BUCKETS = WIDTH - 1
_SIGNED = 2 * _BUCKETS  # the first half adds to a bucket, the second half subtracts from it
_NGRAMS = (3, 4, 5)
_NGRAM_REACH = 24  # a longer word is a path, a key or a blob: its head is enough, and it is hashed whole as well
_WORD_WEIGHT = 2  # a whole word counts twice an n-gram
_BATCH = 256  # texts summed at once: about 4 MB
_CACHED_WORDS = 1 << 16

# Scripts written without spaces (Han, kana, Hangul; Thai, Lao, Myanmar, Khmer): their runs are cut into bigrams.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")


class _Spaces(dict[int, str]):
    """Maps a letter, mark or digit to itself and anything else to a space, one character at a time as it is met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kept = character if unicodedata.category(character)[0] in "LMN" else " "
        self[code] = kept
        return kept


_SPACES = _Spaces()


def words(text: str) -> list[str]:
    """The words of a text in order: NFKC, case-folded; runs of a script without spaces as bigrams.

    >>> words("Move REPORT_2.txt, then 報告書")
    ['move', 'report', '2', 'txt', 'then', '報告', '告書']
    """
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_SPACES).split()
    if text.isascii():
        return plain
    return [piece for word in plain for piece in _pieces(word)]


def _pieces(word: str) -> list[str]:
    """A word, with its runs of unspaced script cut into bigrams."""
    if not _UNSPACED_CHARACTER.search(word):
        return [word]
    pieces: list[str] = []
    for run in _RUN.findall(word):
        if len(run) > 1 and _UNSPACED_CHARACTER.match(run):
            pieces.extend(run[start : start + 2] for start in range(len(run) - 1))
        else:
            pieces.append(run)
    return pieces


@lru_cache(maxsize=_CACHED_WORDS)
def _features(word: str) -> npt.NDArray[np.int32]:
    """The signed buckets of a word's n-grams and of the word itself, one entry for each unit of weight."""
    fenced = f"<{word[:_NGRAM_REACH]}>"
    grams = list(dict.fromkeys(fenced[start : start + n] for n in _NGRAMS for start in range(len(fenced) - n + 1)))
    grams += [f"={word}"] * _WORD_WEIGHT
    return np.array([crc32(gram.encode()) % _SIGNED for gram in grams], dtype=np.int32)


class HashEmbedder:
    """Embeds by spelling: no weights, no network, thousands of texts a second, one row for one text everywhere.

    >>> move, again, other = HashEmbedder().embed(["move the file", "the file: move it", "zebra"])
    >>> bool(move @ again > 0.8), bool(abs(move @ other) < 0.2)
    (True, True)
    """

    id = "hash"
    floor = 0.35

    def embed(self, texts: Sequence[str]) -> Rows:
        """One row of unit length for each text; a text without a word gets a fixed row, orthogonal to all others."""
        rows = np.empty((len(texts), WIDTH), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            rows[start : start + len(batch)] = _batch_rows(batch)
        return rows


def _batch_rows(texts: Sequence[str]) -> Rows:
    features: list[npt.NDArray[np.int32]] = []
    offsets: list[int] = []
    weights: list[int] = []
    for row, text in enumerate(texts):
        for word, count in Counter(words(text)).items():
            features.append(_features(word))
            offsets.append(row * _SIGNED)
            weights.append(isqrt(256 * count))  # 16 times the root of the count, as a whole number
    if not features:
        return _unit(np.zeros((len(texts), _BUCKETS)))
    lengths = [len(buckets) for buckets in features]
    sums = np.bincount(
        np.concatenate(features) + np.repeat(offsets, lengths),
        weights=np.repeat(weights, lengths),
        minlength=len(texts) * _SIGNED,
    ).reshape(len(texts), 2, _BUCKETS)
    return _unit(sums[:, 0] - sums[:, 1])


def _unit(sums: npt.NDArray[Any]) -> Rows:
    """Rows of unit length; a row of zeros gets the last column."""
    rows = np.zeros((len(sums), WIDTH))
    rows[:, :_BUCKETS] = sums
    rows[:, _BUCKETS] = ~sums.any(axis=1)
    rows /= np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return rows.astype(np.float32)
