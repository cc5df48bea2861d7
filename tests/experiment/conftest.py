"""Small memories of made-up runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import amd
from amd.store import Memory
from amd.testing import StubEmbedder, run
from amd.trajectory import Step, ToolCall, Trajectory, Turn


def with_calls(number: int, turns: Sequence[tuple[str, Sequence[ToolCall]]], tools: object = None) -> Trajectory:
    """Run ``number`` with these turns: what the user said, and the calls, one a step."""
    made = tuple(Turn(said, tuple(Step(calls=(call,)) for call in calls)) for said, calls in turns)
    whole = run(number)
    return replace(whole, task=replace(whole.task, instruction=turns[0][0]), turns=made, tools=tools)


@pytest.fixture(scope="session")
def made() -> Callable[..., Trajectory]:
    """``made(number, [(said, calls), ...], tools=None)``."""
    return with_calls


@pytest.fixture
def remember(tmp_path: Path) -> Callable[..., Memory]:
    """Build a memory of runs by the rules, and open it."""

    def built(runs: Iterable[Trajectory], **options: object) -> Memory:
        place = tmp_path / f"memory-{len(list(tmp_path.iterdir()))}"
        options = {"floors": {"workflow": 0.0, "subtask": 0.0}, **options}
        amd.build_memory(list(runs), place, embedder=StubEmbedder(), options=amd.Options(**options))
        return amd.open_memory(place, embedder=StubEmbedder())

    return built
