"""Each arm beside as many records drawn at random: which arm is whose control, and what the two differ by."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from amd.evaluate.comparison import adjusted, compare
from amd.evaluate.controls import controlled
from amd.evaluate.estimates import holm
from amd.evaluate.grouping import group
from amd.evaluate.report import evaluate

RIGHT = {f"t{at}": at % 2 == 0 for at in range(36)}
MORE = {f"t{at}": at % 6 != 1 for at in range(36)}


def pairs(*runs):
    """The names of the arms that are beside one another."""
    return [(arm.name, control.name) for arm, control in controlled(group(runs, missing="failed"))]


@pytest.mark.parametrize(
    ("method", "control"),
    [
        ("amd", "random"),
        ("amd", "random-amd"),
        ("workflow+subtask+function", "random"),
        ("function+workflow", "random-workflow+function"),
        ("amd-k3", "random-amd-k3"),
        ("memp-script", "random-memp-script"),
        ("sasm", "random-sasm"),
    ],
)
@pytest.mark.parametrize("settings", [{}, {"mode": "dynamic", "protocol": "in-sample", "subtask_tokens": 5}])
def test_an_arm_has_the_control_that_draws_for_its_tiers(made, method, control, settings):
    """Whatever the two are called; settings that both have are no matter."""
    arm, drawn = (made(name, RIGHT, method=name, **settings) for name in (method, control))
    assert pairs(made("none", RIGHT), drawn, arm) == [(method, control)]


@pytest.mark.parametrize(
    "other",
    [
        *({"method": name} for name in ("random-workflow", "random-amd-k3", "random-sasm", "workflow", "amd-k3")),
        *({"mode": "dynamic"}, {"layout": "turns"}, {"protocol": "in-sample"}, {"student": "another"}),
        *({"workflow_tokens": 1}, {"function_tokens": 1}, {"tokenizer": "tokenizer.json"}),
        *({"values": {"terms": {"user": "u"}}}, {"values": {"memory_seal": "another"}}),
    ],
    ids=lambda other: ", ".join(f"{name} {value}" for name, value in other.items()),
)
def test_what_differs_in_more_is_no_control(made, other):
    """Neither of another method's tiers, nor in another mode, under another viewer, of another memory."""
    arm = made("amd", RIGHT, method="amd")
    assert pairs(made("none", RIGHT), arm, made("random", RIGHT, **{"method": "random", **other})) == []
    assert pairs(arm, made("random", RIGHT, method="random")) == [("amd", "random")], "control"


def test_another_memory_and_another_split_are_no_control(made, tmp_path):
    """Of the same arms in all else; the split they share is the control."""
    arm, drawn = (made(name, RIGHT, method=name) for name in ("amd", "random"))
    content = "d" * 64
    tasks = tuple(replace(task, log=task.log.model_copy(update={"memory": content})) for task in drawn.tasks)
    assert pairs(arm, replace(drawn, tasks=tasks, memory_content=content)) == []
    for name, train in (("one", ["f99"]), ("other", ["f98"])):
        value = {"format": "amd-split/1", "benchmark": "garden", "train": train, "test": ["f0"]}
        (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    arm, drawn, far = (
        made(at, RIGHT, method=method, split=tmp_path / f"{split}.json")
        for at, method, split in (("amd", "amd", "one"), ("near", "random", "one"), ("far", "random", "other"))
    )
    assert pairs(arm, drawn, far) == [("amd", "near")]


def test_a_control_has_none_and_two_are_two(made):
    """Arms without memory and random ones are beside nothing; two that draw alike are both compared."""
    names = ("none", "random", "amd", "random-workflow+subtask+function", "workflow+subtask+function")
    runs = [made(name, RIGHT, method=name) for name in names]
    amd, same = names[2], names[4]
    assert pairs(*runs) == [
        (arm, drawn) for arm in (amd, same) for drawn in ("random", "random-workflow+subtask+function")
    ]


def test_the_figures_are_those_of_the_two_arms(made):
    """As ``compare`` has them, with Holm's p over these alone; the comparisons with the baseline stay what they are."""
    runs = [
        made("none", RIGHT),
        made("amd", MORE, method="amd"),
        made("random", RIGHT, method="random"),
        made("sasm", RIGHT, method="sasm"),
        made("random-sasm", {**RIGHT, "t1": True}, method="random-sasm"),
    ]
    report = evaluate(runs, seed=3, resamples=300)
    _, amd, random, sasm, of_sasm = group(runs, missing="failed")
    by_hand = [compare(*two, seed=3, resamples=300) for two in ((amd, random), (sasm, of_sasm))]
    assert report.controls == adjusted(by_hand)
    first, second = report.controls
    assert (first.arm, first.baseline, second.arm, second.baseline) == ("amd", "random", "sasm", "random-sasm")
    assert (first.helped, second.harmed) == (tuple(sorted(t for t in MORE if MORE[t] and not RIGHT[t])), ("t1",))
    assert first.difference.value == pytest.approx(12 / 36)
    assert first.p == pytest.approx(2 / 2**12)
    assert [first.p_holm, second.p_holm] == pytest.approx(holm([2 / 2**12, 1.0]))
    assert first.p_holm == pytest.approx(2 * first.p)
    assert report.comparisons == evaluate(runs, seed=3, resamples=300).comparisons
    assert report.comparisons[0].p_holm == pytest.approx(4 * first.p)
    assert report.as_json()["controls"][0].keys() == report.as_json()["comparisons"][0].keys()


def test_seeds_are_taken_together(made):
    """Three runs of each are one pair."""
    runs = [
        made(f"{name}-{at}", RIGHT, method=name, values={"seed": at}) for name in ("random", "amd") for at in (1, 2)
    ]
    assert [(each.arm, each.baseline, each.n) for each in evaluate(runs, resamples=100).controls] == [
        ("amd", "random", 36)
    ]


def test_tasks_that_only_one_has_are_told_once(made):
    """Of each pair; one with the baseline is beside it already. Nothing in common is no comparison."""

    def told(*runs):
        report = evaluate(runs, resamples=100)
        return len(report.controls), [each for each in report.notices if "random" in each and "amd" in each]

    none, amd = made("none", RIGHT), made("amd", RIGHT, method="amd")
    fewer = made("random", {name: RIGHT[name] for name in list(RIGHT)[:30]}, method="random")
    apart = made("random", {"t99": True}, method="random")
    partly = "amd and random are compared on the 30 tasks that both have; 6 that only one of them has are left out."
    assert told(none, amd, fewer) == (1, [partly])
    assert told(none, amd, apart) == (0, ["amd and random have no task in common: they are not compared."])
    (count, (only,)) = told(amd, fewer)
    assert (count, only) == (1, partly.replace("amd and random", "random and amd"))
    assert told(none, amd, made("random", RIGHT, method="random")) == (1, [])
