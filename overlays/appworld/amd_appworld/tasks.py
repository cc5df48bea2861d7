"""Which AppWorld tasks share an answer: the variants of one scenario, from the task's id alone."""

from __future__ import annotations

import re

__all__ = ["BENCHMARK", "family"]

BENCHMARK = "appworld"

_TASK = re.compile(r"(?P<scenario>[0-9a-f]{7})_[1-9][0-9]*(?::.*)?")


def family(task_id: str) -> str | None:
    """The scenario of a task, or ``None`` for an id that is none of AppWorld's: a family is never guessed.

    The variants of a scenario share their instruction's template, their solution and their evaluation; a tag behind a
    colon is no part of the task.

    >>> family("82e2fac_1"), family("82e2fac_3:again"), family("multi_turn_base_1")
    ('82e2fac', '82e2fac', None)
    """
    match = _TASK.fullmatch(task_id)
    return match["scenario"] if match else None
