"""What an arm may be told to see, and how that is called wherever its figures are printed."""

from __future__ import annotations

from typing import Final, Literal

__all__ = ["MOST", "RUN_SETTINGS", "ArmProtocol", "hides", "label_of"]

RUN_SETTINGS = "amd-run.json"
"""The file that makes a directory one of our runs."""

MOST: Final = 10**9
"""The most that one run of a task can come to, in steps, seconds or tokens: what says more is broken, or hostile."""

ArmProtocol = Literal["self-excluded", "cross-split", "in-sample"]
"""The viewers of a known task. ``deployed`` is none: an arm always knows its task."""


def hides(protocol: ArmProtocol) -> bool:
    """Whether a task's own family is hidden from it.

    >>> hides("self-excluded"), hides("in-sample")
    (True, False)
    """
    return protocol != "in-sample"


def label_of(method: str, protocol: ArmProtocol) -> str:
    """What a report calls the arm: its protocol, capitals where nothing is hidden, ``no memory`` where none is read.

    >>> label_of("amd", "self-excluded"), label_of("amd", "in-sample"), label_of("none", "in-sample")
    ('self-excluded', 'IN-SAMPLE', 'no memory')
    """
    if method == "none":
        return "no memory"
    return protocol if hides(protocol) else "IN-SAMPLE"
