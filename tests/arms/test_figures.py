"""The figures of an arm: counted by hand, counted anew, and a leak is found whatever a log says of itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.arms import Arm, ArmReport, RunLog, report
from amd.errors import ConfigError, TrajectoryError
from amd.exclusion import Split
from amd.records import Exposure
from amd.testing import run
from amd.tier import FailedCall

Make = Callable[..., Arm]


def nobody(_: str) -> None:
    """No family can be told from an id."""


def shown(i: int, *families: str, tier: str = "workflow", protocol: str = "self-excluded", **members: Any) -> Exposure:
    """What one question of task ``t{i}`` showed: a record of each family."""
    whole: dict[str, Any] = {
        "record_ids": tuple(f"r{n}" for n in range(len(families))),
        "families": families,
        "scores": (0.5,) * len(families),
        "supports": (1,) * len(families),
        **members,
    }
    return Exposure(tier=tier, place="task", viewer=protocol, task_id=f"t{i}", query_sha256="q", **whole)


def log(i: int, *exposures: Exposure, **members: Any) -> RunLog:
    """The log of task ``t{i}`` of family ``f{i}`` in the default arm."""
    whole: dict[str, Any] = {
        "method": "amd",
        "protocol": "self-excluded",
        "mode": "static",
        "layout": "block",
        "memory": "0" * 64,
        "task_id": f"t{i}",
        "family": f"f{i}",
        "calls": 0,
        "failed_calls": 0,
        "hints": 0,
        "placeholders": 0,
        "system_changes": 0,
        **members,
    }
    return RunLog(exposures=exposures, **whole)


LOGS = [
    log(
        1,
        shown(1, "f2", tokens=30, excluded={"own_family": 1}, below_floor=4),
        shown(1, "f2", "f3", tier="subtask", tokens=70, dropped={"near_duplicate": 2}),
        calls=7,
        failed_calls=2,
        hints=1,
    ),
    log(
        2,
        shown(2, excluded={"own_family": 1, "same_text": 2}, below_floor=9),
        shown(2, tier="subtask", dropped={"stale_schema": 1, "near_duplicate": 1}),
        placeholders=3,
    ),
    log(3, shown(3, "f1", tokens=10), shown(3, tier="subtask", tokens_estimated=False), system_changes=5),
]


def rows_of(figures: ArmReport) -> dict[str, object]:
    """The rows by name; none has the name of another."""
    rows = figures.rows()
    assert len(dict(rows)) == len(rows)
    return dict(rows)


def test_figures_counted_by_hand() -> None:
    """Three tasks, one of which was shown nothing."""
    figures = report(LOGS, family=nobody)
    assert (figures.tasks, figures.nothing_shown) == (3, 1)
    assert (figures.failed_calls, figures.hints, figures.placeholders, figures.system_changes) == (2, 1, 3, 5)
    assert (figures.calls, figures.without_call) == (7, figures.tasks - 1)
    assert (figures.tokens_mean, figures.tokens_max, figures.tokens_estimated) == (110 / 3, 100, True)
    subtask, workflow = figures.tiers
    assert (workflow.tier, workflow.questions, workflow.shown, workflow.empty) == ("workflow", 3, 2, 1)
    assert (workflow.below_floor, workflow.excluded) == (13, {"own_family": 2, "same_text": 2})
    assert (workflow.tokens_mean, workflow.tokens_max) == (40 / 3, 30)
    assert (subtask.questions, subtask.shown, subtask.empty) == (3, 2, 2)
    assert subtask.dropped == {"near_duplicate": 3, "stale_schema": 1}
    assert (figures.own_family, figures.leaks, figures.label) == (0, 0, "self-excluded")


def test_a_table_and_an_object() -> None:
    """All figures for people, and all of them for machines."""
    figures = report(LOGS, family=nobody)
    rows = rows_of(figures)
    assert rows["protocol"] == "self-excluded"
    assert rows["tasks with nothing shown"] == 1
    assert rows["memory"] == "0" * 12
    assert rows["tasks that came to their end"] == 3
    assert rows["own-family hits"] == 0
    assert [(name, value) for name, value in rows.items() if name.startswith("workflow")] == [
        ("workflow: questions", 3),
        ("workflow: records shown", 2),
        ("workflow: tokens a task", "13.3, at most 30"),
        ("workflow: below the floor", 13),
        ("workflow: hidden", "own_family 2, same_text 2"),
    ]
    assert rows["subtask: questions"] == 3
    assert rows["subtask: passed over"] == "near_duplicate 3, stale_schema 1"
    assert "subtask: hidden" not in rows
    assert rows["tokens a task (estimated)"] == "36.7, at most 100"
    assert all(":" in name for name in [*rows][[*rows].index("tokens a task (estimated)") + 1 :])
    value = json.loads(json.dumps(figures.as_json()))
    assert value["memory"] == "0" * 64
    assert (value["tasks"], value["leaks"], value["label"]) == (3, 0, "self-excluded")
    assert value["tiers"][1]["excluded"] == {"own_family": 2, "same_text": 2}


def test_tokens_that_were_counted() -> None:
    """With the student's own tokenizer throughout, the report does not say estimated."""
    figures = report([log(1, shown(1, "f2", tokens=3, tokens_estimated=False))], family=nobody)
    assert rows_of(figures)["tokens a task (counted)"] == "3.0, at most 3"


@pytest.mark.parametrize(
    ("exposure", "hits"),
    [
        (shown(1, "f1"), 1),
        (shown(1, "f2", "f1", "f1"), 2),
        (shown(1, "f2", own_family=1), 1),
        (shown(1, "f1", "f1", own_family=1), 2),
        (shown(1, "f2"), 0),
        (shown(1), 0),
    ],
)
def test_a_leak_is_found_whatever_the_log_says(exposure: Exposure, hits: int) -> None:
    """The families shown are compared anew; a log that owns up to more is believed."""
    figures = report([log(1, exposure), log(2, shown(2, "f1"))], family=nobody)
    assert (figures.own_family, figures.leaks, figures.tiers[0].own_family) == (hits, hits, hits)


SPLIT = Split("made-up", frozenset({"f2", "f3"}), frozenset({"f1", "f4"}))


@pytest.mark.parametrize(
    ("task", "families", "outside"),
    [(1, ("f2", "f3"), 0), (1, ("f2", "f4"), 1), (1, ("f4", "f9"), 2), (2, ("f3",), 1), (9, ("f3", "f4"), 2)],
    ids=["as it must be", "a test family", "two outside train", "a train task", "a task of neither side"],
)
def test_what_a_split_holds_out_is_counted(task: int, families: tuple[str, ...], outside: int) -> None:
    """Records of families outside train and tasks outside test are leaks of cross-split, and of nothing else."""
    one = log(task, shown(task, *families, protocol="cross-split"), protocol="cross-split")
    figures = report([one], family=nobody, split=SPLIT)
    assert (figures.own_family, figures.outside_split, figures.leaks) == (0, outside, outside)
    assert report([one], family=nobody).leaks == 0
    for protocol in ("self-excluded", "in-sample"):
        other = log(task, shown(task, *families, protocol=protocol), protocol=protocol)
        assert report([other], family=nobody, split=SPLIT).leaks == 0


def test_an_own_family_hit_counts_once_beside_a_split() -> None:
    """The own family is outside train as well; an arm without memory leaks nothing whatever it runs."""
    one = log(1, shown(1, "f1", "f2", protocol="cross-split"), protocol="cross-split")
    assert report([one], family=nobody, split=SPLIT).leaks == 1
    none = log(2, method="none", memory=None, protocol="cross-split")
    assert report([none], family=nobody, split=SPLIT).leaks == 0


def test_in_sample_is_labelled_and_leaks_nothing() -> None:
    """Where nothing is hidden, own-family hits are counted and said in capitals, and are no leak."""
    one = log(1, shown(1, "f1", protocol="in-sample"), protocol="in-sample")
    figures = report([one], family=nobody)
    assert (figures.own_family, figures.leaks) == (1, 0)
    assert rows_of(figures)["protocol"] == "IN-SAMPLE"
    assert rows_of(figures)["own-family hits"] == "1 (IN-SAMPLE)"


def test_an_arm_without_memory() -> None:
    """Its failed calls are counted as any arm's."""
    figures = report([log(i, method="none", memory=None, failed_calls=i) for i in (1, 2)], family=nobody)
    assert (figures.label, figures.tasks, figures.nothing_shown, figures.failed_calls) == ("no memory", 2, 2, 3)
    assert (figures.tiers, figures.tokens_mean, figures.tokens_max, figures.leaks) == ((), 0, 0, 0)
    assert rows_of(figures)["memory"] == "none"


def test_the_family_is_checked_where_it_can_be_told() -> None:
    """A run that asked as a task of another family was shown what it should not see."""
    assert report(LOGS, family=lambda task_id: f"f{task_id[1:]}").tasks == 3
    with pytest.raises(TrajectoryError, match="task 't2' ran as one of family 'f2', and is of family 'f7'"):
        report(LOGS, family=lambda task_id: "f7" if task_id == "t2" else None)


@pytest.mark.parametrize(
    "other",
    [
        {"method": "workflow"},
        {"method": "none", "memory": None},
        {"protocol": "in-sample"},
        {"mode": "dynamic"},
        {"layout": "turns"},
        {"memory": "1" * 64},
    ],
)
def test_two_arms_are_two_reports(other: dict[str, Any]) -> None:
    """Figures of different arms are never added up; both are named."""
    second = log(2, **other)
    with pytest.raises(ConfigError, match=r"task 't1' ran in the arm \(amd, self-excluded, static, block") as caught:
        report([log(1), second], family=nobody)
    assert caught.value.fields["arms"] == (
        f"amd, self-excluded, static, block, memory {'0' * 64}",
        f"{second.method}, {second.protocol}, {second.mode}, {second.layout}, memory {second.memory or 'none'}",
    )


@given(st.permutations(LOGS))
def test_the_order_of_logs_changes_nothing(logs: list[RunLog]) -> None:
    """A run is finished in any order, and may be resumed."""
    assert report(iter(logs), family=nobody) == report(LOGS, family=nobody)


def test_c01_real_arms(arm: Make) -> None:
    """C01: five tasks in each arm; no own-family hit where the family is hidden, some in sample as the control."""
    figures = {}
    for protocol in ("self-excluded", "in-sample"):
        logs = []
        with arm(protocol=protocol).open() as opened:
            for i in range(5):
                task = run(i).task
                session = opened.session(task, tools=run(i).tools, call_format="json")
                assert session is not None
                session.before_task(task.instruction)
                session.after_error(FailedCall("cd", {}, "Error: no such folder", place="c1"))
                logs.append(
                    RunLog.of(opened, task, session, calls=3, failed_calls=1, hints=1, placeholders=0, system_changes=0)
                )
        again = [RunLog.read(json.loads(json.dumps(each.as_json()))) for each in logs]
        figures[protocol] = report(again, family=lambda task_id: f"multi_turn_{task_id.rsplit('_', 1)[1]}")
    hidden, leaky = figures["self-excluded"], figures["in-sample"]
    assert (hidden.leaks, hidden.own_family, hidden.nothing_shown) == (0, 0, 0)
    assert [tier.tier for tier in hidden.tiers] == ["function", "subtask", "workflow"]
    assert all(tier.questions == 5 and tier.excluded["own_family"] for tier in hidden.tiers)
    assert leaky.own_family >= 5
    assert leaky.leaks == 0
