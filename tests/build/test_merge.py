"""Which run of a task counts, whatever the order of builds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.build.merge import merge_records, merge_runs, run_of
from amd.errors import ConfigError
from amd.records import Record, RecordSource, RecordTask
from amd.store import Run
from amd.testing import ScriptedWriter, run
from amd.tier import RULES


def made(task="t1", sha="a", *, calls=3, failed=0, success=True, distiller="rules", family=None):
    """A published run."""
    return Run(
        benchmark="b",
        task_id=task,
        family=family or task,
        instruction_sha256="0" * 64,
        trajectory_sha256=sha * 64,
        teacher="teacher",
        run_id="r",
        kind="teacher",
        success=success,
        calls=calls,
        failed_calls=failed,
        distiller=distiller,
        prompts="",
    )


RUNS = st.lists(
    st.builds(made, st.sampled_from(["t1", "t2"]), st.sampled_from("abcdef"), calls=st.integers(0, 3)),
    unique_by=lambda each: (each.task_id, each.trajectory_sha256),
)


@given(RUNS, st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_builds_does_not_matter(runs, random, all_trials):
    """One build of all, or one after another in any order: the same runs count."""
    at_once = merge_runs([], sorted(runs, key=repr), all_trials=all_trials).runs
    random.shuffle(runs)
    published = ()
    for each in runs:
        published = merge_runs(published, [each], all_trials=all_trials).runs
    assert published == at_once


def test_the_better_run_replaces_the_older():
    """Fewer failed calls win; the worse one that comes later changes nothing."""
    better, worse = made(sha="a", failed=0), made(sha="b", failed=2)
    first = merge_runs([worse], [better], all_trials=False)
    assert (first.runs, first.written, first.superseded) == ((better,), (better,), (worse,))
    second = merge_runs([better], [worse], all_trials=False)
    assert (second.runs, second.written, second.outdone) == ((better,), (), (worse,))


def test_d05_the_same_run_again_changes_nothing():
    """D05: nothing is written, unless another distiller writes it this time."""
    again = merge_runs([made()], [made()], all_trials=False)
    assert (again.written, again.unchanged) == ((), 1)
    other = merge_runs([made()], [made(distiller="model")], all_trials=False)
    assert (other.written, other.rewritten, other.unchanged) == ((made(distiller="model"),), 1, 0)


def test_an_answer_key_is_never_called_a_teachers():
    """The same run under both names: the oracle's copy counts, whichever comes first, and whoever writes."""
    teacher, oracle = made(), replace(made(), kind="oracle")
    put_right = merge_runs([teacher], [oracle], all_trials=False)
    assert (put_right.runs, put_right.written, put_right.rewritten) == ((oracle,), (oracle,), 1)
    stays = merge_runs([oracle], [replace(teacher, distiller="model")], all_trials=False)
    assert (stays.runs, stays.written, stays.unchanged) == ((oracle,), (), 1)


def test_all_trials_replace_nothing():
    """The unit is the run."""
    merged = merge_runs([made(sha="a")], [made(sha="b")], all_trials=True)
    assert len(merged.runs) == 2


def test_a_failure_does_not_replace_a_success():
    """They are different lessons."""
    merged = merge_runs([made(sha="a", calls=1)], [made(sha="b", success=False, calls=9)], all_trials=False)
    assert len(merged.runs) == 2


def test_a_task_is_of_one_family():
    """Two families for one task would hide it from nobody: refused, both named."""
    with pytest.raises(ConfigError, match=r"'t1'.*'f1'.*'f2'"):
        merge_runs([made(family="f1")], [made(sha="b", family="f2")], all_trials=False)


def record(name, task, sha):
    """A record of a run."""
    source = RecordSource("teacher", "r", "teacher", sha * 64, (1, 1))
    return Record(name, "workflow", name, {}, RecordTask("b", task, task, "0" * 64), source, "rules", "")


def test_records_follow_their_run():
    """A replaced run's records go as a set, an unchanged run's stay, a new run's come."""
    published = {"workflow": [record("old", "t1", "a"), record("stays", "t2", "c")]}
    merged = merge_runs([made("t1", "a", failed=1), made("t2", "c")], [made("t1", "b")], all_trials=False)
    found = merge_records(published, {"workflow": [record("new", "t1", "b"), record("stray", "t3", "d")]}, merged)
    assert [each.id for each in found["workflow"]] == ["stays", "new"]


def test_run_of_tells_what_orders_trials():
    """Calls and failed calls are counted, and who writes is kept."""
    kept = run_of(replace(run(0), turns=run(0).turns), ScriptedWriter({}, id="model", prompts="p"))
    assert (kept.calls, kept.failed_calls, kept.distiller, kept.prompts) == (9, 0, "model", "p")
    assert run_of(run(0), RULES).trajectory_sha256 == kept.trajectory_sha256 == run(0).sha256


def test_a_retry_writes_only_what_fell_back():
    """The tiers that a model could not write; the others keep its words, and an unchanged run without any is left."""
    fell, whole = replace(made("t1", distiller="m"), fallbacks=("subtask",)), made("t2", distiller="m")
    new = [replace(each, fallbacks=()) for each in (fell, whole)]
    merged = merge_runs([fell, whole], new, all_trials=False, retry_fallbacks=True)
    assert merged.retried == {fell.trajectory_sha256: ("subtask",)}
    assert (merged.written, merged.unchanged) == ((new[0],), 1)
    old = {tier: [record("old", "t1", "a")] for tier in ("workflow", "subtask")}
    new_records = {"workflow": [], "subtask": [record("new", "t1", "a")]}
    kept = merge_records(old, new_records, merged)
    assert {tier: [each.key for each in records] for tier, records in kept.items()} == {
        "workflow": ["old"],
        "subtask": ["new"],
    }
    assert merge_runs([fell, whole], new, all_trials=False).written == ()


def test_a_retry_calls_no_answer_key_a_teachers():
    """A copy under a teacher's name changes nothing, asked again or not."""
    oracle = replace(made(distiller="m"), kind="oracle", fallbacks=("subtask",))
    for retry in (False, True):
        merged = merge_runs([oracle], [replace(oracle, kind="teacher")], all_trials=False, retry_fallbacks=retry)
        assert (merged.runs, merged.written) == ((oracle,), ())
