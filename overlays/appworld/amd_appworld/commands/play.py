"""``play``: a root's own solutions behind an endpoint, for a first run of everything without a model."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from amd.errors import ConfigError
from amd.testing import LoopbackServer
from amd_appworld.commands.options import RootFolder
from amd_appworld.exposures import ORACLE
from amd_appworld.oracle.player import Player
from amd_appworld.root import Root

__all__ = ["play", "serve"]


def play(
    *,
    root: RootFolder,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen on 127.0.0.1; 0 is a free port.")] = 8767,
) -> None:
    """Serve a scripted model that plays the tasks' own solutions, until Ctrl-C. No model is behind it.

    What is played is read from the root's ground truth, which test sets come without. It makes mistakes first: a call
    without an access token in each task, and an API that is not there in each scenario's second variant.

    Example: python -m amd_appworld play --root appworld-world
    """
    player = Player(Root(root))
    with serve(player, port) as server:
        try:
            typer.echo(
                f"{server.url} serves the model {ORACLE!r}: the solutions of {len(player.tasks)} tasks, one cell a "
                "reply. No model is behind it. Stop it with Ctrl-C."
            )
            threading.Event().wait()
        except KeyboardInterrupt:
            typer.echo("stopped")


def serve(player: Player, port: int = 0) -> LoopbackServer:
    """A server of the script, which keeps no request; ``ConfigError`` if the port is taken."""

    def answer(request: Mapping[str, Any]) -> str:
        server.requests.clear()  # a test reads them, and here nobody does
        return player(request)

    try:
        server = LoopbackServer(chat=answer, models=(ORACLE,), port=port)
    except OSError as error:
        raise ConfigError(
            f"port {port} of 127.0.0.1 cannot be listened on: {error.strerror}",
            next_step="choose another one with --port, or 0 for a free one",
            port=port,
        ) from error
    return server
