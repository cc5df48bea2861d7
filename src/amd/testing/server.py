"""A real HTTP server on 127.0.0.1 that speaks the OpenAI protocol and misbehaves when it is told to."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Self, TypeAlias

from amd.chat import Embedder
from amd.clients.abilities import PROBE
from amd.errors import AmdError
from amd.testing.embedder import StubEmbedder
from amd.testing.wire import Answer, Request, Wire

__all__ = ["Fault", "LoopbackServer"]

Chat: TypeAlias = Callable[[Mapping[str, Any]], str | Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something other than the proper answer.

    ``status`` and ``message`` make an error as OpenAI words it, ``headers`` go with it (``Retry-After``).
    ``delay`` waits so many seconds before anything is sent. ``cut`` breaks the connection in the middle of the answer.
    ``body`` replaces the whole body, whatever the status.

    >>> from urllib.error import HTTPError
    >>> from urllib.request import urlopen
    >>> with LoopbackServer(faults=[Fault(503), None]) as server:
    ...     try:
    ...         urlopen(server.url + "/models")
    ...     except HTTPError as error:
    ...         error.close()
    ...         error.status
    503
    """

    status: int = 500
    message: str = "the server was told to fail"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    body: str | None = None

    def answer(self) -> Answer:
        """The fault as it goes over the wire."""
        body = _error(self.message) if self.body is None else self.body.encode()
        return Answer(self.status, body, self.headers, self.cut)


class LoopbackServer:
    """``/v1/models``, ``/v1/embeddings`` and ``/v1/chat/completions`` on 127.0.0.1; use it in a ``with`` block.

    Args:
        chat: the replies to chat requests, in order, or a function of the request's body. A string is the content of
            the assistant's message, a mapping the whole message (``content``, ``tool_calls``, ``reasoning_content``);
            ``finish_reason`` and ``usage`` in it take the place of the server's own. The first question of a
            ``ChatModel`` (what the endpoint takes) is answered without them, as the next two say.
        refuses: the parameters whose name in a request is answered with 400.
        ignores: the parameters that are taken and have no effect: ``tools``, ``response_format``.
        embedder: what answers ``/v1/embeddings``.
        models: the names under ``/v1/models``. A request for another model is answered with 404.
        faults: what to answer instead, in order, one a request, ``None`` for the proper answer; or a function.
        key: if given, a request without it is answered with 401.
        latency: seconds before each proper answer.
        port: where to listen; 0 is a free port. ``OSError`` if another program listens there.

    ``url`` is the base URL, up to and with ``/v1``; ``requests`` are kept in the order in which they came in.

    >>> from urllib.request import urlopen
    >>> with LoopbackServer(models=["my-model"]) as server, urlopen(server.url + "/models") as answer:
    ...     b"my-model" in answer.read(), [request.path for request in server.requests]
    (True, ['/v1/models'])
    """

    def __init__(
        self,
        *,
        chat: Iterable[str | Mapping[str, Any]] | Chat = (),
        embedder: Embedder | None = None,
        refuses: Collection[str] = (),
        ignores: Collection[str] = (),
        models: Sequence[str] = ("stub",),
        faults: Iterable[Fault | None] | Callable[[Request], Fault | None] = (),
        key: str | None = None,
        latency: float = 0.0,
        port: int = 0,
    ) -> None:
        self.requests: list[Request] = []
        self._chat = chat if callable(chat) else _one_by_one(iter(chat))
        self._embedder = embedder or StubEmbedder()
        self._refuses = refuses
        self._ignores = ignores
        self._models = tuple(models)
        self._faults = faults if callable(faults) else _next_fault(iter(faults))
        self._key = key
        self._lock = Lock()
        self._latency = latency
        self._closing = Event()
        self._wire = Wire(self._answer, port)
        self.url = f"http://127.0.0.1:{self._wire.server_port}/v1"
        self._thread = Thread(target=self._wire.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        """Start to serve."""
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop, and wait until nothing is served any more."""
        self._closing.set()
        self._wire.shutdown()
        self._wire.server_close()
        self._thread.join()

    def _answer(self, request: Request) -> Answer:
        """What to send back. Answers are found one at a time, in the order in which the requests came in."""
        with self._lock:
            self.requests.append(request)
            fault = self._faults(request)
            answer = fault.answer() if fault else self._proper(request)
        self._closing.wait(fault.delay if fault else self._latency)
        return answer

    def _proper(self, request: Request) -> Answer:
        if self._key is not None and request.headers.get("authorization") != f"Bearer {self._key}":
            return Answer(401, _error("Incorrect API key provided"))
        try:
            return self._routed(request)
        except AmdError as fault:
            return Answer(500, _error(fault.message))

    def _routed(self, request: Request) -> Answer:
        match request.method, request.path, request.body:
            case "GET", "/v1/models", _:
                return _json({"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]})
            case "POST", "/v1/embeddings" | "/v1/chat/completions", {"model": str(model)} if model not in self._models:
                return Answer(404, _error(f"The model `{model}` does not exist"))
            case "POST", "/v1/embeddings", {"model": str(model), "input": str() | list() as texts}:
                return _json(self._embeddings(model, [texts] if isinstance(texts, str) else texts))
            case "POST", "/v1/chat/completions", {"model": str(model), "messages": list()}:
                return self._completion(model, request.body)
        return Answer(404, _error(f"{request.method} {request.path} with this body is not served here"))

    def _embeddings(self, model: str, texts: Sequence[str]) -> dict[str, Any]:
        data = [
            {"object": "embedding", "index": index, "embedding": row.tolist()}
            for index, row in enumerate(self._embedder.embed(texts))
        ]
        tokens = sum(len(text.split()) for text in texts)
        return {
            "object": "list",
            "model": model,
            "data": data,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }

    def _completion(self, model: str, whole: Mapping[str, Any]) -> Answer:
        for name in self._refuses:
            if name in whole:
                return Answer(400, _error(f"Unsupported parameter: '{name}' is not supported with this model."))
        body = {name: value for name, value in whole.items() if name not in self._ignores}
        reply = _probed(body) if body["messages"] == list(PROBE) else self._chat(body)
        message = {"role": "assistant", "content": None, **({"content": reply} if isinstance(reply, str) else reply)}
        asked = sum(len(str(part.get("content")).split()) for part in body["messages"])
        asked += len(json.dumps(body["tools"]).split()) if "tools" in body else 0
        said = len(str(message["content"]).split())
        usage = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
        reason = message.pop("finish_reason", "tool_calls" if message.get("tool_calls") else "stop")
        answer = {
            "id": f"chatcmpl-{len(self.requests)}",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "usage": message.pop("usage", usage),
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        }
        return _json(answer)


def _probed(body: Mapping[str, Any]) -> str:
    """The answer to the first question of a ``ChatModel``: of its schema, if that has an effect."""
    if "response_format" not in body:
        return "Yes."
    return json.dumps(dict.fromkeys(body["response_format"]["json_schema"]["schema"]["required"], True))


def _one_by_one(replies: Iterator[str | Mapping[str, Any]]) -> Chat:
    def reply(_: Mapping[str, Any]) -> str | Mapping[str, Any]:
        for answer in replies:
            return answer
        raise AmdError("the script has no reply left", next_step="give the server as many replies as it is asked for")

    return reply


def _next_fault(faults: Iterator[Fault | None]) -> Callable[[Request], Fault | None]:
    return lambda _: next(faults, None)


def _json(value: Mapping[str, Any]) -> Answer:
    return Answer(200, json.dumps(value).encode())


def _error(message: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": None}}).encode()
