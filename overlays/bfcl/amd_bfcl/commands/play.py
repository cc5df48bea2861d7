"""``play``: the scripted student behind an endpoint, for a first run of everything without a model."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from amd.errors import ConfigError
from amd.testing import LoopbackServer
from amd_bfcl.commands.options import AnyVersion
from amd_bfcl.families import Category
from amd_bfcl.package import find_package
from amd_bfcl.player import Player, every_slip
from amd_bfcl.record import TEACHER, record

__all__ = ["play", "serve"]


def play(
    *,
    category: Annotated[Category, typer.Option("--category", "-c", help="The one category to play.")] = Category.BASE,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first tasks.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen on 127.0.0.1; 0 is a free port.")] = 8765,
    slips: Annotated[
        bool,
        typer.Option(
            "--slips",
            help="Make a mistake in each task, of five kinds by turns: a call that answers an error, one that raises, "
            "two at once of which one fails, arguments that cannot be read, a turn that never ends.",
        ),
    ] = False,
    any_version: AnyVersion = False,
) -> None:
    """Serve a student that plays the benchmark's answer key, until Ctrl-C. No model is behind it: it tests the way.

    Example: python -m amd_bfcl play --limit 20 --slips
    """
    runs = list(record(category, find_package(any_version=any_version), limit=limit))
    player = Player(runs, every_slip(runs) if slips else {})
    with serve(player, port) as server:
        try:
            typer.echo(
                f"{server.url} serves model {TEACHER!r}: the answer key of {len(runs)} {category} tasks"
                f"{', with slips' if slips else ''}. No model is behind it. Stop it with Ctrl-C."
            )
            threading.Event().wait()
        except KeyboardInterrupt:
            typer.echo("stopped")


def serve(player: Player, port: int = 0) -> LoopbackServer:
    """A server of the scripted student, which keeps no request; ``ConfigError`` if the port is taken."""

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        server.requests.clear()  # a test reads them, and here nobody does
        return player(request)

    try:
        server = LoopbackServer(chat=answer, models=(TEACHER,), port=port)
    except OSError as error:
        raise ConfigError(
            f"port {port} of 127.0.0.1 cannot be listened on: {error.strerror}",
            next_step="choose another one with --port, or 0 for a free one",
            port=port,
        ) from error
    return server
