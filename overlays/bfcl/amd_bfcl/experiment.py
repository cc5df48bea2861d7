"""How an experiment runs a student on BFCL: the commands of one run, in the harness's environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["commands"]


def commands(run: Path, words: Sequence[str]) -> Sequence[Sequence[str]]:
    """Generate, then evaluate: both go on where they were interrupted.

    >>> commands(Path("runs/amd-0"), ["--limit", "4"])[1]
    ['amd_bfcl', 'evaluate', 'runs/amd-0']
    """
    return [["amd_bfcl", "generate", "--out", str(run), *words], ["amd_bfcl", "evaluate", str(run)]]
