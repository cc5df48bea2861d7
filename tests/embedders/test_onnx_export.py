"""A folder that was exported to ONNX: what it says of itself is kept, and what an ONNX file cannot keep is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from amd.embedders import load_embedder
from amd.embedders.onnx_export import onnx_export, read_export
from amd.errors import ConfigError, WidthDoesNotMatch

Export = Callable[..., Path]
MEAN = {"word_embedding_dimension": 3, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
FIRST = {"word_embedding_dimension": 3, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}


def say(folder: Path, name: str, value: object) -> None:
    """Write a file of the folder."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


@pytest.mark.parametrize("under", [".", "onnx"])
def test_the_model_lies_in_the_folder_or_below_it(export: Export, under: str) -> None:
    """Both places that exporters use; the id that is asked for loads it."""
    folder = export(under=under)
    embedder = load_embedder(f"onnx:{folder}")
    assert embedder.embed(["one two"]).shape == (1, 3)
    assert 0 < embedder.floor < 1


def test_an_id_is_of_the_bytes_and_not_of_the_place(export: Export, tmp_path: Path) -> None:
    """A folder may be moved; other weights, another tokenizer, another limit or pooling are another vector space."""
    first = onnx_export(export()).id
    assert first.startswith("onnx:")
    assert str(tmp_path) not in first
    assert onnx_export((tmp_path / "export").rename(tmp_path / "moved")).id == first
    others = {onnx_export(export("weights", words=6)).id, onnx_export(export("tokenizer", padded=9)).id}
    for name, file, value in [
        ("limit", "sentence_bert_config.json", {"max_seq_length": 5}),
        ("pooling", "1_Pooling/config.json", FIRST),
        ("beside", "model.onnx_data", "weights that the graph points to"),
    ]:
        say(export(name), file, value)
        others.add(onnx_export(tmp_path / name).id)
    assert len(others - {first}) == 5


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        pytest.param({}, 256, id="nothing said"),
        pytest.param({"sentence_bert_config.json": {"max_seq_length": 7}}, 7, id="its own limit"),
        pytest.param({"sentence_bert_config.json": {"max_seq_length": None}}, 256, id="none in it"),
        pytest.param({"tokenizer_config.json": {"model_max_length": 9}}, 9, id="the tokenizer's"),
        pytest.param({"tokenizer_config.json": {"model_max_length": 10**30}}, 256, id="endless"),
        pytest.param(
            {"sentence_bert_config.json": {"max_seq_length": 7}, "tokenizer_config.json": {"model_max_length": 9}},
            7,
            id="both",
        ),
        pytest.param({"config.json": {"max_position_embeddings": 6}}, 6, id="no more than it has positions"),
        pytest.param(
            {"config.json": {"max_position_embeddings": 99}, "sentence_bert_config.json": {"max_seq_length": 7}},
            7,
            id="fewer than positions",
        ),
    ],
)
def test_how_many_tokens_are_read(export: Export, files: Mapping[str, object], limit: int) -> None:
    """The first of its files that says so, else 256."""
    folder = export()
    for name, value in files.items():
        say(folder, name, value)
    assert read_export(folder).limit == limit
    text = "one " * limit
    embedder = onnx_export(folder)
    embedder.embed([text, text + "two"])
    assert embedder.cut == 1


def test_pooling_is_what_the_folder_says(export: Export) -> None:
    """The mean, or the first token; without a file the mean."""
    folder = export()
    mean = onnx_export(folder).embed(["two one one"])
    say(folder, "1_Pooling/config.json", MEAN)
    assert np.array_equal(onnx_export(folder).embed(["two one one"]), mean)
    say(folder, "1_Pooling/config.json", FIRST)
    assert onnx_export(folder).embed(["two one one"]).tolist() == [[0, 1, 0]]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("1_Pooling/config.json", {**MEAN, "pooling_mode_max_tokens": True}, "mean_tokens, pooling_mode_max_tokens"),
        ("1_Pooling/config.json", {"pooling_mode_lasttoken": True}, "asks for pooling_mode_lasttoken"),
        ("1_Pooling/config.json", {}, "asks for no pooling"),
        ("1_Pooling/config.json", "[]", "cannot be read as PoolingConfig"),
        (
            "modules.json",
            [{"type": "sentence_transformers.models.Dense"}],
            "models.Dense, which an ONNX file leaves out",
        ),
        ("modules.json", {"type": "x"}, "cannot be read as Modules"),
        ("sentence_bert_config.json", {"max_seq_length": "many"}, "cannot be read as Sentence"),
        ("config.json", "{", "config.json cannot be read as Config"),
    ],
)
def test_what_would_give_other_rows_is_refused(export: Export, name: str, value: object, says: str) -> None:
    """A pooling or a module that is left out would be a silent wrong result."""
    folder = export()
    good = [{"type": "sentence_transformers.models.Transformer"}, {"type": "sentence_transformers.models.Pooling"}]
    say(folder, "modules.json", [*good, {"type": "sentence_transformers.models.Normalize"}])
    assert onnx_export(folder).embed(["one"]).shape == (1, 3)
    say(folder, name, value)
    with pytest.raises(ConfigError) as raised:
        onnx_export(folder)
    assert says in str(raised.value)
    assert name in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("1_Pooling/config.json", {**MEAN, "word_embedding_dimension": 4}), ("config.json", {"hidden_size": 4})],
)
def test_the_width_is_compared_with_what_the_folder_says(export: Export, name: str, value: object) -> None:
    """Files of two models in one folder are noticed."""
    folder = export()
    say(folder, name, value)
    with pytest.raises(WidthDoesNotMatch, match="width 3, its configuration says 4"):
        onnx_export(folder)


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_a_model(export: Export, missing: str) -> None:
    """The error names the folder and the file."""
    folder = export()
    (folder / missing).unlink()
    with pytest.raises(ConfigError, match=f"export has no {missing}"):
        onnx_export(folder)
