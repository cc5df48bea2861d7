"""How an experiment runs a student on BFCL: the commands of one run, in the harness's environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from amd.arms import read_toml
from amd.cli.exits import check_words
from amd.errors import ConfigError
from amd_bfcl.commands.options import categories_of
from amd_bfcl.plan import check_known

__all__ = ["commands"]


def commands(run: Path, words: Sequence[str]) -> Sequence[Sequence[str]]:
    """Generate, then evaluate: both go on where they were interrupted.

    Raises:
        ConfigError: an option is none of the command's, or has another kind of value; or a file of ``config`` has an
            arm of its own, which would be another one than the experiment's.

    >>> commands(Path("runs/amd-0"), ["--limit", "4"])[1]
    ['amd_bfcl', 'evaluate', 'runs/amd-0']
    """
    # Imported here: whoever only asks which benchmarks there are needs no command line.
    from amd_bfcl.commands.app import app  # noqa: PLC0415

    call = ["generate", "--out", str(run), *words]
    given, rest = check_words(app, call)
    check_known(rest)
    categories_of(given["category"])
    for path in map(Path, given["config"] or ()):
        if "arm" in read_toml(path):
            raise ConfigError(
                f"{path} has a table [arm], and an experiment has its arms",
                next_step="name a file that says who the student is, as in configs/students",
            )
    return [["amd_bfcl", *call], ["amd_bfcl", "evaluate", str(run)]]
