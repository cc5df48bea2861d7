"""The client of an endpoint: it reads nothing of its surroundings, retries nothing, and waits for so long.

It is built in the one spelling that works from openai 1.17 beside httpx 0.28 up to 3.x.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import openai

from amd.errors import ConfigError

__all__ = ["open_client"]

# The client's own: httpx, or what stands for it in newer releases.
_HTTPX = importlib.import_module(type(openai.DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0])


def open_client(base_url: str, api_key: str | None, *, timeout: float, connections: int = 16) -> openai.OpenAI:
    """The client of an endpoint, without retries of its own.

    Raises:
        ConfigError: the address is none, or the key cannot be sent.
    """
    _check_address(base_url, api_key)
    limits = _HTTPX.Limits(max_connections=connections, max_keepalive_connections=connections)
    patience = openai.Timeout(timeout, pool=None)  # a thread's turn comes, however slow the server is
    return openai.OpenAI(
        base_url=base_url,
        api_key=api_key or "none",  # the client insists on one
        max_retries=0,
        timeout=patience,
        http_client=openai.DefaultHttpxClient(
            timeout=patience, limits=limits, event_hooks={"response": [lambda response: _bound(response, timeout)]}
        ),
    )


class _Bounded(_HTTPX.SyncByteStream):  # type: ignore[misc, name-defined]  # known when it runs
    """The bytes of an answer, for so many seconds: the client's own patience begins anew with each of them."""

    def __init__(self, stream: Any, timeout: float) -> None:  # noqa: ANN401 - as above
        self._stream = stream
        self._until = time.monotonic() + timeout

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            yield part
            if time.monotonic() > self._until:
                raise _HTTPX.ReadTimeout("the answer has begun and does not end")

    def close(self) -> None:
        self._stream.close()


def _bound(response: Any, timeout: float) -> None:  # noqa: ANN401 - as above
    response.stream = _Bounded(response.stream, timeout)


def _check_address(base_url: str, api_key: str | None) -> None:
    """Refuse what the client would fail on without a word of use, or with the key in it."""
    try:
        parts = urlsplit(base_url)
        named = bool((parts.hostname or "").encode("idna"))
        usable = named and parts.scheme in ("http", "https") and parts.port != 0 and base_url.isprintable()
    except ValueError:  # a host, brackets or a port that are none
        usable = False
    if not usable:
        raise ConfigError(
            f"the base URL {base_url!r} is no address", next_step="give it as http://HOST:PORT/v1", url=base_url
        )
    if api_key and not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
        raise ConfigError(
            "the API key has a character that no key has: a space, a line end or a letter beyond ASCII",
            next_step="copy it again",
        )
