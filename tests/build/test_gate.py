"""The gate: admitted + refused = read, unscored is not successful, and the order of reading changes nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.build.gate import REASONS, Gate, admit, run_order, trial_order
from amd.errors import ConfigError, TrajectoryError
from amd.exclusion import Split
from amd.testing import openai_chat, run
from amd.traces import Item, Note, Outcome, Refusal, Step, Trajectory, Turn, load_reader, reader_options


def trial(i: int, number: int, *, calls: int = 3, failed: int = 0, **outcome: Any) -> Trajectory:
    """A run of task ``i`` with so many calls, of which the first ones failed."""
    made = run(i, turns=1, calls=calls, observe=lambda _, step: '{"error":"no"}' if step < failed else f"ok {number}")
    success = outcome.get("success", True)
    return replace(
        made,
        outcome=Outcome(success, None if success is None else float(success)),
        source=_source(made, f"trial-{number}"),
    )


def _source(made: Trajectory, run_id: str, **members: Any) -> Any:
    return replace(made.source, run_id=run_id, **members)


def run_ids(gate: Gate) -> list[str]:
    """Who was admitted."""
    return [made.source.run_id for made in gate.admitted]


@st.composite
def runs(draw: st.DrawFn) -> Trajectory:
    """A run of one of three tasks, often enough equal to another one but for its source."""
    calls = draw(st.integers(0, 2))
    made = trial(
        draw(st.integers(0, 2)),
        draw(st.integers(0, 1)),
        calls=calls,
        failed=draw(st.integers(0, calls)),
        success=draw(st.sampled_from([True, True, False, None])),
    )
    return replace(
        made,
        source=replace(
            made.source,
            run_id=draw(st.sampled_from(["r1", "r2"])),
            kind=draw(st.sampled_from(["teacher", "oracle", "student"])),
            memory_assisted=draw(st.sampled_from([False, False, None, True])),
        ),
    )


ITEMS: st.SearchStrategy[list[Item]] = st.lists(
    runs()
    | st.builds(Refusal, st.sampled_from(REASONS), st.just("runs.jsonl:1"))
    | st.builds(Note, st.sampled_from(["a", "b"]), st.integers(1, 3)),
    max_size=12,
)
FLAGS = st.fixed_dictionaries(
    {name: st.booleans() for name in ("all_trials", "assume_unassisted", "include_failures")}
    | {"split": st.sampled_from([None, Split("made-up", frozenset({"multi_turn_0", "multi_turn_1"}), frozenset())])}
)


@given(ITEMS, FLAGS)
def test_admitted_and_refused_are_what_was_read(items: list[Item], flags: dict[str, Any]) -> None:
    """Nothing is lost, nothing is counted twice, and notes are counted apart."""
    gate = admit(items, **flags)
    runs = [item for item in items if not isinstance(item, Note)]
    assert len(gate.admitted) + len(gate.refusals) == gate.read == len(runs)
    assert sum(gate.refused.values()) == len(gate.refusals)
    assert set(gate.refused) <= set(REASONS)
    for name in ("a", "b"):
        assert gate.notes.get(name, 0) == sum(n.count for n in items if isinstance(n, Note) and n.name == name)


@given(ITEMS, FLAGS, st.randoms())
def test_the_order_of_reading_changes_nothing(items: list[Item], flags: dict[str, Any], random: Any) -> None:
    """Any order admits the same runs and counts the same reasons."""
    shuffled = list(items)
    random.shuffle(shuffled)
    first, second = admit(items, **flags), admit(shuffled, **flags)
    assert first.admitted == second.admitted
    assert (first.refused, first.notes) == (second.refused, second.notes)
    assert Counter(first.refusals) == Counter(second.refusals)


@given(ITEMS, FLAGS)
def test_admitted_again_is_admitted(items: list[Item], flags: dict[str, Any]) -> None:
    """The gate lets through what it let through."""
    gate = admit(items, **flags)
    assert admit(gate.admitted, **flags).admitted == gate.admitted


@given(ITEMS)
def test_nothing_but_success_by_default(items: list[Item]) -> None:
    """One successful, unassisted run for each task at most."""
    gate = admit(items)
    assert all(made.outcome.success is True and made.source.memory_assisted is False for made in gate.admitted)
    tasks = [made.task.task_id for made in gate.admitted]
    assert len(tasks) == len(set(tasks))
    good = {
        item.task.task_id
        for item in items
        if isinstance(item, Trajectory) and item.outcome.success and item.source.memory_assisted is False
    }
    assert set(tasks) == good


def _read(folder: Path, name: str, entries: Iterable[object]) -> list[Item]:
    """The items of an ``openai-chat`` file."""
    path = folder / name
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    reader = load_reader("openai-chat")
    return list(reader.read([path], reader_options(reader, {})))


def test_d02_no_score_is_no_success(tmp_path: Path) -> None:
    """D02: a run full of errors that nobody scored is refused with its reason; the scored one is admitted."""
    broken = run(0, success=None, observe=lambda *_: '{"error":"No such directory"}')
    gate = admit(_read(tmp_path, "runs.jsonl", [openai_chat(broken), openai_chat(run(1))]))
    assert [made.task.task_id for made in gate.admitted] == ["multi_turn_base_1"]
    [refusal] = gate.refusals
    assert (refusal.reason, refusal.task_id) == ("unscored", "multi_turn_base_0")
    assert refusal.where == f"{tmp_path / 'runs.jsonl'} (runs:1)"


def test_d02b_one_scored_file_and_one_that_nobody_scored(tmp_path: Path) -> None:
    """D02b: two failed and two succeeded in the first file; the second has no scores, so none of its runs counts."""
    first = [openai_chat(run(i, success=i > 1)) for i in range(4)]
    second = [openai_chat(run(i)) for i in range(4, 8)]
    for entry in second:
        del entry["score"]
    gate = admit([*_read(tmp_path, "a.jsonl", first), *_read(tmp_path, "b.jsonl", second)])
    assert [made.task.task_id for made in gate.admitted] == ["multi_turn_base_2", "multi_turn_base_3"]
    assert gate.refused == {"failed": 2, "unscored": 4}
    assert all("b.jsonl" in refusal.where for refusal in gate.refusals if refusal.reason == "unscored")


def test_the_best_trial_counts() -> None:
    """With calls before without, then fewest failed calls, then fewest calls, then the smaller hash."""
    without = trial(0, 1, calls=0)
    few_errors, many_calls = trial(0, 2, calls=3, failed=1), trial(0, 3, calls=9)
    few_calls = trial(0, 4, calls=2)
    twin = trial(0, 5, calls=2)
    worst_first = [without, few_errors, many_calls]
    for end in range(1, 4):
        assert admit(worst_first[:end]).admitted == (worst_first[end - 1],)
    best = min(few_calls, twin, key=lambda made: made.sha256)
    gate = admit([few_calls, *worst_first, twin])
    assert gate.admitted == (best,)
    assert gate.refused == {"worse_trial": 4}
    assert all(f"({best.source.run_id}) is better" in refusal.detail for refusal in gate.refusals)


def test_trial_order_has_two_forms() -> None:
    """A memory, which keeps only figures of a run, sorts as the gate does."""
    runs = [
        trial(0, n, calls=calls, failed=failed) for n, (calls, failed) in enumerate([(3, 1), (0, 0), (2, 0), (9, 0)])
    ]
    figures = [run_order(len(made.calls), sum(not call.ok for call in made.calls), made.sha256) for made in runs]
    assert [trial_order(made) for made in runs] == figures
    assert [made.source.run_id for made in sorted(runs, key=trial_order)] == [
        "trial-2",
        "trial-3",
        "trial-0",
        "trial-1",
    ]


def test_all_trials_keeps_all_different_ones() -> None:
    """``all_trials`` keeps each successful run, but no run twice."""
    runs = [trial(0, 1), trial(0, 2), trial(0, 3, success=False)]
    copy = replace(runs[0], source=_source(runs[0], "copy", path="elsewhere.jsonl"))
    gate = admit([*runs, copy], all_trials=True)
    assert len(gate.admitted) == 2
    assert gate.refused == {"duplicate": 1, "failed": 1}


def test_duplicates_are_named() -> None:
    """The same run from two files counts once, whichever is read first."""
    made = trial(0, 1)
    copy = replace(made, source=_source(made, "trial-1", path="copy.json"))
    for items in ([made, copy], [copy, made]):
        gate = admit(items)
        assert [one.source.path for one in gate.admitted] == ["copy.json"]
        [refusal] = gate.refusals
        assert refusal.reason == "duplicate"
        assert refusal.detail == "the same as copy.json (trial-1)"


def test_a_copied_answer_key_is_called_an_answer_key() -> None:
    """Of two equal runs the oracle's stays, so that nothing of it is called a teacher's."""
    made = trial(0, 1)
    oracle = replace(made, source=_source(made, "x", kind="oracle"))
    assert [one.source.kind for one in admit([made, oracle]).admitted] == ["oracle"]


@pytest.mark.parametrize(
    ("assisted", "assume", "admitted"),
    [
        (False, False, True),
        (None, False, False),
        (None, True, True),
        (True, False, False),
        (True, True, False),
    ],
)
def test_memory_assisted(assisted: bool | None, assume: bool, admitted: bool) -> None:
    """A run that had memory is refused always, one of which it is unknown unless somebody vouches for it."""
    made = run(0)
    made = replace(made, source=_source(made, "r", memory_assisted=assisted))
    gate = admit([made], assume_unassisted=assume)
    assert bool(gate.admitted) is admitted
    assert gate.refused == ({} if admitted else {"memory_assisted": 1})


@pytest.mark.parametrize("kind", ["teacher", "oracle", "student"])
def test_every_kind_may_teach(kind: Any) -> None:
    """A student's own successes are learnt from as well; the kind stays with the run."""
    made = run(0)
    gate = admit([replace(made, source=_source(made, "r", kind=kind))])
    assert [one.source.kind for one in gate.admitted] == [kind]


def test_held_out() -> None:
    """With a split only train families pass; a family on neither side is not train."""
    split = Split("made-up", train=frozenset({"multi_turn_0"}), test=frozenset({"multi_turn_1"}))
    gate = admit([run(0), run(1), run(2)], split=split)
    assert [made.task.family for made in gate.admitted] == ["multi_turn_0"]
    assert [(refusal.reason, refusal.task_id) for refusal in gate.refusals] == [
        ("held_out", "multi_turn_base_1"),
        ("held_out", "multi_turn_base_2"),
    ]
    with pytest.raises(ConfigError, match=r"the split is for 'made-up', the run in .* is of 'other'"):
        admit([run(0, benchmark="other")], split=split)


def test_no_call_is_a_note() -> None:
    """A run without a call is admitted and counted."""
    gate = admit([replace(run(0), turns=(Turn("Hi.", (Step("Hello."),)),)), run(1)])
    assert len(gate.admitted) == 2
    assert gate.notes == {"no_call": 1}


def test_failures_where_a_tier_accepts_them() -> None:
    """With ``include_failures`` the best failure of a task stands beside its best success, marked and counted."""
    runs = [trial(0, 1), trial(0, 2, calls=9), trial(0, 3, success=False), trial(0, 4, success=False, calls=9)]
    unscored = trial(0, 5, success=None)
    gate = admit([*runs, unscored], include_failures=True)
    assert [(made.source.run_id, made.outcome.success) for made in gate.admitted] == [
        ("trial-3", False),
        ("trial-1", True),
    ]
    assert gate.refused == {"unscored": 1, "worse_trial": 2}
    assert gate.notes == {"failure": 1}


def test_a_task_of_two_families_stops_everything() -> None:
    """Exclusion works on families, so a contradiction is an error that names both; failed runs count too."""
    one = run(0)
    other = replace(run(0, success=False), task=replace(one.task, family="another"))
    with pytest.raises(TrajectoryError, match=r"'multi_turn_base_0'.*'multi_turn_0'.*'another'") as caught:
        admit([one, other])
    assert caught.value.fields["families"] == ("multi_turn_0", "another")
    elsewhere = replace(other, task=replace(other.task, benchmark="other"))
    assert admit([one, elsewhere]).read == 2, "control: ids of two benchmarks are two tasks"


def test_refusals_of_readers_keep_place_and_detail() -> None:
    """What a reader refused is counted by its reason and kept as it is."""
    quit_ = Refusal("forced_quit", "result.json:7", "step limit", "t7")
    gate = admit([quit_, run(0), Refusal("score_mismatch", "score.json:1")])
    assert gate.refusals[0] is quit_
    assert gate.refused == {"forced_quit": 1, "score_mismatch": 1}
    assert gate.read == 3


def test_a_run_that_the_service_broke_is_counted_apart() -> None:
    """``inference_error`` is a reader's word: neither a failure of the agent nor a run that nobody scored."""
    assert "inference_error" in REASONS
    gate = admit([run(0), run(1, success=False), Refusal("inference_error", "result.json:3", "timed out", "t3")])
    assert gate.refused == {"failed": 1, "inference_error": 1}
    assert (len(gate.admitted), gate.read) == (1, 3)


def test_made_up_runs() -> None:
    """The figures of the made-up runs: the repaired run of the first task gives way to the one without an error."""
    path = Path(__file__).parents[1] / "trajectories" / "library-desk.jsonl"
    reader = load_reader("openai-chat")
    gate = admit(reader.read([path], reader_options(reader, {})))
    assert run_ids(gate) == ["library-desk:0:2", "library-desk:1:0", "library-desk:2:0"]
    assert gate.refused == {"failed": 2, "unreadable": 2, "unscored": 1, "worse_trial": 1}
    assert gate.notes == {"no_call": 1}
