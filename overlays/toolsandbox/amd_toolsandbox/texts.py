"""What a scenario of the harness says at its start."""

from __future__ import annotations

import json
from typing import Any

from amd_toolsandbox.context import read_context
from amd_toolsandbox.grouping import ScenarioTexts

__all__ = ["texts_of"]


def texts_of(scenario: Any) -> ScenarioTexts:  # noqa: ANN401 - the harness's own
    """The first message that the agent sees, and the user's brief."""
    start = scenario.starting_context.to_dict(serialize_console=False)
    context = read_context(json.dumps(start).encode())
    return ScenarioTexts(context.first_message, context.brief)
