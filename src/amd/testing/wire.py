"""The HTTP under :class:`amd.testing.LoopbackServer`: requests in, answers out, and every way to break off."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Answer", "Request", "Wire"]


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came in: header names in lower case, the body as parsed JSON (``None`` if it is none).

    >>> asked = Request("POST", "/v1/embeddings", {"authorization": "Bearer k"}, {"model": "stub", "input": ["a text"]})
    >>> asked.body["input"], asked.headers["authorization"]
    (['a text'], 'Bearer k')
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back. ``cut`` announces the whole body, sends half of it and breaks the connection."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False


class Wire(ThreadingHTTPServer):
    """A server on a port of 127.0.0.1, 0 for a free one; ``answer`` is called in the thread of each connection."""

    daemon_threads = False  # so that closing waits for them

    def __init__(self, answer: Callable[[Request], Answer], port: int = 0) -> None:
        self.answer = answer
        self._connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection, and remember it until it ends."""
        connection, address = super().get_request()
        self._connections.add(connection)
        return connection, address

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """End a connection."""
        if isinstance(request, socket.socket):
            self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Break the connections that clients keep open, then wait for their threads."""
        for connection in list(self._connections):
            with suppress(OSError):  # it may have ended by itself
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Report what goes wrong in a handler, but not a client that left."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open, as those of a real server do
    disable_nagle_algorithm = True  # an answer is two writes, and the second one would wait
    server: Wire

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's spelling
        """Say nothing: a test reads the requests."""

    def _serve(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.answer(Request(self.command, self.path, headers, body))
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if answer.cut:
            self.wfile.write(answer.body[: len(answer.body) // 2])
            self.close_connection = True
        else:
            self.wfile.write(answer.body)
