"""Which ToolSandbox scenarios share an answer, from their names alone.

1032 scenarios are 129 bases in eight dresses each: the variants add tools or scramble how tools are described, and keep
the texts, the state and what is expected. Bases whose names differ only in a circumstance (``_wifi_off``) or whose
texts are the same are one family: 40 in all. The table of bases is generated from the harness's own scenarios by
``python -m amd_toolsandbox families`` and compared with them by a test.
"""

from __future__ import annotations

import re

from amd_toolsandbox.family_table import FAMILIES

__all__ = ["BENCHMARK", "base_of", "family"]

BENCHMARK = "toolsandbox"

_VARIANT = re.compile(
    r"(?:_3_distraction_tools(?:_(?:tool_name|tool_description|arg_type|arg_description)_scrambled)?"
    r"|_10_distraction_tools|_all_tools)\Z"
)


def base_of(name: str) -> str:
    """The base that a scenario is a variant of; a base is its own, and so is any other name.

    >>> base_of("wifi_off_3_distraction_tools_arg_type_scrambled"), base_of("wifi_off")
    ('wifi_off', 'wifi_off')
    """
    return _VARIANT.sub("", name)


def family(task_id: str) -> str | None:
    """The family of a scenario, or ``None`` for a name that is none of the 1032: a family is never guessed.

    >>> family("remove_contact_by_phone_no_remove_contact_insufficient_information_all_tools")
    'remove_contact_by_phone'
    >>> family("wifi_off_all_tools_all_tools") is None
    True
    """
    return FAMILIES.get(base_of(task_id))
