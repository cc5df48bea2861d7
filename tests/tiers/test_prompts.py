"""What all prompts of all tiers keep to."""

from __future__ import annotations

import re

import pytest

from amd.methods import method_named
from amd.tiers.subtask import LABELS

WHOLE = "workflow+subtask+function+reasoning_bank+memp-keywords+sasm"
PROMPTS = [prompt for tier in method_named(WHOLE, reasoning=True).tiers for prompt in tier.prompts] + [LABELS]


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.purpose)
def test_a_prompt_is_short_and_has_nothing_to_copy(prompt) -> None:  # type: ignore[no-untyped-def]
    """A small model copies example values; quotes, brackets and examples are where they stand."""
    assert len(prompt.words.split()) <= 140
    assert not re.search(r"[\"{}\[\]<>]|e\.g\.|example|for instance", prompt.words, re.IGNORECASE)
    assert prompt.room >= 256


def test_purposes_are_unique() -> None:
    """Replies and costs are kept by them."""
    purposes = [prompt.purpose for prompt in PROMPTS]
    assert len(set(purposes)) == len(purposes) == 11
