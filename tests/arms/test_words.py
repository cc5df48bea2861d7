"""How an arm is called."""

from __future__ import annotations

from typing import get_args

import pytest

from amd import exclusion
from amd.arms.words import ArmProtocol, hides, label_of
from amd.trajectory import Task

TASK = Task("demo", "t1", "f1", "Move the file")


def test_protocols_are_those_of_a_viewer_with_a_task() -> None:
    """All of them but ``deployed``, which knows no task."""
    assert {*get_args(ArmProtocol)} == {*get_args(exclusion.Protocol)} - {"deployed"}


@pytest.mark.parametrize("protocol", get_args(ArmProtocol))
def test_what_hides_is_what_a_viewer_says(protocol: ArmProtocol) -> None:
    """The label and the leak check follow the viewer's own word."""
    split = exclusion.Split("demo", frozenset({"f2"}), frozenset({"f1"})) if protocol == "cross-split" else None
    assert hides(protocol) is exclusion.Viewer(protocol, TASK, split).excludes
    assert (label_of("amd", protocol) == protocol) is hides(protocol)
    assert label_of("none", protocol) == "no memory"
