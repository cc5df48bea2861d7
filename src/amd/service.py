"""How an OpenAI-compatible service is reached: one client, what is worth asking again, and what went wrong in words.

Requests go through the client's plain ``get`` and ``post``, which neither check nor rebuild what they carry: every
server's own parameters pass, and a request costs a third of the processor time.
"""

from __future__ import annotations

import json
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Event

import openai
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    sleep_using_event,
    stop_after_attempt,
    stop_when_event_set,
)
from tenacity.stop import stop_base

from amd.chat import LONGEST_WORDS
from amd.errors import ClientError, ConfigError
from amd.quoting import one_line
from amd.transport import open_client

__all__ = ["OF_THE_REQUEST", "OPENAI", "Answer", "Service", "retrying", "server_words"]

OPENAI = "https://api.openai.com/v1"
"""Where the client asks if it is given a key and no address."""

OF_THE_REQUEST = frozenset({400, 413, 422})
"""Statuses that refuse this one request; another one may pass."""

_BUSY = frozenset({408, 409, 429})  # and 5xx: ask again later
_NOT_MADE = 501  # the server cannot do this, and will not in a while
_MOST_TIMEOUTS = 2  # attempts: a server that answers nothing twice has had its time
_LONGEST_WAIT = 60.0  # seconds; a server that asks for more is told about instead of waited for
_NEXT_STEPS = {
    401: "give the key of this endpoint (OPENAI_API_KEY)",
    403: "use a key that may use this endpoint",
    404: "name a model that it serves, and give the base URL up to and with /v1",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A body as it came, how many requests it took, and the seconds from the first of them to the answer."""

    text: str
    attempts: int
    seconds: float


class Service:
    """One endpoint, for many threads. A context manager; :meth:`close` also ends the waits between attempts.

    Broken connections, 408, 409, 429 and 5xx are tried again, and timeouts once, after as many seconds as
    ``Retry-After`` says, or else after ``first_wait`` seconds, doubled each time. Any other refusal is final.

    Args:
        base_url: up to and with ``/v1``; OpenAI's own if left out.
        api_key: may be left out for an endpoint of one's own.
        attempts: how often one request is made before it counts as failed.
        first_wait: seconds.
        timeout: seconds to connect, and again until an answer is there to its end, however steadily it drips.
        connections: requests at the same time; more of them wait for their turn.

    Raises:
        ConfigError: neither an address nor a key, an address that is none, or a key that cannot be sent.
    """

    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        *,
        attempts: int = 1,
        first_wait: float = 0.5,
        timeout: float = 60.0,
        connections: int = 16,
    ) -> None:
        if base_url is None and api_key is None:
            raise ConfigError(
                "a model has neither an endpoint nor a key",
                next_step="give --base-url or OPENAI_BASE_URL (base_url), or OPENAI_API_KEY (api_key)",
            )
        self.url = OPENAI if base_url is None else base_url
        self._timeout = timeout
        self._key = api_key
        self._closing = Event()
        self._client = open_client(self.url, api_key, timeout=timeout, connections=connections)
        self._retrying = retrying(attempts, first_wait, self._closing)
        self._finalizer = weakref.finalize(self, self._client.close)  # nobody has to remember it

    def close(self) -> None:
        """End the waits between attempts with a ``ClientError``; an answer that is under way may take its time."""
        self._closing.set()
        self._finalizer()

    def get(self, path: str) -> Answer:
        """What the endpoint answers to ``GET``; ``ClientError`` if it refuses or cannot be reached."""
        return self._answer(lambda: self._client.get(path, cast_to=str))

    def post(self, path: str, body: Mapping[str, object]) -> Answer:
        """What the endpoint answers to a JSON body; ``ClientError`` if it refuses or cannot be reached."""
        return self._answer(lambda: self._client.post(path, cast_to=str, body=body))

    def error(self, what: str, *, next_step: str, **fields: object) -> ClientError:
        """An error that names the endpoint, and the key nowhere."""
        told = {name: self._without_key(value) for name, value in fields.items()}
        message = str(self._without_key(f"the endpoint at {self.url} {what}"))
        return ClientError(message, next_step=next_step, url=self.url, **told)

    def _without_key(self, value: object) -> object:
        """Some servers repeat what they were sent."""
        return value.replace(self._key, "<key>") if self._key and isinstance(value, str) else value

    def _answer(self, request: Callable[[], str]) -> Answer:
        attempts, begin = 0, time.perf_counter()

        def once() -> str:
            nonlocal attempts
            attempts += 1
            return request()

        def failed(what: str, next_step: str, **fields: object) -> ClientError:
            spent = time.perf_counter() - begin
            return self.error(what, next_step=next_step, **fields, attempts=attempts, seconds=spent)

        try:
            text = self._retrying(once)
        except openai.APIStatusError as refusal:
            status, said = refusal.status_code, server_words(refusal)
            step = _NEXT_STEPS.get(status, "look at the server's own log, then run the same command again")
            raise failed(f"answered {status}: {said[:LONGEST_WORDS]}", step, status=status, said=said) from refusal
        except openai.APITimeoutError as failure:
            step = "wait until the server is up, then run the same command again"
            what = f"did not answer within {self._timeout:g} seconds"
            raise failed(what, step, timeout=self._timeout) from failure
        except openai.APIConnectionError as failure:
            step = "start the server or correct the base URL, then run the same command again"
            raise failed(f"cannot be reached: {failure.__cause__ or failure}", step) from failure
        except (UnicodeError, LookupError, TypeError, AssertionError) as failure:  # a charset that is none, or not its
            step = "look at the server's own log, then run the same command again"
            raise failed(f"sent an answer that cannot be decoded: {failure}", step, status=200) from failure
        except RuntimeError as failure:  # the newer clients' word for a client that was closed
            if not self._closing.is_set():
                raise
            raise failed("was not asked: its client has been closed", "run the same command again") from failure
        return Answer(text, attempts, time.perf_counter() - begin)


def server_words(refusal: openai.APIStatusError) -> str:
    """What the server said, on one line: OpenAI's ``message``, a bare ``error``, FastAPI's ``detail``, or the page."""
    body = refusal.body
    said: object = body
    if isinstance(body, Mapping):
        said = body.get("message") or body.get("detail") or refusal.message
    if not isinstance(said, str):
        said = json.dumps(said, ensure_ascii=False) if said else ""
    return one_line((said or refusal.message).encode("utf-8", "replace").decode())


def retrying(attempts: int, first_wait: float, closing: Event | None = None) -> Retrying:
    """Calls a function until it succeeds, fails for good, or has failed ``attempts`` times; raises its last error.

    ``closing`` ends the waits and the attempts when it is set. One object serves many threads.
    """
    closing = closing or Event()
    return Retrying(
        stop=stop_after_attempt(attempts) | stop_when_event_set(closing) | _LateAgain(),
        retry=retry_if_exception(_is_worth_retrying),
        wait=lambda state: _wait(state, first_wait),
        sleep=sleep_using_event(closing),
        reraise=True,
    )


class _LateAgain(stop_base):
    """Whether a service was waited for in vain often enough."""

    def __call__(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        return state.attempt_number >= _MOST_TIMEOUTS and isinstance(error, openai.APITimeoutError)


def _is_worth_retrying(error: BaseException) -> bool:
    """Whether the same request may succeed in a while."""
    if isinstance(error, openai.APIStatusError):
        wait = _asked_to_wait(error)
        busy = error.status_code in _BUSY or (error.status_code >= 500 and error.status_code != _NOT_MADE)
        return busy and (wait is None or wait <= _LONGEST_WAIT)
    return isinstance(error, openai.APIConnectionError)  # timeouts are among them


def _wait(state: RetryCallState, first: float) -> float:
    """Seconds until the next attempt: what the server asked for, else ``first``, doubled each time."""
    error = state.outcome.exception() if state.outcome else None
    asked = _asked_to_wait(error) if isinstance(error, openai.APIStatusError) else None
    return min(first * 2.0 ** (state.attempt_number - 1), _LONGEST_WAIT) if asked is None else asked


def _asked_to_wait(error: openai.APIStatusError) -> float | None:
    """The seconds of a ``Retry-After`` header, which holds seconds or a date; ``None`` if it holds neither."""
    header = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None
