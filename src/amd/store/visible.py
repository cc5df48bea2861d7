"""Which rows of a shelf a viewer may be shown: decided before anything is ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from amd.chat import Rows
from amd.errors import LeakageError
from amd.exclusion import Split, Viewer
from amd.store.columns import Columns

__all__ = ["View", "view_of"]

_FEW = 3
"""A gather of 1 row in 3 costs about as much as the product over all rows."""


@dataclass(frozen=True, slots=True)
class View:
    """The rows that may be ranked, the others, and why records were hidden (reason -> count)."""

    seen: npt.NDArray[np.intp]
    unseen: npt.NDArray[np.intp]
    excluded: Mapping[str, int]

    def cosines(self, rows: Rows, asked: Rows) -> npt.NDArray[np.float32]:
        """The cosine of every row of the shelf with ``asked``, -inf where the row is not seen."""
        if len(self.seen) * _FEW < len(rows):
            few = np.full(len(rows), -np.inf, np.float32)
            few[self.seen] = rows[self.seen].dot(asked)
            return few
        scores: npt.NDArray[np.float32] = rows.dot(asked)
        if len(self.unseen):
            scores[self.unseen] = -np.inf
        return scores


def view_of(columns: Columns, viewer: Viewer, tool: str | None) -> View:
    """What ``viewer`` sees of a shelf: active records, of ``tool`` if one is named, that nothing hides.

    Raises:
        LeakageError: the viewer looks across a split and the shelf holds a family that is no train family.
    """
    if viewer.split is not None:
        _check_families([family for family, _ in columns.origins], viewer.split)
    wanted = columns.active.copy()
    if tool is not None:
        wanted &= columns.tool == (columns.tools.index(tool) if tool in columns.tools else -1)
    reasons = [viewer.why_hidden(family, instruction) for family, instruction in columns.origins]
    hidden = np.array([reason is not None for reason in reasons], np.bool_)[columns.origin]
    counts: dict[str, int] = {}
    for origin, count in enumerate(np.bincount(columns.origin[wanted & hidden], minlength=len(reasons))):
        reason = reasons[origin]
        if count and reason is not None:
            counts[reason] = counts.get(reason, 0) + int(count)
    seen = wanted & ~hidden
    return View(np.flatnonzero(seen), np.flatnonzero(~seen), MappingProxyType(counts))


def _check_families(families: Sequence[str], split: Split) -> None:
    alien = sorted(set(families) - split.train)
    if not alien:
        return
    what = "a test family" if alien[0] in split.test else "no family"
    raise LeakageError(
        f"the memory holds family {alien[0]!r}, which is {what} of the split ({len(alien)} such families)",
        next_step="build the memory from train families alone: amd build --split FILE",
        families=alien,
    )
