"""Models small enough to be written by hand: an ONNX file is protobuf, and this is all of it that they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from amd.embedders.onnx import Engine, Model, OnnxEmbedder

TABLE: Mapping[str, Sequence[float]] = {
    "[UNK]": [1, 1, 1],
    "one": [1, 0, 0],
    "two": [0, 2, 0],
    "three": [0, 0, 3],
    "minus": [-1, 0, 0],
    "nan": [float("nan"), 0, 0],
    "huge": [3e38, 3e38, 3e38],
}
"""The row of each word; a model looks them up."""

Node = tuple[str, list[str], list[str]]
Write = Callable[..., Path]


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(raw)) + raw


def _value(name: str, kind: int, dims: Sequence[int | str]) -> bytes:
    """A ``ValueInfoProto``: a named tensor of a kind (1 float, 7 int64)."""
    shape = b"".join(_field(1, _field(1 if isinstance(dim, int) else 2, dim)) for dim in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def onnx_model(nodes: Sequence[Node], inputs: Sequence[str], output: str, table: np.ndarray, rank: int = 3) -> bytes:
    """A ``ModelProto``: nodes (operator, inputs, outputs) over token ids and one table of rows."""
    tensor = b"".join(_field(1, size) for size in table.shape)
    tensor += _field(2, 1) + _field(8, "table") + _field(9, table.astype("<f4").tobytes())
    graph = b"".join(
        _field(
            1, b"".join(_field(1, name) for name in taken) + b"".join(_field(2, name) for name in given) + _field(4, op)
        )
        for op, taken, given in nodes
    )
    graph += _field(2, "made by hand") + _field(5, tensor)
    graph += b"".join(_field(11, _value(name, 7, ["batch", "tokens"])) for name in inputs)
    graph += _field(12, _value(output, 1, ["batch", "tokens", table.shape[1]][:rank]))
    return _field(1, 8) + _field(8, _field(2, 17)) + _field(7, graph)


LOOK_UP: Sequence[Node] = [("Gather", ["table", "input_ids"], ["last_hidden_state"])]
QUANTISED: Sequence[Node] = [
    ("Gather", ["table", "input_ids"], ["rows"]),
    ("DynamicQuantizeLinear", ["rows"], ["small", "scale", "zero"]),
    ("DequantizeLinear", ["small", "scale", "zero"], ["last_hidden_state"]),
]
"""A model that rounds its activations by one scale for a whole batch, as dynamic quantisation does."""


@pytest.fixture
def export(tmp_path: Path) -> Write:
    """Write the folder of a model: ``model.onnx`` and ``tokenizer.json``."""

    def write(
        name: str = "export",
        *,
        nodes: Sequence[Node] = LOOK_UP,
        quantised: bool = False,
        inputs: Sequence[str] = ("input_ids", "attention_mask"),
        output: str = "last_hidden_state",
        words: int = len(TABLE),
        under: str = ".",
        rank: int = 3,
        padded: int | None = None,
    ) -> Path:
        folder = tmp_path / name
        (folder / under).mkdir(parents=True, exist_ok=True)
        table = np.array(list(TABLE.values())[:words], np.float32)
        model = onnx_model(QUANTISED if quantised else nodes, inputs, output, table, rank)
        (folder / under / "model.onnx").write_bytes(model)
        tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(TABLE)}, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = Whitespace()
        if padded is not None:
            tokenizer.enable_padding(length=padded, pad_id=3, pad_token="three")
            tokenizer.enable_truncation(1)
        (folder / "tokenizer.json").write_text(tokenizer.to_str(), encoding="utf-8")
        return folder

    return write


@pytest.fixture
def embedder(export: Write) -> Callable[..., OnnxEmbedder]:
    """The embedder of a model that :func:`export` writes."""

    def load(
        *, limit: int = 8, pooling: str = "mean", width: int | None = 3, threads: int | None = None, **how: object
    ) -> OnnxEmbedder:
        folder = export(**how)
        model = Model(folder / "model.onnx", folder / "tokenizer.json", limit, pooling, width)  # type: ignore[arg-type]
        return OnnxEmbedder(Engine(model), id="onnx:made-by-hand", floor=0.4, threads=threads)

    return load
