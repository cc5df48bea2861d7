"""How a run stands: which tasks it is about, which of them have a line, and which lines are a service's failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amd_bfcl.families import INDEXES
from amd_bfcl.lines import is_error_line
from amd_bfcl.run import Run, Settings

__all__ = ["Standing", "standing", "wanted_ids"]


@dataclass(frozen=True, slots=True)
class Standing:
    """The ids that are wanted, in the benchmark's order, and the result lines that are there, by id."""

    wanted: tuple[str, ...]
    lines: Mapping[str, Mapping[str, Any]]

    @property
    def missing(self) -> tuple[str, ...]:
        """The wanted ids without a line."""
        return tuple(task_id for task_id in self.wanted if task_id not in self.lines)

    @property
    def errors(self) -> Mapping[str, str]:
        """Id -> what the harness wrote of the failure, for each line that is an inference error."""
        return {task_id: str(line["result"]) for task_id, line in self.lines.items() if is_error_line(line)}

    @property
    def answered(self) -> Mapping[str, Mapping[str, Any]]:
        """The lines of the tasks that came to their end."""
        return {task_id: line for task_id, line in self.lines.items() if not is_error_line(line)}

    @property
    def first_error(self) -> str:
        """The first inference error, short enough for a line."""
        task_id, said = next(iter(self.errors.items()))
        return f"the first is {task_id}: {said.removeprefix('Error during inference: '):.200}"


def standing(run: Run) -> Standing:
    """How a run stands, from its files alone; the last of several lines of a task counts."""
    return Standing(wanted_ids(run.settings), {line["id"]: line for line in run.lines()})


def wanted_ids(settings: Settings) -> tuple[str, ...]:
    """The ids that a run is about."""
    return settings.ids or tuple(f"{name}_{index}" for name in settings.categories for index in range(INDEXES))
