"""How an experiment runs a student in AppWorld: the command of one run, in this library's own environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from amd.errors import ConfigError

__all__ = ["commands"]


def commands(run: Path, words: Sequence[str]) -> Sequence[Sequence[str]]:
    """One command, which goes on where it was interrupted; tasks are evaluated as they end.

    Raises:
        ConfigError: AppWorld keeps experiments at ROOT/experiments/outputs, and the run is to be elsewhere.

    >>> commands(Path("world/experiments/outputs/amd-0"), ["--limit", "4"])[0][:6]
    ['amd_appworld', 'run', '--root', 'world', '--experiment', 'amd-0']
    """
    if run.parent.parts[-2:] != ("experiments", "outputs"):
        raise ConfigError(
            f"AppWorld keeps what it runs in ROOT/experiments/outputs, and this run is to be in {run.parent}",
            next_step='write out = "ROOT/experiments/outputs", with the root of AppWorld\'s data',
        )
    root = run.parents[2]
    return [["amd_appworld", "run", "--root", str(root), "--experiment", run.name, *words]]
