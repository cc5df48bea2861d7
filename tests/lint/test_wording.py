"""Validation cues."""

from __future__ import annotations

import pytest

from amd.lint.wording import without_cue


@pytest.mark.parametrize(
    "text",
    [
        "Open the valve; check that the result has `status`.",
        "Open the valve and Verify it.",
        "Make sure that it is open.",
        "Double-check the bed.",
        "The answer should show the new balance.",
        "Ensuring that it is open ends the task.",
        "\u041e\u0442\u043a\u0440\u043e\u0439 \u0432\u0435\u043d\u0442\u0438\u043b\u044c.",
    ],
)
def test_a_cue_is_seen(garden, text):
    """Verbs of checking in any form; a text in another script is not judged."""
    assert without_cue(garden.workflow(text)) is None


@pytest.mark.parametrize("text", ["Call `openValve` twice.", "Call `check_valve`.", "Open the unchecked valve."])
def test_a_text_without_a_cue_is_found(garden, text):
    """A tool's name is no cue, and neither is a word that only holds one."""
    assert without_cue(garden.workflow(text)) == "its text never says what to check"


def test_only_workflows_with_calls_are_judged(garden):
    """A run without a call has nothing to check, and the other tiers need no cue."""
    text = "Solved without a call."
    assert without_cue(garden.workflow(text)) is not None
    assert without_cue(garden.workflow(text, steps=(0, 0))) is None
    assert without_cue(garden.subtask("open", text)) is None
