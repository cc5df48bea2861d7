"""``onnx:DIR``: the folder of a sentence-transformers model that was exported to ONNX, and what it says of itself.

The weights are ``model.onnx`` or ``onnx/model.onnx``; ``tokenizer.json`` must be there, the other files may be:

- ``sentence_bert_config.json`` (``max_seq_length``), else ``tokenizer_config.json`` (``model_max_length``), else 256
  tokens; never more than the positions of ``config.json``;
- ``1_Pooling/config.json``: mean over the tokens, which is also the default, or the first token;
- ``modules.json``: what follows the transformer must be pooling and normalising, since the ONNX file holds no more.

Prompts that a model was trained with are not added: a key and a question are embedded alike.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from amd.embedders.onnx import Engine, Model, OnnxEmbedder, Pooling, file_sha256, fingerprint
from amd.errors import ConfigError
from amd.json_text import loads

__all__ = ["onnx_export", "read_export"]

_LIMIT = 256  # tokens, where nothing says more
_ENDLESS = 1_000_000  # a tokenizer without a limit writes a number beyond this
_FLOOR = 0.4  # a guess, for memories with too few records to measure their own: models differ
_POOLINGS: dict[str, Pooling] = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
_KNOWN_MODULES = frozenset({"Transformer", "Pooling", "Normalize"})


class _Sentence(BaseModel):
    max_seq_length: int | None = None


class _TokenizerConfig(BaseModel):
    # Older releases of pydantic warn of names that begin like their own.
    model_config = ConfigDict(protected_namespaces=())

    model_max_length: float | None = None


class _Config(BaseModel):
    max_position_embeddings: int | None = None
    hidden_size: int | None = None


class _Module(BaseModel):
    type: str


class _Modules(RootModel[list[_Module]]):
    root: list[_Module] = []


class _PoolingConfig(BaseModel):
    """Its other members say how the rows of tokens become one, each mode by its own name."""

    model_config = ConfigDict(extra="allow")

    word_embedding_dimension: int | None = None


_File = TypeVar("_File", bound=BaseModel)


def onnx_export(folder: Path, *, threads: int | None = None) -> OnnxEmbedder:
    """The embedder of a folder. Its id is made of the files' bytes, so that the folder may be moved or renamed.

    Raises:
        ConfigError: a file is missing, cannot be read, or asks for more than an ONNX file of a transformer holds.
        WidthDoesNotMatch: the rows have another width than the folder's files say.
    """
    model = read_export(folder)
    # A big model keeps its weights beside the graph, in files that are called after it.
    weights = [file_sha256(path) for path in sorted(model.weights.parent.glob(f"{model.weights.name}*"))]
    mark = fingerprint(weights, file_sha256(model.tokenizer), model.limit, model.pooling)
    return OnnxEmbedder(Engine(model), id=f"onnx:{mark}", floor=_FLOOR, threads=threads)


def read_export(folder: Path) -> Model:
    """What a folder's files say: where the weights are, the tokens that are read, the pooling and the width."""
    weights = next((path for path in (folder / "model.onnx", folder / "onnx" / "model.onnx") if path.is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if weights is None or not tokenizer.is_file():
        missing = "model.onnx and no onnx/model.onnx" if weights is None else tokenizer.name
        raise ConfigError(
            f"{folder} has no {missing}",
            next_step="give the folder of a sentence-transformers model, exported to ONNX: onnx:DIR",
            path=str(folder),
        )
    _check_modules(folder)
    config = _read(folder / "config.json", _Config)
    pooling = _read(folder / "1_Pooling" / "config.json", _PoolingConfig)
    width = pooling.word_embedding_dimension or config.hidden_size
    return Model(weights, tokenizer, _limit(folder, config), _mode(folder, pooling), width)


def _limit(folder: Path, config: _Config) -> int:
    limit = _read(folder / "sentence_bert_config.json", _Sentence).max_seq_length
    if limit is None:
        most = _read(folder / "tokenizer_config.json", _TokenizerConfig).model_max_length
        limit = int(most) if most is not None and most < _ENDLESS else _LIMIT
    return min(limit, config.max_position_embeddings or limit)


def _mode(folder: Path, pooling: _PoolingConfig) -> Pooling:
    path = folder / "1_Pooling" / "config.json"
    if not path.is_file():
        return "mean"
    members = (pooling.model_extra or {}).items()
    modes = [name for name, on in members if name.startswith("pooling_mode_") and on is True]
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        raise ConfigError(
            f"{path} asks for {', '.join(modes) or 'no pooling'}",
            next_step=f"use a model with {' or '.join(_POOLINGS)}",
            path=str(folder),
        )
    return _POOLINGS[modes[0]]


def _check_modules(folder: Path) -> None:
    for module in _read(folder / "modules.json", _Modules).root:
        kind = module.type.rpartition(".")[2]
        if kind not in _KNOWN_MODULES:
            raise ConfigError(
                f"{folder / 'modules.json'} has the module {module.type}, which an ONNX file leaves out",
                next_step="use a model that ends with pooling",
                path=str(folder),
            )


def _read(path: Path, model: type[_File]) -> _File:
    """What a file says; the model's defaults where there is no such file."""
    if not path.is_file():
        return model()
    try:
        return model.model_validate(loads(path.read_bytes()))
    except (OSError, ValidationError, ValueError) as error:
        raise ConfigError(
            f"{path} cannot be read as {model.__name__.strip('_')}: {' '.join(str(error).split())}",
            next_step="export the model again",
            path=str(path),
        ) from error
