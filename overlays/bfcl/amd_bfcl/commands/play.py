"""``play``: the scripted student behind an endpoint, for a first run of everything without a model."""

from __future__ import annotations

from typing import Annotated

import typer

from amd.cli.playing import Port, play_until_interrupted
from amd_bfcl.commands.options import AnyVersion
from amd_bfcl.families import Category
from amd_bfcl.package import find_package
from amd_bfcl.player import Player, every_slip
from amd_bfcl.record import TEACHER, record

__all__ = ["play"]


def play(
    *,
    category: Annotated[Category, typer.Option("--category", "-c", help="The one category to play.")] = Category.BASE,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first tasks.")] = None,
    port: Port = 8765,
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
    what = f"the answer key of {len(runs)} {category} tasks{', with slips' if slips else ''}"
    play_until_interrupted(player, (TEACHER,), port, what=what)
