"""A worker's seat: one server process and the client that speaks to it, begun when they are first needed."""

from __future__ import annotations

from amd_appworld.answers import EnvironmentGone
from amd_appworld.environment import Environment
from amd_appworld.server import Server

__all__ = ["Seat"]


class Seat:
    """A server with its client, used by one thread; another thread may :meth:`close` it for good."""

    def __init__(self, server: Server, *, cell_timeout: int = 100) -> None:
        self.server = server
        self._cell_timeout = cell_timeout
        self._environment: Environment | None = None
        self._closed = False

    def environment(self) -> Environment:
        """The client of a server that is up; starting one takes some seconds.

        Raises:
            ConfigError: it cannot be started.
            EnvironmentGone: it does not answer, or the seat was given up.
        """
        if self._environment is None or self.server.pid is None:
            self.reset()
            url = "" if self._closed else self.server.start()
            if self._closed:  # or was, in the meantime
                self.server.stop()
                raise EnvironmentGone("this worker was told to end", next_step="run the same command again")
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
