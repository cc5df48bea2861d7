"""How an experiment runs a student in AppWorld: the command of one run, in this library's own environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from amd.cli.exits import check_words
from amd.errors import ConfigError
from amd_appworld.student import check_mode

__all__ = ["commands"]


def commands(run: Path, words: Sequence[str]) -> Sequence[Sequence[str]]:
    """One command, which goes on where it was interrupted; tasks are evaluated as they end.

    Raises:
        ConfigError: AppWorld keeps experiments at ROOT/experiments/outputs, and the run is to be elsewhere; or an
            option is missing, none of the command's, or has another kind of value.

    >>> model = ["--model", "m", "--base-url", "http://127.0.0.1:1/v1"]
    >>> commands(Path("world/experiments/outputs/amd-0"), model)[0][:6]
    ['amd_appworld', 'run', '--root', 'world', '--experiment', 'amd-0']
    """
    # Imported here: whoever only asks which benchmarks there are needs no command line.
    from amd_appworld.commands.app import app  # noqa: PLC0415

    if run.parent.parts[-2:] != ("experiments", "outputs"):
        raise ConfigError(
            f"AppWorld keeps what it runs in ROOT/experiments/outputs, and this run is to be in {run.parent}",
            next_step='write out = "ROOT/experiments/outputs", with the root of AppWorld\'s data',
        )
    call = ["run", "--root", str(run.parents[2]), "--experiment", run.name, *words]
    given, _ = check_words(app, call)
    check_mode(given["mode"] or "static")
    return [["amd_appworld", *call]]
