"""A model in ONNX at work: rows by hand, the same whatever the company, and every way in which files do not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from amd.chat import Embedder
from amd.embedders.batches import texts_cut
from amd.embedders.onnx import Engine, Model, OnnxEmbedder, file_sha256, fingerprint
from amd.errors import ConfigError, WidthDoesNotMatch

Make = Callable[..., OnnxEmbedder]


def unit(*rows: Sequence[float]) -> np.ndarray:
    """Rows of length one."""
    found = np.array(rows, np.float64)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def test_a_row_is_the_mean_of_its_tokens(embedder: Make) -> None:
    """By hand, of unit length, in the order of the texts; no texts give no rows of the same width."""
    made = embedder()
    assert isinstance(made, Embedder)
    rows = made.embed(["one two", "three", "one one two"])
    assert rows.dtype == np.float32
    assert np.array_equal(rows, unit([1, 2, 0], [0, 0, 1], [2, 2, 0]))
    assert made.embed([]).shape == (0, 3)


def test_the_first_token_may_stand_for_the_text(embedder: Make) -> None:
    """Models that were trained so say it in their folder."""
    assert np.array_equal(embedder(pooling="cls").embed(["two one", "one two"]), unit([0, 1, 0], [1, 0, 0]))


@pytest.mark.parametrize("padded", [None, 3, 128])
def test_how_a_tokenizer_pads_does_not_matter(embedder: Make, padded: int | None) -> None:
    """Its file may pad to the length of its training, cut there too, or say nothing: a text is read as it is."""
    assert np.array_equal(embedder(padded=padded).embed(["one two", "two"]), unit([1, 2, 0], [0, 1, 0]))


def test_what_is_longer_than_the_model_reads_is_counted(embedder: Make) -> None:
    """Its row is that of its beginning."""
    made = embedder(limit=3)
    assert np.array_equal(
        made.embed(["one two two", "one two two three three"])[0], made.embed(["one two two three"])[0]
    )
    assert made.cut == texts_cut(made) == 2


@pytest.mark.parametrize("threads", [None, 1, 2, 5])
def test_no_text_changes_the_row_of_another(embedder: Make, threads: int | None) -> None:
    """Not even in a model that rounds by the largest number of a batch: each text is run alone."""
    made, texts = embedder(quantised=True, threads=threads), ["one two", "three three", "one", "two minus", "one two"]
    together = made.embed(texts)
    assert all(np.array_equal(row, made.embed([text])[0]) for text, row in zip(texts, together, strict=True))
    assert np.array_equal(made.embed(texts[::-1]), together[::-1])


def test_such_a_model_does_change_its_rows_in_a_batch(export: Callable[..., Path]) -> None:
    """The control of the above: run as one batch, a text's numbers are others."""
    session = onnxruntime.InferenceSession(
        str(export(quantised=True) / "model.onnx"), providers=["CPUExecutionProvider"]
    )
    batches = [np.array([[1, 2]]), np.array([[1, 2], [3, 3]])]
    feed = [{"input_ids": ids, "attention_mask": np.ones_like(ids)} for ids in batches]
    alone, together = (session.run(None, each)[0][0] for each in feed)
    assert not np.array_equal(alone, together)


def test_a_surrogate_is_no_reason_to_fail(embedder: Make) -> None:
    """A broken character is one that the tokenizer does not know."""
    assert np.array_equal(embedder().embed(["one \ud83d"]), embedder().embed(["one ?"]))


@pytest.mark.parametrize(
    ("text", "says"),
    [("nan", "no direction"), ("one minus", "no direction"), ("", "without a token")],
)
def test_a_row_without_direction_is_an_error(embedder: Make, text: str, says: str) -> None:
    """Not finite, all zeros, or nothing to read: never a row that means nothing."""
    made = embedder()
    with pytest.raises(ConfigError, match=says) as raised:
        made.embed(["one", text])
    assert raised.value.fields["path"].endswith("model.onnx")
    # The control: numbers at the end of what float32 holds have a direction.
    assert np.array_equal(made.embed(["huge", "huge huge"]), unit([1, 1, 1], [1, 1, 1]))


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"inputs": ["input_ids", "pixel_values"]}, "asks for pixel_values, which no tokenizer gives"),
        (
            {"nodes": [("Gather", ["table", "input_ids"], ["scores"])], "output": "scores"},
            "gives scores, and none of last_hidden_state or token_embeddings",
        ),
    ],
)
def test_a_model_for_something_else_is_refused(embedder: Make, how: dict[str, Any], says: str) -> None:
    """What it takes and gives is compared before anything is embedded."""
    with pytest.raises(ConfigError, match=says):
        embedder(**how)


def test_the_other_exporter_is_understood(embedder: Make) -> None:
    """It calls the rows of the tokens by another name, and asks for token types."""
    how = {"nodes": [("Gather", ["table", "input_ids"], ["token_embeddings"])], "output": "token_embeddings"}
    made = embedder(inputs=["input_ids", "attention_mask", "token_type_ids"], **how)
    assert np.array_equal(made.embed(["two"]), unit([0, 1, 0]))


def test_a_tokenizer_of_another_model_is_refused(embedder: Make, capfd: pytest.CaptureFixture[str]) -> None:
    """Its ids lead out of the table: one typed error, and nothing is printed besides."""
    made = embedder(words=2)
    assert np.array_equal(made.embed(["one"]), unit([1, 0, 0]))
    with pytest.raises(ConfigError, match=r"cannot be run: .*out of data bounds"):
        made.embed(["three"])
    assert capfd.readouterr() == ("", "")


def test_another_width_than_declared_is_refused(embedder: Make) -> None:
    """Both numbers are in the error; nothing declared is nothing to compare."""
    with pytest.raises(WidthDoesNotMatch, match="rows of width 3, its configuration says 4") as raised:
        embedder(width=4)
    assert raised.value.fields == {"expected": 4, "found": 3}
    assert embedder(width=None).embed(["one"]).shape == (1, 3)


@pytest.mark.parametrize("content", [None, b"", b"no model", "truncated"], ids=str)
def test_a_file_that_is_no_model(export: Callable[..., Path], content: bytes | str | None) -> None:
    """Missing, empty, something else, or cut off: a typed error that names the file."""
    folder = export()
    path = folder / "model.onnx"
    if content is None:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:90] if isinstance(content, str) else content)
    with pytest.raises(ConfigError, match=r"model\.onnx is no ONNX model that can be run") as raised:
        Engine(Model(path, folder / "tokenizer.json", 8))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff"], ids=str)
def test_a_file_that_is_no_tokenizer(export: Callable[..., Path], content: bytes | None) -> None:
    """The same for the other file."""
    folder = export()
    path = folder / "tokenizer.json"
    path.unlink() if content is None else path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"tokenizer\.json is no tokenizer file"):
        Engine(Model(folder / "model.onnx", path, 8))


def test_all_that_decides_about_rows_is_in_the_fingerprint(tmp_path: Path) -> None:
    """Weights, tokenizer, limit and pooling, each for itself; equal ones are equal."""
    first = fingerprint(["a"], "b", 8, "mean")
    assert fingerprint(["a"], "b", 8, "mean") == first
    others = [
        fingerprint(["c"], "b", 8, "mean"),
        fingerprint(["a", "a"], "b", 8, "mean"),
        fingerprint(["a"], "c", 8, "mean"),
        fingerprint(["a"], "b", 9, "mean"),
        fingerprint(["a"], "b", 8, "cls"),
    ]
    assert len({first, *others}) == 6
    assert {len(mark) for mark in [first, *others]} == {16}
    (tmp_path / "file").write_bytes(b"")
    assert file_sha256(tmp_path / "file") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
