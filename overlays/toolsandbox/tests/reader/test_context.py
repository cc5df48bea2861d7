"""The door: what a context says of its scenario, and what is none."""

from __future__ import annotations

import json

import pytest
from run_folders import ASKED, BRIEF, call, context, guard, result, row, says

from amd.errors import TrajectoryError
from amd_toolsandbox.context import Row, read_context


def read(value):
    """The context of a value."""
    return read_context(json.dumps(value).encode())


def test_first_message_and_brief():
    """Neither is an example that the simulated user was shown."""
    found = read(context())
    assert (found.first_message, found.brief) == (ASKED, BRIEF)


def test_how_far_it_was_played():
    """What a scenario starts with does not count, nor what holds nothing."""
    whole, broken = read(context()), read(context(call(), result(), ended=False))
    assert (whole.active, whole.played) == (False, 5)
    assert (broken.active, broken.played) == (True, 2)


def test_scrambled_names_are_told_by_the_augmentation():
    """By this one alone: descriptions may be scrambled too."""
    assert read(context(scrambled=True)).scrambled_names
    assert not read({**context(), "tool_augmentation_list": ["TOOL_DESCRIPTION_SCRAMBLED"]}).scrambled_names
    assert not read({**context(), "tool_augmentation_list": None}).scrambled_names


@pytest.mark.parametrize(
    ("visible", "seen"),
    [(None, {"USER", "AGENT"}), (["USER"], {"USER"}), ([], set()), (["AGENT", "SYSTEM"], {"AGENT", "SYSTEM"})],
)
def test_who_sees_a_row(visible, seen):
    """Both ends where nothing is said, else those that are named."""
    found = Row.model_validate_json(json.dumps(row("USER", "AGENT", "x", visible_to=visible)))
    assert {role for role in ("USER", "AGENT", "SYSTEM", "EXECUTION_ENVIRONMENT") if found.seen_by(role)} == seen


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "Invalid JSON"),
        (b"[]", "no execution context: Input should be an object"),
        (b"{}", "_dbs: Field required"),
        (b'{"_dbs": {"SANDBOX": [{"sender": "USER"', "Invalid JSON"),
        (b"\xff\xfe", "no execution context"),
        (b'{"_dbs": {}}', "_dbs.SANDBOX: Field required"),
        (json.dumps({"_dbs": {"SANDBOX": [guard() | {"content": 5}]}}).encode(), "_dbs.SANDBOX.0.content"),
        (json.dumps({"_dbs": {"SANDBOX": [says() | {"sender": "SOMEBODY"}]}}).encode(), "_dbs.SANDBOX.0.sender"),
        (b'{"_dbs": ' + b"[" * 100_000, "no execution context"),
    ],
)
def test_what_is_no_context(content, fault):
    """D22 (c): one line that says which part, and none of its values."""
    with pytest.raises(TrajectoryError, match="no execution context") as caught:
        read_context(content)
    assert fault in str(caught.value)
    assert "SOMEBODY" not in str(caught.value)
    assert "\n" not in str(caught.value)
