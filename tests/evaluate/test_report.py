"""What a report counts: seeds, missing results, intersections, leaks, labels."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from amd import build_memory, load_embedder, open_memory
from amd.arms import Arm, RunLog, RunResults, TaskResult
from amd.errors import ConfigError, LeakageError, TrajectoryError
from amd.evaluate.report import FORMAT, evaluate
from amd.evaluate.sections import page_of
from amd.store.retiring import retire
from amd.testing import run


def outcomes(right):
    """``"110"``: tasks t0 and t1 succeeded, t2 did not."""
    return {f"t{at}": letter == "1" for at, letter in enumerate(right)}


def test_two_arms_task_by_task(made):
    """Rates, difference, who is helped and harmed by name, and the exact p of those counts."""
    report = evaluate([made("none", outcomes("110000000")), made("amd", outcomes("011111100"), method="amd")])
    (found,) = report.comparisons
    assert [arm.success.value for arm in report.arms] == [2 / 9, 6 / 9]
    assert (found.helped, found.harmed) == (("t2", "t3", "t4", "t5", "t6"), ("t0",))
    assert found.difference.value == pytest.approx(4 / 9)
    assert (found.n, found.left_out, found.families, report.baseline) == (9, 0, 3, "none")
    assert found.p == found.p_holm == pytest.approx(2 * 7 / 2**6)
    assert not report.leaks


def test_holm_over_the_arms(made):
    """The p of one arm grows with the number of arms that were tried."""
    none, amd = made("none", outcomes("0" * 12)), made("amd", outcomes("1" * 12), method="amd")
    alone = evaluate([none, amd]).comparisons[0]
    other = made("workflow", outcomes("1" + "0" * 11), method="workflow")
    among = evaluate([none, amd, other]).comparisons[0]
    assert alone.p_holm == alone.p == among.p
    assert among.p_holm == pytest.approx(2 * among.p)


def test_runs_of_equal_settings_are_seeds_of_one_arm(made):
    """A task counts with the share of its runs; pass^k over them; the interval is that of the tasks."""
    runs = [made(f"amd-seed-{at}", outcomes(right), method="amd") for at, right in enumerate(("111", "110", "100"))]
    report = evaluate([made("none", outcomes("000")), *runs])
    amd = report.arm("amd")
    assert (amd.tasks, amd.trials, len(amd.runs)) == (3, 9, 3)
    assert amd.success.value == pytest.approx(2 / 3)
    assert amd.pass_hat == pytest.approx((2 / 3, (1 + 1 / 3 + 0) / 3, 1 / 3))
    assert report.comparisons[0].difference.value == pytest.approx(2 / 3)
    assert report.comparisons[0].detectable is None, "it would be more than 100 points"


@pytest.mark.parametrize(
    "other",
    [{"mode": "dynamic"}, {"protocol": "in-sample"}, {"student": "another"}, {"values": {"terms": {"user": "u"}}}],
    ids=["mode", "protocol", "student", "terms"],
)
def test_another_setting_is_another_arm(made, other):
    """The control: whatever differs but outcomes, path and seed keeps two runs apart."""
    one, two = made("a", outcomes("11"), method="amd"), made("b", outcomes("10"), method="amd", **other)
    assert len(evaluate([one, two]).arms) == 2
    same = made("b", outcomes("10"), method="amd", values={"seed": 2})
    assert len(evaluate([one, same]).arms) == 1


def test_another_seal_is_another_arm_and_is_told(made):
    """Retired records and other floors are in the seal alone; with one seal they are seeds, and nothing is said."""
    runs = [
        made(f"amd-{at}", outcomes(right), method="amd", values={"memory_seal": seal})
        for at, (right, seal) in enumerate((("11", "a"), ("10", "a"), ("00", "b")))
    ]
    report = evaluate(runs)
    assert [(len(arm.runs), arm.memory_seal) for arm in report.arms] == [(2, "a"), (1, "b")]
    assert any("the memory was changed between these runs" in notice for notice in report.notices)
    assert not evaluate(runs[:2]).notices, "control"
    other = evaluate(
        [runs[0], made("dynamic", outcomes("11"), method="amd", mode="dynamic", values={"memory_seal": "b"})]
    )
    assert not other.notices, "control: they differ in more"


def test_a_memory_that_forgets_is_another_arm(tmp_path):
    """With real memories: the content is that of before, the records shown are not."""
    runs = [run(i) for i in range(4)]
    build_memory(runs, tmp_path / "memory", embedder=load_embedder("hash"))
    arm = Arm(method="amd", memory=tmp_path / "memory")

    def played(name):
        with arm.open() as opened:
            logs = []
            for each in runs:
                session = opened.session(each.task, tools=None, call_format="json")
                session.before_task(each.task.instruction)
                counts = dict.fromkeys(("calls", "failed_calls", "hints", "placeholders", "system_changes"), 0)
                logs.append(RunLog.of(opened, each.task, session, **counts))
            return RunResults(
                path=tmp_path / name,
                benchmark=runs[0].task.benchmark,
                student="s",
                arm=arm,
                tasks=tuple(TaskResult(each.task_id, each.family, success=True, log=each) for each in logs),
                memory_content=opened.content,
                memory_seal=opened.seal,
            )

    before, again = played("before"), played("again")
    with open_memory(tmp_path / "memory") as memory:
        retire(tmp_path / "memory", [record.id for shelf in memory.shelves.values() for record in shelf.records()])
    after = played("after")
    assert (before.memory_content, before.memory_seal == after.memory_seal) == (after.memory_content, False)
    assert [len(arm.runs) for arm in evaluate([before, again, after], resamples=100).arms] == [2, 1]


def test_seeds_of_unequal_tasks_are_told(made):
    """What one run wants and another one lacks is missing; equal tasks say nothing (the control)."""
    runs = [made("none-1", outcomes("111")), made("none-2", {"t0": True, "t3": True})]
    failed, dropped = evaluate(runs), evaluate(runs, missing="drop")
    (arm,) = failed.arms
    assert (arm.tasks, arm.trials, arm.faults) == (4, 8, {"missing": 3})
    assert arm.success.value == pytest.approx((1 + 0.5 + 0.5 + 0.5) / 4)
    assert (dropped.arms[0].trials, dropped.arms[0].success.value, dropped.arms[0].faults) == (5, 1.0, {"missing": 3})
    for report in (failed, dropped):
        assert any("The runs of none are of unequal tasks: 3 missing results" in each for each in report.notices)
    assert not evaluate([made("none-1", outcomes("111")), made("none-2", outcomes("110"))]).notices


def test_seeds_that_repeat_one_run_are_told(made):
    """Alike task by task, though not all alike: greedy decoding. With one other outcome nothing is said (control)."""

    def told(*right):
        report = evaluate([made(f"amd-{at}", outcomes(each), method="amd") for at, each in enumerate(right)])
        return [notice for notice in report.notices if "ended alike" in notice]

    (notice,) = told("1100", "1100", "1100")
    assert notice.startswith("The 3 runs of amd ended alike in each of 4 tasks")
    assert "pass^k" in notice
    assert told("1100", "1101") == []
    assert told("1111", "1111") == told("0000", "0000") == told("1100") == []


def test_seeds_of_which_some_results_are_missing(made):
    """A result that is dropped says nothing of a repetition; those that are there do."""
    runs = [
        made("amd-1", outcomes("110"), method="amd"),
        made("amd-2", {**outcomes("110"), "t1": "missing"}, method="amd"),
    ]
    for missing, said in (("failed", False), ("drop", True)):
        notices = evaluate(runs, missing=missing).notices
        assert any("ended alike in each of 2 tasks" in notice for notice in notices) is said


def test_cross_split_shows_train_alone_to_test_alone(made, tmp_path):
    """The far family outside train, or a task outside test, fails loudly; as it must be, nothing does (the control)."""

    def held_out(name, train, test):
        path = tmp_path / f"{name}.json"
        value = {"format": "amd-split/1", "benchmark": "garden", "train": train, "test": test}
        path.write_text(json.dumps(value), encoding="utf-8")
        return evaluate([made(name, outcomes("11"), method="amd", protocol="cross-split", split=path)], resamples=100)

    sound = held_out("sound", ["f99"], ["f0"])
    sound.check_leaks()
    assert sound.leaks == {}
    for name, train, test in (("shown", ["f1"], ["f0", "f99"]), ("ran", ["f0", "f99"], ["f1"])):
        leaky = held_out(name, train, test)
        assert leaky.leaks == {name: 2}
        with pytest.raises(LeakageError, match="the split holds out") as caught:
            leaky.check_leaks()
        assert caught.value.exit_code == 4
        banner = page_of(leaky).blocks[0]
        assert banner.text.startswith(f"LEAK: {name} holds out what its split says, and 2 times it showed")
        assert "family, and" not in banner.text


def test_a_missing_result_is_a_failure_unless_declared(made):
    """Wanted and not there, or spoilt by a service; the counts are told either way."""
    ended = {**outcomes("11"), "t2": "missing", "t3": "infrastructure"}
    runs = [made("none", outcomes("0000")), made("amd", ended, method="amd")]
    failed, dropped = evaluate(runs), evaluate(runs, missing="drop")
    assert [(each.arm("amd").tasks, each.arm("amd").success.value) for each in (failed, dropped)] == [(4, 0.5), (2, 1)]
    for report, how in ((failed, "counted as failed"), (dropped, "left out")):
        assert report.arm("amd").faults == {"infrastructure": 1, "missing": 1}
        assert any("infrastructure 1, missing 1" in notice and how in notice for notice in report.notices)
    assert [each.comparisons[0].n for each in (failed, dropped)] == [4, 2]


def test_arms_with_other_tasks_are_compared_on_what_both_have(made):
    """Said so, with both counts; nothing in common is no comparison."""
    none = made("none", outcomes("000000"))
    report = evaluate([none, made("amd", outcomes("1111"), method="amd")])
    assert (report.comparisons[0].n, report.comparisons[0].left_out) == (4, 2)
    assert any("on the 4 tasks that both have; 2 that" in notice for notice in report.notices)
    apart = evaluate([none, made("amd", {"t8": True}, method="amd")])
    assert apart.comparisons == ()
    assert any("no task in common" in notice for notice in apart.notices)
    assert not evaluate([none, made("amd", outcomes("111111"), method="amd")]).notices, "control"


def test_a_planted_leak_fails_loudly(made):
    """D01: counted anew from the families; the clean arm passes, and so does an in-sample one (the controls)."""
    none = made("none", outcomes("000"))
    clean = evaluate([none, made("amd", outcomes("111"), method="amd")])
    clean.check_leaks()
    open_arm = evaluate([none, made("open", outcomes("111"), method="amd", protocol="in-sample", hits={"t0": 2})])
    open_arm.check_leaks()
    assert open_arm.arm("open").exposures.own_family == 2
    leaky = evaluate([none, made("amd", outcomes("111"), method="amd", hits={"t1": 1})])
    assert leaky.leaks == {"amd": 1}
    with pytest.raises(LeakageError, match=r"amd.*1") as caught:
        leaky.check_leaks()
    assert caught.value.exit_code == 4


def test_a_result_without_a_log_cannot_be_vouched_for(made):
    """An arm with a memory and no exposures would pass any check of them; without a memory it may."""
    run = made("amd", outcomes("1"), method="amd")
    blind = {name: getattr(run.tasks[0], name) for name in ("task_id", "family", "success")}
    with pytest.raises(TrajectoryError, match="no log"):
        type(run)(path=run.path, benchmark="b", student="s", arm=run.arm, tasks=(type(run.tasks[0])(**blind),))
    none = made("none", outcomes("1"))
    bare = type(run)(path=none.path, benchmark="b", student="s", arm=none.arm, tasks=(type(run.tasks[0])(**blind),))
    assert evaluate([bare]).arms[0].exposures is None


def test_the_baseline_by_name(made):
    """An arm's name or that of one of its runs; another one is a usage error that lists them."""
    runs = [
        made("none", outcomes("000")),
        made("amd-1", outcomes("100"), method="amd"),
        made("amd-2", outcomes("110"), method="amd"),
    ]
    assert [evaluate(runs, baseline=name).baseline for name in (None, "amd", "amd-2")] == ["none", "amd", "amd"]
    with pytest.raises(ConfigError, match="none, amd"):
        evaluate(runs, baseline="nobody")


def test_unlike_terms_are_told(made):
    """Scores of other harnesses are compared, and the report says that they should not be."""
    runs = [
        made("none", outcomes("000"), values={"terms": {"harness": 1}}),
        made("amd", outcomes("111"), method="amd", values={"terms": {"harness": 2}}),
        made("other", outcomes("111"), method="amd", student="t", values={"terms": {"harness": 1}}),
    ]
    report = evaluate(runs)
    assert report.comparisons[0].unlike == ("harness: 2, not 1",)
    assert any(notice.startswith("NOT COMPARABLE: amd and none differ in harness") for notice in report.notices)
    assert not report.comparisons[1].unlike
    assert any("other has the student t, none has s" in notice for notice in report.notices)


def test_nothing_to_count(made):
    """An arm whose results are all missing, and dropped."""
    with pytest.raises(ConfigError, match="no task to count"):
        evaluate([made("none", {"t0": "missing"})], missing="drop")


def test_means_are_over_what_was_counted(made):
    """Steps, seconds, tokens and placeholders of the trials that came to an end."""
    arm = evaluate([made("amd", {**outcomes("10"), "t2": "missing"}, method="amd")]).arms[0]
    assert (arm.steps, arm.seconds, arm.prompt_tokens) == (4.0, 2.0, 100.0)
    assert (arm.exposures.tokens_mean, arm.exposures.placeholders, arm.exposures.tasks) == (10.0, 2, 2)


def test_the_order_of_runs_does_not_matter(made):
    """But for which arm is the baseline, and the order of rows."""
    runs = [made("none", outcomes("010")), made("amd", outcomes("110"), method="amd")]
    one, other = evaluate(runs), evaluate(runs[::-1], baseline="none")
    assert one.comparisons == other.comparisons
    assert {arm.name: arm for arm in one.arms} == {arm.name: arm for arm in other.arms}


def test_the_json_is_json(made):
    """Plain values, with the format's name first."""
    report = evaluate([made("none", outcomes("010")), made("amd", outcomes("110"), method="amd")])
    found = json.loads(json.dumps(report.as_json(), allow_nan=False))
    assert next(iter(found.items())) == ("format", FORMAT)
    assert found["arms"][1]["exposures"]["own_family"] == 0
    assert found["comparisons"][0]["helped"] == ["t0"]


def test_terms_and_seeds_are_in_the_json(made):
    """As the harness says them, whole; a run without a seed has none."""
    terms = {"success_score": 0.9, "tasks_sha256": "a" * 64, "user": None, "limits": {"steps": 40}}
    runs = [
        made(f"none-{at}", outcomes("01"), values={"terms": terms, "seed": seed}) for at, seed in ((1, 7), (2, None))
    ]
    (arm,) = json.loads(json.dumps(evaluate(runs).as_json()))["arms"]
    assert (arm["terms"], arm["seeds"], len(arm["runs"])) == (terms, [7, None], 2)
    assert evaluate([made("none", outcomes("01"))]).as_json()["arms"][0]["terms"] == {}


def test_the_schema_is_documented(made):
    """Each member of report.json stands in docs/report.md, and no other one does."""
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    told = [
        {name for row in table.split("\n")[2:-1] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
        for table in tables
    ]
    found = evaluate([made("none", outcomes("010")), made("amd", outcomes("110"), method="amd")]).as_json()
    assert told == [set(found), set(found["arms"][0]), set(found["comparisons"][0])]


def test_a_split_that_is_gone_is_told(made, tmp_path):
    """What a cross-split arm was shown cannot be judged then; the split at its place is the control."""
    path = tmp_path / "split.json"
    value = {"format": "amd-split/1", "benchmark": "garden", "train": ["f0", "f9"], "test": ["f1"]}
    path.write_text(json.dumps(value), encoding="utf-8")
    run = made("held", {"t3": True}, method="amd", protocol="cross-split", split=path)
    assert not any("NOT CHECKED" in notice for notice in evaluate([run]).notices)
    path.unlink()
    (notice,) = [notice for notice in evaluate([run]).notices if "NOT CHECKED" in notice]
    assert "held kept no split" in notice


def test_runs_of_one_seed_are_told(made):
    """They are repetitions; different seeds, and runs of which nobody knows, are the control."""

    def told(*seeds):
        runs = [replace(made(f"amd-{at}", outcomes("110"), method="amd"), seed=seed) for at, seed in enumerate(seeds)]
        return [notice for notice in evaluate(runs).notices if "have the seed" in notice]

    assert told(0, 1, 1) == ["Several runs of amd have the seed 1: they are repetitions of one another."]
    assert told(0, 1, 2) == told(None, None) == []


def test_memories_of_other_content_are_told(made):
    """A memory built anew between the seeds of one arm makes two; arms of other names are others (the control)."""

    def told(*names, seeds=(None, None)):
        runs = [
            replace(made(name, {"t0": "missing"}, method="amd"), memory_content=letter * 64, seed=seeds[letter == "b"])
            for name, letter in zip(names, "ab", strict=True)
        ]
        return [notice for notice in evaluate(runs).notices if "differ in content" in notice]

    said = "are alike but for their memories: their memories differ in content, so they are no seeds of one arm."
    assert told("amd-1", "amd-2", seeds=(1, 2)) == [f"amd and amd (2) {said}"]
    assert told("amd-1", "amd-2") == [f"amd-1 and amd-2 {said}"]
    assert told("by-gpt", "by-qwen") == []
