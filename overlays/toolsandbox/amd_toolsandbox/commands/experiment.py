"""How an experiment runs a student on ToolSandbox: the command of one run, in the harness's environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from amd.cli.exits import check_words

__all__ = ["commands"]


def commands(run: Path, words: Sequence[str]) -> Sequence[Sequence[str]]:
    """One command, which goes on where it was interrupted; the harness scores as it plays.

    Raises:
        ConfigError: an option is missing, none of the command's, or has another kind of value.

    >>> models = ["--agent-model", "a", "--agent-base-url", "http://127.0.0.1:1/v1", "--user-model", "u"]
    >>> commands(Path("runs/amd-0"), models)[0][:5]
    ['amd_toolsandbox', 'run', '--out', 'runs/amd-0', '--agent-model']
    """
    # Imported here: whoever only asks which benchmarks there are needs no command line.
    from amd_toolsandbox.commands.app import app  # noqa: PLC0415

    call = ["run", "--out", str(run), *words]
    check_words(app, call)
    return [["amd_toolsandbox", *call]]
