"""A real HTTP server on 127.0.0.1 that speaks the OpenAI protocol and misbehaves when it is told to."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self, TypeAlias

from amd.chat import Embedder
from amd.testing.embedder import StubEmbedder

__all__ = ["Fault", "LoopbackServer", "Request"]

Chat: TypeAlias = Callable[[Mapping[str, Any]], str | Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came in: header names in lower case, the body as parsed JSON."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Fault:
    """Something other than the proper answer.

    ``status`` and ``message`` make an error as OpenAI words it, ``retry_after`` adds that header, in seconds.
    ``delay`` waits so many seconds before anything is sent. ``cut`` breaks the connection in the middle of the answer.
    ``body`` replaces the whole body, whatever the status.
    """

    status: int = 500
    message: str = "the server was told to fail"
    retry_after: float | None = None
    delay: float = 0.0
    cut: bool = False
    body: str | None = None


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False


class LoopbackServer:
    """``/v1/models``, ``/v1/embeddings`` and ``/v1/chat/completions`` on a free port; use it in a ``with`` block.

    Args:
        chat: the replies to chat requests, in order, or a function of the request's body. A string is the content of
            the assistant's message, a mapping the whole message (``content``, ``tool_calls``).
        embedder: what answers ``/v1/embeddings``.
        models: the names under ``/v1/models``. A request for another model is answered with 404.
        faults: what to answer instead, in order, one a request, ``None`` for the proper answer; or a function.
        key: if given, a request without it is answered with 401.

    ``url`` is the base URL, up to and with ``/v1``; ``requests`` are kept in the order in which they came in.

    >>> with LoopbackServer(chat=["hello"]) as server:
    ...     server.url.startswith("http://127.0.0.1:"), server.requests
    (True, [])
    """

    def __init__(
        self,
        *,
        chat: Iterable[str | Mapping[str, Any]] | Chat = (),
        embedder: Embedder | None = None,
        models: Sequence[str] = ("stub",),
        faults: Iterable[Fault | None] | Callable[[Request], Fault | None] = (),
        key: str | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self._chat = chat if callable(chat) else _one_by_one(iter(chat))
        self._embedder = embedder or StubEmbedder()
        self._models = tuple(models)
        self._faults = faults if callable(faults) else _next_fault(iter(faults))
        self._key = key
        self._lock = Lock()
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.room = self
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        """Start to serve."""
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop, and wait until nothing is served any more."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, request: Request) -> _Answer:
        """What to send back; the handler's threads call this."""
        with self._lock:
            self.requests.append(request)
            fault = self._faults(request)
            if fault is None:
                return self._proper(request)
        time.sleep(fault.delay)
        headers = {} if fault.retry_after is None else {"Retry-After": f"{fault.retry_after:g}"}
        body = _error(fault.message) if fault.body is None else fault.body.encode()
        return _Answer(fault.status, body, headers, fault.cut)

    def _proper(self, request: Request) -> _Answer:
        if self._key is not None and request.headers.get("authorization") != f"Bearer {self._key}":
            return _Answer(401, _error("Incorrect API key provided"))
        match request.method, request.path, request.body:
            case "GET", "/v1/models", _:
                return _json({"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]})
            case "POST", "/v1/embeddings" | "/v1/chat/completions", {"model": str(model)} if model not in self._models:
                return _Answer(404, _error(f"The model `{model}` does not exist"))
            case "POST", "/v1/embeddings", {"model": str(model), "input": str() | list() as texts}:
                return _json(self._embeddings(model, [texts] if isinstance(texts, str) else texts))
            case "POST", "/v1/chat/completions", {"model": str(model), "messages": list()}:
                return self._completion(model, request.body)
        return _Answer(404, _error(f"{request.method} {request.path} with this body is not served here"))

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

    def _completion(self, model: str, body: Mapping[str, Any]) -> _Answer:
        try:
            reply = self._chat(body)
        except LookupError as fault:
            return _Answer(500, _error(str(fault)))
        message = {"role": "assistant", "content": None, **({"content": reply} if isinstance(reply, str) else reply)}
        asked = sum(len(str(part.get("content")).split()) for part in body["messages"])
        said = len(str(message["content"]).split())
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
        }
        return _json(
            {
                "id": f"chatcmpl-{len(self.requests)}",
                "object": "chat.completion",
                "created": 0,
                "model": model,
                "choices": [choice],
                "usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said},
            }
        )


def _one_by_one(replies: Iterator[str | Mapping[str, Any]]) -> Chat:
    def reply(_: Mapping[str, Any]) -> str | Mapping[str, Any]:
        for answer in replies:
            return answer
        raise LookupError("the script has no reply left")

    return reply


def _next_fault(faults: Iterator[Fault | None]) -> Callable[[Request], Fault | None]:
    return lambda _: next(faults, None)


def _json(value: Mapping[str, Any]) -> _Answer:
    return _Answer(200, json.dumps(value).encode())


def _error(message: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": None}}).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    room: LoopbackServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open, as those of a real server do
    server: _Server

    def do_GET(self) -> None:  # noqa: N802 - the standard library's spelling
        self._serve()

    def do_POST(self) -> None:  # noqa: N802 - the standard library's spelling
        self._serve()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's spelling
        """Say nothing: a test reads ``requests``."""

    def _serve(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.room.answer(Request(self.command, self.path, headers, body))
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if answer.cut:
            self.wfile.write(answer.body[: len(answer.body) // 2])
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        else:
            self.wfile.write(answer.body)
