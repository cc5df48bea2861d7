"""What the environment and configuration files say: the only file of the library that reads the environment.

``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` name an OpenAI-compatible endpoint, as they do for the client itself. They
are used only where the request names something behind such an endpoint; nothing ever turns to a service by default.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amd.chat import Embedder
from amd.embedders import load_embedder
from amd.errors import ConfigError

if TYPE_CHECKING:  # the client of a service takes half a second to load
    from amd.clients import ChatModel

__all__ = ["Price", "chat_model_named", "embedder_named", "price_of", "read_prices"]


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
    return load_embedder(id, base_url=_url(base_url), api_key=_key())


def chat_model_named(
    name: str, base_url: str | None = None, *, timeout: float = 120.0, connections: int = 16
) -> ChatModel:
    """The model of a name at an endpoint that lists it, with the key of the environment.

    Args:
        name: as the endpoint knows it.
        base_url: the endpoint, before ``OPENAI_BASE_URL``.
        timeout: seconds that one request may take.
        connections: requests at the same time.

    Raises:
        ConfigError: neither an endpoint nor a key is known.
        ClientError: the endpoint cannot be reached, or does not serve the model.
    """
    from amd.clients import ChatModel, check_endpoint  # noqa: PLC0415 - see above

    url, key = _url(base_url), _key()
    if url is None and key is None:
        raise ConfigError(
            f"the model {name!r} has neither an endpoint nor a key",
            next_step="give --base-url or OPENAI_BASE_URL, or OPENAI_API_KEY",
            model=name,
        )
    if url is not None:
        check_endpoint(name, base_url=url, api_key=key)
    return ChatModel(name, base_url=url, api_key=key, timeout=timeout, connections=connections)


def _url(given: str | None) -> str | None:
    return given or os.environ.get("OPENAI_BASE_URL") or None


def _key() -> str | None:
    return os.environ.get("OPENAI_API_KEY") or None


class Price(BaseModel):
    """What a million tokens cost, in any one currency."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: float = Field(ge=0, allow_inf_nan=False)
    completion: float = Field(ge=0, allow_inf_nan=False)

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """The price of so many tokens.

        >>> Price(prompt=0.5, completion=2).of(1_000_000, 100_000)
        0.7
        """
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


class _Prices(BaseModel):
    model_config = ConfigDict(extra="forbid")

    prices: dict[str, Price]


def read_prices(path: Path) -> dict[str, Price]:
    """The prices of models by name, of a TOML file with tables ``[prices."MODEL"]``: ``prompt``, ``completion``.

    Raises:
        ConfigError: the file cannot be read, or holds something else.
    """
    try:
        return _Prices.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).prices
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", next_step="name a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValidationError) as error:
        fault = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else None
        what = f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" if fault else str(error)
        raise ConfigError(
            f"{path} is no table of prices: {what}",
            next_step='write [prices."MODEL"] with prompt = and completion =, per million tokens',
        ) from error


def price_of(model: str, path: Path | None) -> Price | None:
    """The price of a model in a table of prices; nothing without a table.

    Raises:
        ConfigError: as :func:`read_prices`, or the table does not have the model.
    """
    if path is None:
        return None
    prices = read_prices(path)
    if model not in prices:
        raise ConfigError(
            f"{path} has no price of {model!r}; it has {', '.join(sorted(prices)) or 'none'}",
            next_step=f'add [prices."{model}"]',
            model=model,
        )
    return prices[model]
