"""Whether a chat model is served where a run is about to ask for it: one small request, before the first task."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from amd.chat import LONGEST_WORDS
from amd.errors import ClientError
from amd.json_text import JSON, loads
from amd.service import Service

__all__ = ["check_endpoint"]

_LISTS_NOTHING = frozenset({404, 405})  # not every server that answers a chat also lists its models
_MOST_NAMES = 5


def check_endpoint(model: str, *, base_url: str, api_key: str | None, timeout: float = 10.0) -> None:
    """Ask the endpoint for its models, and make sure that the one of a run is among them. No chat is requested.

    A server that does not list its models (404 or 405, or no list at all) passes: only a chat can tell.

    Args:
        model: the name that will be asked for.
        base_url: up to and with ``/v1``.
        api_key: may be left out for an endpoint of one's own.
        timeout: seconds to connect, and again to wait for the next byte.

    Raises:
        ClientError: the endpoint cannot be reached, is too slow, refuses, is no such endpoint, or lacks the model.
        ConfigError: the address is none, or the key cannot be sent.

    >>> from amd.testing import LoopbackServer
    >>> with LoopbackServer(models=["qwen3-4b"]) as server:
    ...     check_endpoint("qwen3-4b", base_url=server.url, api_key=None)
    ...     try:
    ...         check_endpoint("qwen3-8b", base_url=server.url, api_key=None)
    ...     except ClientError as error:
    ...         print(error.fields["models"])
    ['qwen3-4b']
    """
    with closing(Service(base_url, api_key, timeout=timeout)) as service:
        names = _listed(service)
        # Some servers list what they serve under a longer name than the one that a request may use.
        if names and not {model, f"models/{model}", f"{model}:latest"} & set(names):
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            raise service.error(
                f"has no model {model!r}; it has {', '.join(names[:_MOST_NAMES])}{more}",
                next_step="name one of them, or start the server with this one",
                model=model,
                models=names,
            )


def _listed(service: Service) -> list[str]:
    """The names of the models that the endpoint lists, bare or under ``data``; none where it lists nothing."""
    wrong = "give the base URL up to and with /v1"
    try:
        value = loads(service.get("/models").text)
    except ClientError as refusal:
        if refusal.status in _LISTS_NOTHING:
            return []
        raise
    except ValueError as error:
        raise service.error(f"answers /models with no JSON: {error}", next_step=wrong) from error
    listed: JSON = value
    if isinstance(value, Mapping):
        if value.get("error"):  # some servers say so with the status 200
            raise service.error(
                f"answers /models with an error: {str(value['error'])[:LONGEST_WORDS]}", next_step=wrong
            )
        listed = value.get("data")
    entries = listed if isinstance(listed, list) else []
    found = (entry.get("id") for entry in entries if isinstance(entry, Mapping))
    return [name for name in found if isinstance(name, str)]
