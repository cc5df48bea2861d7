"""The installed ``bfcl-eval``: where it is, which version it is, and the lines of its files.

Nothing of it is imported here: its files are found and read. (Its ``constants.eval_config`` makes folders in
``site-packages`` when it is imported.)
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from amd.errors import ConfigError, TrajectoryError

__all__ = ["INSTALL", "TESTED_VERSION", "Package", "find_package"]

TESTED_VERSION = "2026.3.23"
"""The version whose tasks, answers and twins this overlay was checked against."""

INSTALL = f"pip install --no-deps bfcl-eval=={TESTED_VERSION} mpmath==1.3.0"
"""Enough for the tasks and the backends. Without ``--no-deps``, pip would fetch torch and eight vendors' clients."""


@dataclass(frozen=True, slots=True)
class Package:
    """An installed ``bfcl-eval``: its version and its folder."""

    version: str
    root: Path

    def lines(self, name: str) -> list[str]:
        """The lines of a JSONL file, without their newlines; ``name`` is relative to the package's ``data`` folder."""
        path = self.root / "data" / name
        if not path.is_file():
            raise TrajectoryError(
                f"bfcl-eval {self.version} has no {self.where(name)}", next_step=f"install: {INSTALL}", name=name
            )
        return path.read_text(encoding="utf-8").rstrip("\n").split("\n")

    def sha256(self, names: Iterable[str]) -> str:
        """The hash of several files, in this order; names as for :meth:`lines`."""
        total = hashlib.sha256()
        for name in names:
            total.update("\n".join(self.lines(name)).encode())
        return total.hexdigest()

    @staticmethod
    def where(name: str) -> str:
        """A file's name as provenance and messages give it: the same on every machine.

        >>> Package.where("BFCL_v4_multi_turn_base.json")
        'bfcl_eval/data/BFCL_v4_multi_turn_base.json'
        """
        return f"bfcl_eval/data/{name}"


def find_package(*, any_version: bool = False) -> Package:
    """The ``bfcl-eval`` of this environment.

    ``ConfigError`` if there is none, or if it is another version than the one whose families were checked
    (``any_version`` lets it pass: then equal tasks under two families are possible).
    """
    spec = importlib.util.find_spec("bfcl_eval")
    if spec is None or spec.origin is None:
        raise ConfigError("bfcl-eval is not installed here", next_step=f"install: {INSTALL}")
    try:
        version = importlib.metadata.version("bfcl-eval")
    except importlib.metadata.PackageNotFoundError:
        version = "unknown"
    if version != TESTED_VERSION and not any_version:
        raise ConfigError(
            f"bfcl-eval {version} is installed, families and answers were checked against {TESTED_VERSION}",
            next_step=f"install: {INSTALL} (or allow it: --any-version)",
            installed=version,
            tested=TESTED_VERSION,
        )
    return Package(version, Path(spec.origin).parent)
