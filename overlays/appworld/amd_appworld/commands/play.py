"""``play``: a root's own solutions behind an endpoint, for a first run of everything without a model."""

from __future__ import annotations

from amd.cli.playing import Port, play_until_interrupted
from amd_appworld.commands.options import RootFolder
from amd_appworld.exposures import ORACLE
from amd_appworld.oracle.player import Player
from amd_appworld.root import Root

__all__ = ["play"]


def play(
    *,
    root: RootFolder,
    port: Port = 8767,
) -> None:
    """Serve a scripted model that plays the tasks' own solutions, until Ctrl-C. No model is behind it.

    What is played is read from the root's ground truth, which test sets come without. It makes mistakes first: a call
    without an access token in each task, and an API that is not there in each scenario's second variant.

    Example: python -m amd_appworld play --root appworld-world
    """
    player = Player(Root(root))
    what = f"the solutions of {len(player.tasks)} tasks, one cell a reply"
    play_until_interrupted(player, (ORACLE,), port, what=what)
