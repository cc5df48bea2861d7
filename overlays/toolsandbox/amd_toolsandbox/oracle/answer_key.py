"""The answer key of the installed harness: what its evaluator looks for in each scenario."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from amd_toolsandbox.families import base_of
from amd_toolsandbox.harness import resolve
from amd_toolsandbox.oracle.calls import is_playable
from amd_toolsandbox.oracle.goals import Changed, Goal, Said, Sheet, Traced
from amd_toolsandbox.texts import texts_of

__all__ = ["read_sheets", "scrambled_names"]

_NETWORK = "rapid_api_search_tools"
_HOW = {"addition_similarity": "added", "update_similarity": "updated", "removal_similarity": "removed"}


def read_sheets() -> tuple[Sheet, ...]:
    """The sheets of all bases that can be played without a network; it takes some seconds.

    Raises:
        ConfigError: the harness is not installed.
    """
    found = []
    for name, scenario in resolve(None).items():
        if base_of(name) != name:
            continue
        context = scenario.starting_context
        tools = frozenset(context.tool_allow_list or ())
        goals = tuple(_goals(scenario.evaluation.milestone_matcher.milestones))
        online = goals and any(context.name_to_tool[tool].__module__.endswith(_NETWORK) for tool in tools)
        if not online and all(map(is_playable, goals)):
            texts = texts_of(scenario)
            found.append(Sheet(name, texts.message, texts.brief, tools, goals))
    return tuple(found)


def scrambled_names() -> Mapping[str, str]:
    """A tool's real name -> its name in the scenarios that scramble names."""
    scenarios = resolve(["*_tool_name_scrambled"])
    context = next(iter(scenarios.values())).starting_context
    return {tool: context.get_agent_facing_tool_name(tool) for tool in context.name_to_tool}


def _goals(milestones: Any) -> Iterator[Goal]:  # noqa: ANN401 - the harness's own
    """One goal for each milestone: its first constraint that is not about what must stay as it is."""
    for milestone in milestones:
        found = (_goal(constraint) for constraint in milestone.snapshot_constraints)
        goal = next((each for each in found if each is not None), None)
        if goal is not None:
            yield goal


def _goal(constraint: Any) -> Goal | None:  # noqa: ANN401 - the harness's own
    if constraint.target_dataframe is None:
        return None
    table = constraint.database_namespace.name
    rows = constraint.target_dataframe.to_dicts()
    # A constraint that compares with another milestone is a partial function, and has no name.
    measure = getattr(constraint.snapshot_constraint, "__name__", "")
    if table != "SANDBOX":
        return Changed(table, _HOW.get(measure, "set"), tuple(rows))  # type: ignore[arg-type]  # the harness's words
    if rows[0].get("tool_trace"):
        trace = json.loads(rows[0]["tool_trace"])
        first = trace[0] if isinstance(trace, list) else trace
        return Traced(first["tool_name"], first["arguments"], linked=not measure)
    return Said(rows[0]["content"])
