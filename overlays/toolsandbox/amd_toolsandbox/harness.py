"""The harness: its scenarios, run and scored by its own functions."""

from __future__ import annotations

import difflib
import fnmatch
import importlib
import json
import os
import random
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from amd.errors import ConfigError
from amd_toolsandbox.surroundings import git_on_path, output_in

__all__ = ["SEED", "load", "play", "rescore", "resolve"]

SEED = 42
"""The harness's own: the order in which tools are offered follows from it."""

_FIGURES = (
    *("similarity", "milestone_similarity", "minefield_similarity"),
    *("turn_count", "milestone_mapping", "minefield_mapping"),
)
_SETUP = "run: scripts/setup_toolsandbox.sh PATH_TO_CLONE, and then use .venvs/toolsandbox/bin/python"


def load(name: str) -> ModuleType:
    """A module of the harness, or one that needs it; ``ConfigError`` where it is not installed."""
    # One vendor's library that the harness loads says here that others are missing, which a run does not need.
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the harness needs the module {error.name!r}, which is not installed here",
            next_step=_SETUP,
            module=error.name,
        ) from error


def resolve(names: Sequence[str] | None) -> dict[str, Any]:
    """Scenarios by name or by patterns such as ``turn_on_*``, all 1032 for ``None``.

    Raises:
        ConfigError: the harness is not installed, or has no scenario of a name or a pattern.
    """
    known = _scenarios()
    if names is None:
        return dict(known)
    found = {name: fnmatch.filter(known, name) for name in names}
    unknown = [name for name, matches in found.items() if not matches]
    if unknown:
        near = difflib.get_close_matches(unknown[0], known, n=3)
        raise ConfigError(
            f"the harness has no scenario {unknown[0]!r}",
            next_step=f"the nearest are {', '.join(near)}" if near else "see its README for their names",
            unknown=unknown,
        )
    return {name: known[name] for matches in found.values() for name in matches}


@cache
def _scenarios() -> Mapping[str, Any]:
    """All scenarios, made once in a process: that takes seconds."""
    random.seed(SEED)
    backend = load("tool_sandbox.common.tool_discovery").ToolBackend.DEFAULT
    scenarios: dict[str, Any] = load("tool_sandbox.scenarios").named_scenarios(preferred_tool_backend=backend)
    return scenarios


def play(scenarios: dict[str, Any], run: Path, *, processes: int) -> None:
    """Play scenarios with the run's agent and user, by the harness's own loop; it writes below the run directory."""
    student = load("amd_toolsandbox.student")
    os.environ[student.ENVIRONMENT] = str(run)
    run_sandbox = load("tool_sandbox.cli").run_sandbox
    with git_on_path(), output_in(run / "harness.log"):
        run_sandbox(
            agent_type=student.AGENT,
            user_type=student.USER,
            name_to_scenario={name: student.NamedScenario.of(each) for name, each in scenarios.items()},
            processes=processes,
            output_base_dir=run,
        )


def rescore(scenario: Any, context: Path, name: str) -> dict[str, Any]:  # noqa: ANN401 - the harness's own
    """The summary row of a finished scenario, evaluated again from its saved context.

    Only on the day that it was played: the harness computes what it expects from the date.
    """
    contexts = load("tool_sandbox.common.execution_context")
    ended = contexts.ExecutionContext.from_dict(json.loads(context.read_bytes()))
    result = scenario.evaluation.evaluate(execution_context=ended, max_turn_count=scenario.max_messages)
    return {
        "name": name,
        "categories": list(scenario.categories),
        "traceback": None,
        "exception_type": None,
        **{each: getattr(result, each) for each in _FIGURES},
    }
