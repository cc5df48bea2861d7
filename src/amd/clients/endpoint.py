"""Whether a chat model is served where a run is about to ask for it: one small request, before the first task.

The client is built as in ``amd.embedders.openai``: everything by argument, no retries of its own, and in the one
spelling that works from openai 1.17 beside httpx 0.28 up to 3.x.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

import openai

from amd.errors import ClientError, ConfigError
from amd.json_text import JSON, loads

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
    _check_address(base_url, api_key)
    names = _listed(base_url, api_key, timeout)
    # Some servers list what they serve under a longer name than the one that a request may use.
    if names and not {model, f"models/{model}", f"{model}:latest"} & set(names):
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        raise _error(
            base_url,
            f"has no model {model!r}; it has {', '.join(names[:_MOST_NAMES])}{more}",
            next_step="name one of them, or start the server with this one",
            model=model,
            models=names,
        )


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


def _listed(base_url: str, api_key: str | None, timeout: float) -> list[str]:
    """The names of the models that the endpoint lists; none where it lists nothing."""
    with openai.OpenAI(
        base_url=base_url,
        api_key=api_key or "none",  # the client insists on one
        max_retries=0,
        timeout=timeout,
        http_client=openai.DefaultHttpxClient(timeout=timeout),
    ) as client:
        try:
            # The raw answer: the client itself takes whatever is no JSON for an empty list.
            body = client.models.with_raw_response.list().content
        except openai.APITimeoutError as failure:
            raise _error(
                base_url,
                f"did not answer within {timeout:g} seconds",
                next_step="wait until the server is up, then run the same command again",
                timeout=timeout,
            ) from failure
        except openai.APIConnectionError as failure:
            raise _error(
                base_url,
                f"cannot be reached: {failure.__cause__ or failure}",
                next_step="start the server or correct the base URL, then run the same command again",
            ) from failure
        except openai.APIStatusError as refusal:
            if refusal.status_code in _LISTS_NOTHING:
                return []
            raise _refused(base_url, refusal) from refusal
    return _names(base_url, body)


def _names(base_url: str, body: bytes) -> list[str]:
    """The names in an answer: a list of models, bare or under ``data``."""
    wrong = "give the base URL up to and with /v1"
    try:
        value = loads(body)
    except ValueError as error:
        raise _error(base_url, f"answers /models with no JSON: {error}", next_step=wrong) from error
    listed: JSON = value
    if isinstance(value, Mapping):
        if value.get("error"):  # some servers say so with the status 200
            raise _error(base_url, f"answers /models with an error: {value['error']}", next_step=wrong)
        listed = value.get("data")
    entries = listed if isinstance(listed, list) else []
    found = (entry.get("id") for entry in entries if isinstance(entry, Mapping))
    return [name for name in found if isinstance(name, str)]


def _refused(base_url: str, refusal: openai.APIStatusError) -> ClientError:
    status, body = refusal.status_code, refusal.body
    said = body.get("message") if isinstance(body, Mapping) else None
    steps = {
        401: "give the key of this endpoint (OPENAI_API_KEY)",
        403: "use a key that may use this endpoint",
    }
    return _error(
        base_url,
        f"answered {status}: {said or refusal.message}",
        next_step=steps.get(status, "look at the server's own log, then run the same command again"),
        status=status,
    )


def _error(base_url: str, what: str, *, next_step: str, **fields: object) -> ClientError:
    return ClientError(f"the endpoint at {base_url} {what}", next_step=next_step, url=base_url, **fields)
