"""``play``: the harness's answer key behind an endpoint, for a first run of everything without a model."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from amd.errors import ConfigError
from amd.testing import LoopbackServer
from amd_toolsandbox.oracle.answer_key import read_sheets, scrambled_names
from amd_toolsandbox.oracle.player import AGENT, USER, Player

__all__ = ["play", "serve"]


def play(
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen on 127.0.0.1; 0 is a free port.")] = 8766,
) -> None:
    """Serve a scripted agent that plays the answer key, and a scripted user, until Ctrl-C. No model is behind them.

    What is played is read from the installed harness. Scenarios that need a network are left out. The agent's mistakes
    are those that a setting of the phone makes: it tries first, and mends what was in its way.

    Example: python -m amd_toolsandbox play
    """
    player = Player(read_sheets(), scrambled_names())
    with serve(player, port) as server:
        try:
            typer.echo(
                f"{server.url} serves the models {AGENT!r} and {USER!r}: the answer key of {len(player.sheets)} bases, "
                "each with its 8 variants. No model is behind them. Stop it with Ctrl-C."
            )
            threading.Event().wait()
        except KeyboardInterrupt:
            typer.echo("stopped")


def serve(player: Player, port: int = 0) -> LoopbackServer:
    """A server of the scripts, which keeps no request; ``ConfigError`` if the port is taken."""

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        server.requests.clear()  # a test reads them, and here nobody does
        return player(request)

    try:
        server = LoopbackServer(chat=answer, models=(AGENT, USER), port=port)
    except OSError as error:
        raise ConfigError(
            f"port {port} of 127.0.0.1 cannot be listened on: {error.strerror}",
            next_step="choose another one with --port, or 0 for a free one",
            port=port,
        ) from error
    return server
