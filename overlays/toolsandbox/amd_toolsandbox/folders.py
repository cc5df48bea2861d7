"""Which folders the harness wrote, whose runs they hold, and in which run directory of ours they lie.

The harness names a folder ``agent_MODEL_user_MODEL_DATE``; a ``/`` in a model's name makes folders inside each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from amd.traces import folders_with

__all__ = ["CONTEXT", "TRAJECTORIES", "HarnessFolder", "find_folders"]

TRAJECTORIES: Final = "trajectories"
CONTEXT: Final = "execution_context.json"

_NAME = re.compile(r"agent_(?P<agent>.+?)_user_.+(?:_\d\d){2}_\d{4}(?:_\d\d){3}")


@dataclass(frozen=True, slots=True)
class HarnessFolder:
    """One of the harness's folders: its name, the agent's model as it says it, and the directory that it lies in."""

    path: Path
    name: str
    agent: str | None
    run: Path

    @classmethod
    def of(cls, path: Path) -> HarnessFolder:
        """The folder at a path.

        >>> folder = HarnessFolder.of(Path("/runs/amd/agent_org/model_user_gpt_05_13_2031_08_00_00"))
        >>> folder.name, folder.agent, folder.run.name
        ('agent_org/model_user_gpt_05_13_2031_08_00_00', 'org/model', 'amd')
        """
        parts = path.resolve().parts
        for start in reversed(range(1, len(parts))):
            name = "/".join(parts[start:])
            if match := _NAME.fullmatch(name):
                return cls(path, name, match["agent"], Path(*parts[:start]))
        return cls(path, parts[-1], None, path.resolve().parent)

    @property
    def began(self) -> datetime | None:
        """When the harness made it, by the clock of its machine; ``None`` if its name does not say.

        >>> HarnessFolder.of(Path("/runs/agent_model_user_gpt_05_13_2031_08_00_00")).began.strftime("%d %b %Y, %H:%M")
        '13 May 2031, 08:00'
        """
        try:
            return datetime.strptime(self.name[-len("mm_dd_yyyy_HH_MM_SS") :], "%m_%d_%Y_%H_%M_%S").astimezone()
        except ValueError:
            return None

    @property
    def scenarios(self) -> list[Path]:
        """The folders of its scenarios, sorted."""
        return sorted(child for child in (self.path / TRAJECTORIES).iterdir() if child.is_dir())


def find_folders(paths: Sequence[Path]) -> list[HarnessFolder]:
    """The harness's folders at or below the paths, each once.

    Raises:
        TrajectoryError: A path is not there, is a file, cannot be looked at, or holds none.
    """
    return [HarnessFolder.of(folder) for folder in folders_with(paths, TRAJECTORIES, what="run of the harness")]
