"""``play``: the harness's answer key behind an endpoint, for a first run of everything without a model."""

from __future__ import annotations

from amd.cli.playing import Port, play_until_interrupted
from amd_toolsandbox.oracle.answer_key import read_sheets, scrambled_names
from amd_toolsandbox.oracle.player import AGENT, USER, Player

__all__ = ["play"]


def play(
    *,
    port: Port = 8766,
) -> None:
    """Serve a scripted agent that plays the answer key, and a scripted user, until Ctrl-C. No model is behind them.

    What is played is read from the installed harness. Scenarios that need a network are left out. The agent's mistakes
    are those that a setting of the phone makes: it tries first, and mends what was in its way.

    Example: python -m amd_toolsandbox play
    """
    player = Player(read_sheets(), scrambled_names())
    what = f"the answer key of {len(player.sheets)} bases, each with its 8 variants"
    play_until_interrupted(player, (AGENT, USER), port, what=what)
