"""What the environment says: the only file of the library that reads it.

``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` name an OpenAI-compatible endpoint, as they do for the client itself. They
are used only where the request names something behind such an endpoint; nothing ever turns to a service by default.
"""

from __future__ import annotations

import os

from amd.chat import Embedder
from amd.embedders import load_embedder

__all__ = ["embedder_named"]


def embedder_named(id: str, base_url: str | None = None) -> Embedder:  # noqa: A002 - the manifest's word
    """The embedder of an id; one behind an endpoint gets the endpoint and the key of the environment.

    Args:
        id: as for :func:`amd.load_embedder`.
        base_url: the endpoint, before ``OPENAI_BASE_URL``.

    Raises:
        ConfigError: the embedder is unknown or not installed, or neither an endpoint nor a key is known.

    >>> embedder_named("hash").id
    'hash'
    """
    if not id.startswith("openai:"):
        return load_embedder(id, base_url=base_url)
    url = base_url or os.environ.get("OPENAI_BASE_URL") or None
    return load_embedder(id, base_url=url, api_key=os.environ.get("OPENAI_API_KEY") or None)
