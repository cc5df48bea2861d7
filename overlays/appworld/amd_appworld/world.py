"""A worker's world: one server process and the client that speaks to it, begun when they are first needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

from amd_appworld.api_docs import ApiDocs
from amd_appworld.environment import Environment
from amd_appworld.server import Server

__all__ = ["RequestLog", "SharedDocs", "World"]


class World:
    """A server with its client, used by one thread; a context manager. Another thread may :meth:`close` it for good."""

    def __init__(self, server: Server, *, cell_timeout: int = 100) -> None:
        self.server = server
        self._cell_timeout = cell_timeout
        self._environment: Environment | None = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def environment(self) -> Environment:
        """The client of a server that is up; starting one takes some seconds.

        Raises:
            ConfigError: it cannot be started.
            EnvironmentGone: it does not answer.
        """
        if self._environment is None or not self.server.alive:
            self.reset()
            url = self.server.start()
            if self._closed:  # in the meantime
                self.server.stop()
            self._environment = Environment(url, cell_timeout=self._cell_timeout)
        return self._environment

    def reset(self) -> None:
        """Give the server up; the next question starts a new one."""
        environment, self._environment = self._environment, None
        if environment is not None:
            environment.close()
        self.server.stop()

    def close(self) -> None:
        """End the server, and start none any more."""
        self._closed = True
        self.server.stop()


class SharedDocs:
    """The documents of the APIs, asked for once by whichever worker is the first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._docs: ApiDocs | None = None

    def of(self, environment: Environment) -> ApiDocs:
        """The documents; every server of a root has the same."""
        with self._lock:
            if self._docs is None:
                self._docs = ApiDocs.of(environment.api_docs())
            return self._docs


class RequestLog:
    """The requests that a task's cells send, as AppWorld appends them to ``logs/api_calls.jsonl``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def last_new(self) -> Mapping[str, Any] | None:
        """The last request since this was asked before; ``None`` if there is no new one, or it cannot be read."""
        if not self._path.exists():
            return None
        with self._path.open("rb") as file:
            file.seek(self._read)
            new = file.read()
        self._read += len(new)
        lines = [line for line in new.split(b"\n") if line.strip()]
        try:
            last = json.loads(lines[-1]) if lines else None
        except ValueError:
            return None
        return last if isinstance(last, dict) else None
