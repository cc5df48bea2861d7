"""What both sides do with a tool's answer: the reader of runs, and the student that asks for hints.

Whether a call failed is told by the harness, which records an exception or none; nothing is judged by the text.
"""

from __future__ import annotations

import re

__all__ = ["is_environment_fault", "without_addresses"]

_ADDRESS = re.compile(r"\b0x[0-9A-Fa-f]+")

# Five tools ask a service on the network: without a key they fail before they ask, without a network in its client.
_ENVIRONMENT_FAULT = re.compile(r"PermissionError: Please provide 'RAPID_API_KEY'|requests\.exceptions\.")


def without_addresses(text: str) -> str:
    """The text with each memory address replaced, so that one error has one text.

    >>> without_addresses("NoDataError: No db entry matching predicate=<Expr at 0x7F1A5DEB2C90> found")
    'NoDataError: No db entry matching predicate=<Expr at 0x…> found'
    """
    return _ADDRESS.sub("0x…", text)


def is_environment_fault(exception: str | None) -> bool:
    """Whether an exception tells of the machine that the harness ran on and not of how the tool was called.

    >>> is_environment_fault("PermissionError: Please provide 'RAPID_API_KEY'.")
    True
    >>> is_environment_fault("ConnectionError: Wifi is not enabled"), is_environment_fault(None)
    (False, False)
    """
    return exception is not None and _ENVIRONMENT_FAULT.match(exception) is not None
