"""Embedders by id. An id names one vector space; one that is not at hand is an error, never another embedder."""

from __future__ import annotations

from amd.chat import Embedder
from amd.errors import ConfigError

__all__ = ["KNOWN", "load_embedder"]

KNOWN = ("hash", "openai:MODEL")
"""The ids that :func:`load_embedder` understands."""


def load_embedder(id: str, *, base_url: str | None = None, api_key: str | None = None) -> Embedder:  # noqa: A002 - the manifest's word
    """The embedder that an id names.

    Args:
        id: ``hash``, or ``openai:MODEL`` for a model behind any OpenAI-compatible endpoint.
        base_url: where the endpoint is, up to and with ``/v1``; only for ``openai:MODEL``.
        api_key: its key; only for ``openai:MODEL``.

    Raises:
        ConfigError: an unknown id, one whose extra is not installed, or an option that the embedder has no use for.

    >>> load_embedder("hash").id
    'hash'
    """
    name, colon, argument = id.partition(":")
    if name == "openai":
        return _openai(argument, base_url, api_key)
    if base_url is not None or api_key is not None:
        raise ConfigError(
            f"base_url and api_key are for openai:MODEL, the embedder is {id!r}",
            next_step="leave them out",
            embedder=id,
        )
    if name in ("minilm", "onnx") and bool(colon) == (name == "onnx"):
        raise ConfigError(
            f"the embedder {id!r} comes with the extra 'local' of a later version",
            next_step="use hash, or openai:MODEL",
            embedder=id,
            extra="local",
        )
    if id != "hash":
        raise ConfigError(
            f"{id!r} is no embedder", next_step=f"use one of: {', '.join(KNOWN)}", embedder=id, known=KNOWN
        )
    # Imported here: a face costs nothing until it is used, and this one needs numpy.
    from amd.embedders.hash import HashEmbedder  # noqa: PLC0415

    return HashEmbedder()


def _openai(model: str, base_url: str | None, api_key: str | None) -> Embedder:
    if not model:
        raise ConfigError("the embedder 'openai:' names no model", next_step="use openai:MODEL", embedder="openai:")
    # Imported here: only this embedder needs the client, and the client takes half a second to load.
    from amd.embedders.openai import OpenAIEmbedder  # noqa: PLC0415

    return OpenAIEmbedder(model, base_url=base_url, api_key=api_key)
