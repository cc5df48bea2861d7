"""How an experiment runs a student on ToolSandbox: the command of one run, in the harness's environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["commands"]


def commands(run: Path, words: Sequence[str]) -> Sequence[Sequence[str]]:
    """One command, which goes on where it was interrupted; the harness scores as it plays.

    >>> commands(Path("runs/amd-0"), ["--limit", "4"])
    [['amd_toolsandbox', 'run', '--out', 'runs/amd-0', '--limit', '4']]
    """
    return [["amd_toolsandbox", "run", "--out", str(run), *words]]
