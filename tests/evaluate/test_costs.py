"""What a memory cost by its manifest, and after how many runs it is repaid."""

from __future__ import annotations

from dataclasses import replace

import pytest

import amd
from amd.arms import Arm
from amd.config import Price
from amd.evaluate.costs import BuildCost, Teaching, build_cost, repayment
from amd.evaluate.grouping import group
from amd.testing import run

PRICES = {
    "gpt": Price(prompt=2, completion=8),
    "s": Price(prompt=0.1, completion=0.1),
    "d": Price(prompt=1, completion=1),
}


@pytest.fixture
def arm(made):
    """An arm with a memory, two of whose tasks ended."""
    return group([made("amd", {"t0": True, "t1": False}, method="amd", tokens=(10_000, 1_000))], missing="failed")[0]


def test_the_cost_of_a_memory_that_is_there(made, tmp_path):
    """By the manifest, if the content is the one that the run opened; else what keeps it from being known."""
    amd.build_memory([run(i) for i in range(3)], tmp_path / "memory", embedder=amd.load_embedder("hash"))
    with amd.open_memory(tmp_path / "memory") as memory:
        content = memory.digest
    made_run = made("none", {"t0": True})
    here = replace(made_run, arm=Arm(method="amd", memory=tmp_path / "memory"), memory_content=content, tasks=())
    (none,) = group([made_run], missing="failed")
    assert build_cost(none) is None
    known = build_cost(replace(none, runs=(here,)))
    assert known == BuildCost("rules", runs=3, read=3)
    other = build_cost(replace(none, runs=(replace(here, memory_content="0" * 64),)))
    assert "another memory" in other.unknown
    gone = replace(here, arm=Arm(method="amd", memory=tmp_path / "nowhere"))
    assert "not there" in build_cost(replace(none, runs=(gone,))).unknown


def test_repayment_in_figures(arm):
    """10 runs of the teacher and the distiller's work, repaid by what each run of the student saves."""
    cost = BuildCost("d", runs=10, requests=20, prompt_tokens=400_000, completion_tokens=100_000)
    found = repayment(arm, cost, Teaching(PRICES, 50_000, 2_500))
    assert found.teacher == pytest.approx(0.12)
    assert found.student == pytest.approx(0.0011)
    assert found.invested == pytest.approx(1.2 + 0.5)
    assert found.runs == 15  # 1.7 / 0.1189, rounded up
    assert (found.teacher_runs, found.admitted_only) == (10, True)


def test_the_teacher_is_paid_for_its_failures_too(arm):
    """40 runs were read for the 10 in the memory."""
    cost = BuildCost("d", runs=10, read=40, requests=20, prompt_tokens=400_000, completion_tokens=100_000)
    found = repayment(arm, cost, Teaching(PRICES, 50_000, 2_500))
    assert (found.teacher_runs, found.admitted_only) == (40, False)
    assert found.invested == pytest.approx(4.8 + 0.5)
    assert found.runs == 45  # 5.3 / 0.1189, rounded up


def test_runs_read_are_those_of_a_build_of_all(made, tmp_path):
    """Refused ones count, the same run twice is one; a memory that was published twice knows its last build alone."""
    place, hashing = tmp_path / "memory", amd.load_embedder("hash")
    failed = replace(run(8), outcome=replace(run(8).outcome, success=False))

    def known():
        with amd.open_memory(place) as memory:
            here = replace(made("none", {"t0": True}), arm=Arm(method="amd", memory=place), tasks=())
            here = replace(here, memory_content=memory.digest)
        (none,) = group([made("none", {"t0": True})], missing="failed")
        return build_cost(replace(none, runs=(here,)))

    amd.build_memory([*map(run, range(3)), run(2), failed], place, embedder=hashing)
    assert (known().runs, known().read) == (3, 4)
    amd.build_memory([run(5)], place, embedder=hashing)
    assert (known().runs, known().read) == (4, None)


def test_runs_that_better_ones_replaced_were_paid_too(made, arm, tmp_path):
    """Twenty runs, of which ten are left: the last build knows ten. One build of all twenty is the control."""
    hashing = amd.load_embedder("hash")
    better = [run(i) for i in range(10)]
    worse = [with_a_failed_call(each) for each in better]

    def paid(name, *builds):
        for runs in builds:
            amd.build_memory(runs, tmp_path / name, embedder=hashing)
        with amd.open_memory(tmp_path / name) as memory:
            sources = memory.manifest.sources
            content = memory.digest
        assert (sources.read, sources.admitted, len(sources.runs)) == (len(builds[-1]), 10, 10)
        here = replace(arm.runs[0], arm=Arm(method="amd", memory=tmp_path / name), memory_content=content, tasks=())
        cost = build_cost(replace(arm, runs=(here,)))
        found = repayment(arm, cost, Teaching(PRICES, 50_000, 2_500))
        return cost.runs, cost.read, found.teacher_runs, found.admitted_only

    assert paid("steps", worse, better) == (10, None, 10, True)
    assert paid("once", [*worse, *better]) == (10, 20, 20, False)


def with_a_failed_call(better):
    """The same run, but that its first call failed and was made again."""
    first, *rest = better.turns
    step, *steps = first.steps
    failed = replace(step.calls[0], ok=False, observation="Error: try again.", call_id="again")
    turns = (replace(first, steps=(replace(step, calls=(failed, *step.calls)), *steps)), *rest)
    return replace(better, turns=turns)


def test_a_student_that_costs_as_much_never_repays(arm):
    """The control: the teacher's runs are as cheap."""
    found = repayment(arm, BuildCost("rules", runs=10), Teaching(PRICES, 500, 10))
    assert found.unknown == ""
    assert found.runs is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"prices": {}}, "no price of gpt, s"),
        ({"cost": BuildCost("e", 1, requests=1)}, "no price of e"),
        ({"cost": BuildCost(unknown="memory is not there")}, "not there"),
        ({"memory_from": ("the answer key (oracle)",)}, "not the runs of one teacher: the answer key (oracle)"),
        ({"tokens": None}, "no tokens of the student"),
    ],
)
def test_what_is_missing_is_said(arm, change, says):
    """An oracle is nobody's teacher and has no price; no figure is guessed."""
    first = arm.runs[0]
    if "memory_from" in change:
        first = replace(first, memory_from=change["memory_from"])
    if "tokens" in change:
        first = replace(first, tasks=tuple(replace(task, prompt_tokens=None) for task in first.tasks))
    teaching = Teaching(change.get("prices", PRICES), 50_000, 2_500)
    found = repayment(replace(arm, runs=(first,)), change.get("cost", BuildCost("rules", 1)), teaching)
    assert says in found.unknown
    assert (found.runs, found.invested) == (None, 0.0)


def test_without_prices_there_is_none(arm):
    """It is left out."""
    assert repayment(arm, BuildCost("rules", 1), None) is None
    assert repayment(arm, None, Teaching(PRICES, 1, 1)) is None
