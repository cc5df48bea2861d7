"""AppWorld's tasks: which share an answer, from a task's id alone, and what may be learned from which dataset."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["BENCHMARK", "INVENTED", "INVENTED_TERMS", "TERMS", "family", "is_test"]

BENCHMARK = "appworld"

INVENTED: Final = "invented-world.json"
"""The file in a world's data that says that its people and tasks were invented by this project."""

TERMS: Final = (
    "Made from AppWorld's tasks: AppWorld asks that nothing derived from its data is redistributed in plain text, "
    "so do not publish this memory unencrypted."
)
"""What a memory of AppWorld's own tasks says of itself."""

INVENTED_TERMS: Final = (
    "Made from invented tasks, which are free, with AppWorld's APIs: what it holds of their documents is protected by "
    "AppWorld, which asks that it is not redistributed in plain text."
)
"""What a memory of an invented world says of itself."""

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


def is_test(split: str | None) -> bool:
    """Whether a dataset is for scoring alone, by its name: what AppWorld calls ``test_`` may not be learned from.

    >>> is_test("test_challenge"), is_test("dev"), is_test(None)
    (True, False, False)
    """
    return split is not None and split.startswith("test")
