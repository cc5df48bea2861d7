from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.errors import ConfigError
from amd.session.tokens import estimated_tokens, token_counter

WORDS = {
    "version": "1.0",
    "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
    "padding": None,
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": None,
    "decoder": None,
    "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "[UNK]": 2}, "unk_token": "[UNK]"},
}


@given(st.text(), st.text())
def test_the_estimate_is_bytes_by_three_rounded_up(one: str, other: str):
    """It is zero for nothing only, and two texts cost no less than they cost joined."""
    assert estimated_tokens(one) == -(-len(one.encode("utf-8")) // 3)
    assert estimated_tokens(one) + estimated_tokens(other) >= estimated_tokens(one + other)


def test_without_a_file_tokens_are_estimated():
    """A lone surrogate is counted too, not refused."""
    assert token_counter(None)("abcd\ud83d") == 3


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """An exact count that cannot be had is an error, never an estimate."""
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ConfigError, match=r"agent-memory-distillation\[local\]") as caught:
        token_counter(tmp_path / "tokenizer.json")
    assert caught.value.fields["extra"] == "local"


def test_an_exact_count(tmp_path: Path):
    """The student's own file counts, beyond the length that it was trained with."""
    pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(WORDS), encoding="utf-8")
    count = token_counter(path)
    assert [count(text) for text in ("a b a", "", "\ud83d")] == [3, 0, 1]
    assert count is token_counter(path)


@pytest.mark.parametrize("content", ["{}", "no json", None])
def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path, content: str | None):
    """The error has the file's name."""
    pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"tokenizer\.json is no tokenizer file"):
        token_counter(path)
