"""Which BFCL multi-turn tasks share an answer, from their ids alone.

Equal indexes of the four categories are one task in four dresses: the variants keep the calls and change what the
user or the tools hold back. Three pairs of indexes are twins as well. ``tests/test_families.py`` finds the pairs again
in the installed benchmark and fails if this table is not complete.
"""

from __future__ import annotations

import re
from enum import StrEnum

__all__ = ["BENCHMARK", "INDEXES", "TWINS", "Category", "category", "family"]

BENCHMARK = "bfcl"
INDEXES = 200
"""Every category has the indexes 0 to 199."""

TWINS = {43: 40, 124: 120, 136: 107}
"""Index -> the smaller index with the same first message (40) or the same calls in the same order (107, 120)."""


class Category(StrEnum):
    """The four multi-turn categories."""

    BASE = "multi_turn_base"
    MISS_FUNC = "multi_turn_miss_func"
    MISS_PARAM = "multi_turn_miss_param"
    LONG_CONTEXT = "multi_turn_long_context"


_ID = re.compile(rf"({'|'.join(Category)})_(0|[1-9][0-9]*)")


def category(task_id: str) -> Category | None:
    """The category of a task id, or ``None`` if it is no multi-turn task.

    >>> category("multi_turn_miss_func_12").value
    'multi_turn_miss_func'
    """
    match = _ID.fullmatch(task_id)
    return Category(match[1]) if match and int(match[2]) < INDEXES else None


def family(task_id: str) -> str | None:
    """The family of a task id, or ``None`` for an id that is none of the 800: a family is never guessed.

    >>> family("multi_turn_base_12"), family("multi_turn_long_context_12"), family("multi_turn_miss_param_43")
    ('multi_turn_12', 'multi_turn_12', 'multi_turn_40')
    >>> family("multi_turn_base_200"), family("simple_python_12")
    (None, None)
    """
    if category(task_id) is None:
        return None
    index = int(task_id.rpartition("_")[2])
    return f"multi_turn_{TWINS.get(index, index)}"
