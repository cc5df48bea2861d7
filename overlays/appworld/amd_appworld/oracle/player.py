"""The scripted model: it plays each task's own solution, one cell a reply, after a slip or two."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from amd.errors import AmdError, ConfigError
from amd_appworld.oracle.slips import with_slips
from amd_appworld.oracle.solution import cells_of
from amd_appworld.prompt import task_message
from amd_appworld.root import Root

__all__ = ["Player"]

_CALL = re.compile(r"\bapis\.(\w+)\.(\w+)\(")


class Player:
    """Answers chat requests; it knows a task by what its person says, and where it is by the replies so far.

    ``tasks`` are those that it can play: train and dev come with their solutions, test sets do not.

    Args:
        root: AppWorld's data.
        slips: whether it makes its mistakes.

    Raises:
        ConfigError: no task of the root has a solution.
    """

    def __init__(self, root: Root, *, slips: bool = True) -> None:
        self._cells: dict[str, tuple[str, ...]] = {}
        self.tasks: list[str] = []
        for task_id in (task for tasks in root.datasets.values() for task in tasks):
            path = root.path / "data" / "tasks" / task_id / "ground_truth" / "solution.py"
            if not path.is_file():
                continue
            cells = cells_of(path.read_text(encoding="utf-8"), str(path))
            # Each scenario's second variant looks for an API that is not there.
            played = with_slips(cells, unknown=task_id.endswith("_2")) if slips else cells
            self._cells[task_message(root.briefing(task_id))] = played
            self.tasks.append(task_id)
        if not self.tasks:
            raise ConfigError(
                f"no task in {root.path} has a solution to play",
                next_step="name a root with train or dev, or make a small world with scripts/setup_appworld.sh",
            )

    def __call__(self, request: Mapping[str, Any]) -> str:
        """The next reply; ``AmdError`` if the task is none of the root's."""
        messages = request["messages"]
        asked = next((at for at, each in enumerate(messages) if each["content"] in self._cells), None)
        if asked is None:
            raise AmdError("these messages hold no task that has a solution here", next_step="play train or dev")
        cells = self._cells[messages[asked]["content"]]
        step = sum(each["role"] == "assistant" for each in messages[asked:])
        if step >= len(cells):
            return "There is nothing left to do."
        code = cells[step]
        apis = list(dict.fromkeys(f"{app} {api.replace('_', ' ')}" for app, api in _CALL.findall(code)))
        words = f"Next I use {', '.join(apis)}." if apis else "Next I work with what I have."
        return f"{words}\n```python\n{code}\n```"
