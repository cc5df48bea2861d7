"""The shapes of what is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

__all__ = ["CHECKS", "Check", "Finding", "Group", "Report"]

Check = Literal["body", "cue", "duplicate", "instruction", "key", "long", "tool", "value"]
"""What is looked for; ``amd lint --help`` says each in a line."""

CHECKS: Final[tuple[Check, ...]] = get_args(Check)


@dataclass(frozen=True, slots=True)
class Group:
    """Records that say nearly the same: one that stands for them, and those that are near it.

    ``runs`` is how many runs agree, two records of one run being one voice. ``visible`` has, for each family of the
    group, how many of these runs a task of that family may see: those of the other families.
    """

    records: tuple[str, ...]
    runs: int
    visible: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Finding:
    """One record and one reason to look at it.

    ``line`` is where it stands in its tier's ``records.json``. ``quotes`` are the words concerned, as they stand in the
    record. A finding of ``duplicate`` has its ``group``; its record is the first of it.
    """

    check: Check
    tier: str
    line: int
    record: str
    family: str
    task_id: str
    what: str
    quotes: tuple[str, ...] = ()
    group: Group | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in a memory. ``records`` counts those that were looked at by tier: the active ones."""

    records: Mapping[str, int]
    findings: Sequence[Finding]

    @property
    def found(self) -> dict[str, int]:
        """How many findings each check has."""
        return dict(Counter(finding.check for finding in self.findings))
