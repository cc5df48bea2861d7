"""A plan: what a build would ask for, without asking."""

from __future__ import annotations

from pathlib import Path

import pytest

from amd.build import Options
from amd.build.journal import Entry, Journal
from amd.build.pipeline import plan_build
from amd.build.plan import PlanWriter
from amd.build.request import request_for
from amd.errors import ConfigError
from amd.methods import method_named
from amd.testing import StubEmbedder, run
from amd.tier import Assignment
from amd.tiers.workflow import INSIGHT
from amd.trajectory import Trajectory

METHOD = method_named("amd")
PROMPTS = [prompt for tier in METHOD.tiers for prompt in tier.prompts]


def planner(journal: Journal | None = None, **more: bool) -> PlanWriter:
    """What counts for a model."""
    return PlanWriter("m", PROMPTS, journal=journal, **more)


def test_calls_and_tokens_by_purpose_and_nothing_is_made(tmp_path: Path) -> None:
    """No directory, no embedding."""
    stub = StubEmbedder()
    runs: list[Trajectory] = [run(1), run(2), run(3, success=None)]
    plan = plan_build(runs, tmp_path / "memory", embedder=stub, writer=planner())
    assert (plan.read, plan.admitted, plan.written, plan.calls) == (3, 2, 2, 4)
    assert {item.purpose: item.calls for item in plan.items} == {"insight": 2, "segments": 2}
    assert plan.prompt_tokens > 1_000
    assert plan.completion_tokens == sum(2 * prompt.room for prompt in PROMPTS if not prompt.purpose.endswith("calls"))
    assert not (tmp_path / "memory").exists()
    assert stub.calls == 0


def test_what_is_published_or_answered_is_not_planned(build, writer, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A journal's reply counts as known; with --retry-fallbacks a fallback is asked for again."""
    journal = Journal(tmp_path / "memory")
    for number, reason in ((1, None), (2, "prose")):
        key = request_for(Assignment(INSIGHT, _masked(run(number))), "m").key
        journal.add(Entry(key, "insight", {"text": "Look first."}, reason))
    runs = [run(1), run(2)]
    for retry, calls, known in ((False, 0, 2), (True, 1, 1)):
        writer = planner(Journal(tmp_path / "memory"), retry_fallbacks=retry)
        plan = plan_build(runs, tmp_path / "memory", embedder=StubEmbedder(), writer=writer)
        (item,) = (each for each in plan.items if each.purpose == "insight")
        assert (item.calls, item.known) == (calls, known)


def _masked(trajectory: Trajectory) -> Trajectory:
    from amd.mask import Mask

    return Mask.of(trajectory).run(trajectory)


def test_a_plan_fails_where_the_build_would() -> None:
    """Before anything is asked for."""
    with pytest.raises(ConfigError):
        plan_build([run(1)], "memory", embedder=StubEmbedder(), writer=planner(), options=Options(method="nothing"))
