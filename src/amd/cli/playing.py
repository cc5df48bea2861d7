"""A script behind an endpoint: what the overlays' ``play`` serves in a model's place, until Ctrl-C."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Protocol, TypeAlias

import typer

from amd.errors import ConfigError
from amd.testing import LoopbackServer

__all__ = ["Port", "Script", "play_until_interrupted", "serve_script"]

Port: TypeAlias = Annotated[int, typer.Option(min=0, max=65535, help="Where to listen on 127.0.0.1; 0 is a free port.")]


class Script(Protocol):
    """Answers a chat request with a message, or with its text."""

    def __call__(self, request: Mapping[str, Any], /) -> Any:  # noqa: ANN401 - whatever the server takes
        """The answer."""
        ...


def serve_script(script: Script, models: Sequence[str], port: int = 0) -> LoopbackServer:
    """A server of a script under the names of these models, which keeps no request.

    Raises:
        ConfigError: the port is taken.

    >>> with serve_script(lambda request: "watered", ["gardener"]) as server:
    ...     server.url.startswith("http://127.0.0.1:")
    True
    """

    def answer(request: Mapping[str, Any]) -> Any:  # noqa: ANN401 - as above
        server.requests.clear()  # a test reads them, and here nobody does
        return script(request)

    try:
        server = LoopbackServer(chat=answer, models=tuple(models), port=port)
    except OSError as error:
        raise ConfigError(
            f"port {port} of 127.0.0.1 cannot be listened on: {error.strerror}",
            next_step="choose another one with --port, or 0 for a free one",
            port=port,
        ) from error
    return server


def play_until_interrupted(script: Script, models: Sequence[str], port: int, *, what: str) -> None:
    """Serve a script until Ctrl-C.

    Args:
        script: what answers.
        models: the names under which it is served.
        port: where; 0 for a free one.
        what: what is played, in words.

    Raises:
        ConfigError: the port is taken.
    """
    names = f"the model {models[0]!r}" if len(models) == 1 else f"the models {' and '.join(map(repr, models))}"
    with serve_script(script, models, port) as server:
        try:
            typer.echo(f"{server.url} serves {names}: {what}. No model is behind it. Stop it with Ctrl-C.")
            threading.Event().wait()
        except KeyboardInterrupt:
            typer.echo("stopped")
