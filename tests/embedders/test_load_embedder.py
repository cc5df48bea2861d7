"""Embedders by id: the one that was asked for, or an error; never another one."""

from __future__ import annotations

import pytest

from amd.chat import Embedder
from amd.embedders import KNOWN, load_embedder
from amd.errors import ConfigError


def test_each_id_gives_the_embedder_that_bears_it() -> None:
    """What is loaded has the id that was asked for, and keeps the protocol."""
    for embedder_id in ("hash", "openai:some-model"):
        embedder = load_embedder(embedder_id, **({} if embedder_id == "hash" else {"api_key": "x"}))
        assert embedder.id == embedder_id
        assert isinstance(embedder, Embedder)
        assert 0 < embedder.floor < 1


@pytest.mark.parametrize("embedder_id", ["minilm", "onnx:some/folder"])
def test_one_that_is_not_installed_names_its_extra(embedder_id: str) -> None:
    """No fallback: the error says which extra brings the embedder."""
    with pytest.raises(ConfigError, match="extra 'local'") as raised:
        load_embedder(embedder_id)
    assert raised.value.fields == {"embedder": embedder_id, "extra": "local"}


@pytest.mark.parametrize("embedder_id", ["", "Hash", "hash:1", "minilm:x", "onnx", "word2vec", "openai"])
def test_an_unknown_id_lists_the_known_ones(embedder_id: str) -> None:
    """A mistyped id is a usage error that shows what there is."""
    with pytest.raises(ConfigError) as raised:
        load_embedder(embedder_id)
    assert raised.value.exit_code == 2
    assert "openai:MODEL" in str(raised.value)


def test_known_ids_are_all_named() -> None:
    """The list in the error is the list that is understood."""
    with pytest.raises(ConfigError) as raised:
        load_embedder("nothing")
    assert all(known in str(raised.value) for known in KNOWN)


def test_a_missing_model_name_fails_at_once() -> None:
    """C18: one line at start-up, before anything is sent."""
    with pytest.raises(ConfigError, match="names no model"):
        load_embedder("openai:", base_url="http://127.0.0.1:9/v1")


def test_an_endpoint_for_an_embedder_without_one_is_refused() -> None:
    """An option that would be ignored is an error."""
    with pytest.raises(ConfigError, match="leave them out"):
        load_embedder("hash", base_url="http://127.0.0.1:9/v1")


def test_neither_endpoint_nor_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """C18: the environment is never asked for a key; only the configuration reads it."""
    monkeypatch.setenv("OPENAI_API_KEY", "from-outside")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ConfigError, match="neither an endpoint nor a key"):
        load_embedder("openai:some-model")
