"""One item for each line of a result file: a run, or a refusal with its reason."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from result_lines import (
    LOOK,
    TURNS,
    Said,
    call,
    failed_line,
    ids,
    items,
    line,
    query,
    refused,
    run_log,
    runs,
    score_lines,
    score_of,
    scored,
    write_lines,
    write_results,
)

from amd import prepend_memory
from amd.build import admit
from amd.build.gate import REASONS
from amd.inject import Block, build_block
from amd.traces import Note
from amd_bfcl.tasks import entry


def test_the_last_line_of_an_id_counts(tmp_path, alone):
    """Writing appends; earlier lines are duplicates, in an array on one line too."""
    again = line("multi_turn_base_0", [("Only this.", [Said("Done.")])])
    path = scored(tmp_path, [line("multi_turn_base_0"), line("multi_turn_base_1"), again])
    assert refused(tmp_path) == [(1, "duplicate")]
    assert [run.task.instruction for run in runs(tmp_path)] == ["Tidy the invented folder.", "Only this."]
    path.write_text(json.dumps([line("multi_turn_base_0"), again]), encoding="utf-8")
    write_lines(score_of(path), score_lines(1, []))
    assert [run.task.instruction for run in runs(tmp_path)] == ["Only this."]


def test_a_task_whose_lines_differ_is_unscored(tmp_path, alone):
    """The evaluator takes a task once, and nobody knows which line it saw; what does not differ keeps its score."""
    other = line("multi_turn_base_0", [("Only this.", [Said("Done.")])])
    same = [line("multi_turn_base_0"), line("multi_turn_base_1")]
    for name, lines, outcomes in (
        ("equal", [same[0], *same], [True, True]),
        ("other answer", [other, *same], [None, True]),
        ("there and back", [same[0], other, *same], [None, True]),
        ("error first", [failed_line("multi_turn_base_0"), *same], [None, True]),
    ):
        scored(tmp_path / name, lines)
        assert [run.outcome.success for run in runs(tmp_path / name)] == outcomes, name
        gate = admit(items(tmp_path / name))
        assert gate.refused.get("unscored", 0) == outcomes.count(None), name
    scored(tmp_path / "failed", [other, *same], failed=ids(0))
    assert [run.outcome.success for run in runs(tmp_path / "failed")] == [False, True]


def test_an_inference_error_is_counted_and_scored(tmp_path, alone):
    """Its line is one of the ids that the score file counts, and the rest is read."""
    scored(tmp_path, [failed_line("multi_turn_base_0"), line("multi_turn_base_1")], failed=ids(0))
    assert refused(tmp_path) == [(1, "inference_error")]
    assert [run.outcome.success for run in runs(tmp_path)] == [True]


def test_a_forced_end_in_the_last_turn_is_refused_though_it_is_scored_as_right(tmp_path, alone):
    """The evaluator does not see it there; twenty steps and words are admitted."""
    loop = [TURNS[0], ("Now show it.", [call(LOOK)] * 21)]
    fine = [TURNS[0], ("Now show it.", [*[call(LOOK)] * 20, Said("Done.")])]
    scored(tmp_path, [line("multi_turn_base_0", loop), line("multi_turn_base_1", fine)])
    gate = admit(items(tmp_path))
    assert gate.refused == {"forced_quit": 1}
    assert [run.task.task_id for run in gate.admitted] == ["multi_turn_base_1"]


def test_a_torn_line_costs_itself_alone(tmp_path, alone):
    """D22c: reported with file and line, the readable run is built."""
    path = scored(tmp_path, [line("multi_turn_base_0"), '{"id": "multi_tu'], total=2)
    gate = admit(items(tmp_path))
    assert [(r.reason, r.where) for r in gate.refusals] == [("unreadable", f"{path}:2")]
    assert len(gate.admitted) == 1


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"id": 5}, "no id"),
        ({"id": ""}, "no id"),
        ({"result": None}, "neither a text nor a list"),
        ({"result": [["x"], "y"]}, "neither a text nor a list"),
        ({"result": [["x"]]}, "steps"),
        ({"inference_log": "gone"}, "no list"),
        ({"inference_log": None}, "pip install"),
        ({"inference_log": [[]]}, "pip install"),
    ],
)
def test_a_line_of_another_shape_is_unreadable(tmp_path, alone, more, why):
    """With what is wrong; the line beside it is read."""
    bad = line("multi_turn_base_0", **{name: value for name, value in more.items() if name != "id"})
    path = write_results(tmp_path, [bad | more, line("multi_turn_base_1")])
    note, refusal, run = items(path)
    assert note == Note("read_without_the_benchmark", 1 if "id" in more else 2)
    assert (refusal.reason, run.task.task_id) == ("unreadable", "multi_turn_base_1")
    assert why in refusal.detail


@pytest.mark.parametrize("task_id", ["multi_turn_base_200", "simple_python_3", "multi_turn_composite_1"])
def test_an_id_without_a_family_is_never_taken(tmp_path, alone, task_id):
    """Nobody knows whom it shares an answer with: unscored, or unreadable where it was scored."""
    path = write_results(tmp_path, [line(task_id)], category=task_id.rpartition("_")[0])
    assert refused(path) == [(1, "unscored")]
    write_lines(score_of(path), score_lines(1, [], category=task_id.rpartition("_")[0]))
    assert refused(path) == [(1, "unreadable")]


def test_a_run_needs_words_of_the_user(tmp_path, alone):
    """Without them there is no instruction to exclude by; null content in a later turn is no fault (D22d)."""
    silent = [(None, [Said("Hello?")]), *TURNS]
    later = [*TURNS, (None, [Said("Hello?")])]
    path = write_results(tmp_path, [line("multi_turn_base_0", silent), line("multi_turn_base_1", later)])
    assert refused(path) == [(1, "unreadable")]
    assert [turn.user for turn in runs(path)[0].turns][-1] is None


def test_memory_is_told_by_text_by_the_key_and_by_the_run_directory(tmp_path, alone):
    """Text of ours proves it; our key says it; ours without the key, or with a broken one, is unknown."""
    shown = line("multi_turn_base_0")
    block = Block(build_block([("Strategies:", ["Look first."])]))
    shown["inference_log"][1]["begin_of_turn_query"] = prepend_memory(query("Tidy."), block)
    lines = [
        shown | {"amd": run_log("multi_turn_base_0")},
        line("multi_turn_base_1", amd=run_log("multi_turn_base_1", method="none", memory=None)),
        line("multi_turn_base_2", amd=run_log("multi_turn_base_2", hints=1)),
        line("multi_turn_base_3", amd=run_log("multi_turn_base_1")),
        line("multi_turn_base_4", amd=[{"kind": "static"}]),
        line("multi_turn_base_5"),
    ]
    path = write_results(tmp_path, lines)
    told = [True, False, True, None, None]
    assert [run.source.memory_assisted for run in runs(path)] == [*told, False]
    assert [run.source.memory_assisted for run in runs(path, kind="student")] == [*told, None]
    write_lines(tmp_path / "amd-run.json", ["{}"])
    assert [run.source.memory_assisted for run in runs(path)] == [*told, None]
    assert runs(path)[0].task.instruction == "Tidy."


def test_every_reason_is_one_of_the_gates(tmp_path, alone):
    """And admitted + refused = read."""
    loop = [("Loop.", [call(LOOK)] * 21)]
    lines = [
        line("multi_turn_base_0"),
        failed_line("multi_turn_base_1"),
        line("multi_turn_base_2", loop),
        "{",
        line("x_1"),
    ]
    path = write_results(tmp_path, [*lines, line("multi_turn_base_0")])
    gate = admit(items(path))
    assert gate.read == 6
    assert set(gate.refused) <= set(REASONS)
    assert gate.refused == {"duplicate": 1, "forced_quit": 1, "inference_error": 1, "unreadable": 1, "unscored": 2}


def test_counts_that_are_no_refusal(tmp_path, alone):
    """Undecoded steps (D22), failed calls that cannot be parsed, and files of other categories."""
    broken = line("multi_turn_base_0", [("Go.", [Said("x")])], result=[[[{"cd": '["a", "b"]'}]]])
    broken["inference_log"][1]["step_0"][0]["content"] = [{"cd": '["a", "b"]'}]
    wrong = line("multi_turn_base_1", [("Go.", [call(("cd x", {}, "Error during execution: no")), Said("x")])])
    write_results(tmp_path, [broken, wrong])
    write_results(tmp_path, [], category="simple_python")
    notes = Counter({item.name: item.count for item in items(tmp_path) if isinstance(item, Note)})
    assert notes == {
        "undecoded_step": 1,
        "unparsable_call": 1,
        "files_of_other_categories": 1,
        "read_without_the_benchmark": 2,
    }
    assert runs(tmp_path)[0].turns[0].steps[0].calls == ()


# What follows asks the installed benchmark.


def test_tools_and_own_words_come_from_the_benchmark(tmp_path, package):
    """All tools of the task; a hold-out turn is silent; the harness's system prompt is no word of the user's."""
    known = entry("multi_turn_miss_func_0", package)
    silent = known.users.index(None)
    turns = [(words or "Here is another tool.", [Said("Done.")]) for words in known.users]
    turns[0] = (f"You are an expert. Tools: ...\n\n{known.users[0]}", turns[0][1])
    (run,) = runs(write_results(tmp_path, [line("multi_turn_miss_func_0", turns)], "multi_turn_miss_func"))
    assert run.tools == known.all_tools
    assert [turn.user for turn in run.turns] == list(known.users)
    assert run.turns[silent].user is None
    assert run.task == known.task


def test_without_the_benchmark_the_words_stay(tmp_path, alone):
    """Nobody can tell whose they are; positive control of the test above."""
    turns = [TURNS[0], ("Here is another tool.", [Said("Done.")])]
    (run,) = runs(write_results(tmp_path, [line("multi_turn_miss_func_0", turns)], "multi_turn_miss_func"))
    assert run.turns[1].user == "Here is another tool."


def test_other_words_than_the_task_are_counted(tmp_path, package):
    """Results of an older version; the words that the agent saw are kept."""
    found = items(write_results(tmp_path, [line("multi_turn_base_3")]))
    assert [item for item in found if isinstance(item, Note)] == [Note("other_words_than_the_task")]
    assert found[-1].task.instruction == "Tidy the invented folder."


@pytest.mark.parametrize("log", [None, [], [[{"role": "state_info"}]]])
@pytest.mark.parametrize("style", ["fc", "prompting"])
def test_a_missing_log_is_rebuilt(tmp_path, package, log, style):
    """Absent, empty or stripped: the calls are replayed, and the run says what a logged one says."""
    words, *others = entry("multi_turn_base_0", package).users
    steps = [call(("cd", {"folder": "document"}, '{"current_working_directory": "document"}')), Said("Done.")]
    turns = [(words, steps), *((other, [Said("Nothing.")]) for other in others)]
    logged = line("multi_turn_base_0", turns, style)
    (expected,) = runs(write_results(tmp_path / "a", [logged]))
    bare = {name: value for name, value in logged.items() if name != "inference_log"}
    found = items(write_results(tmp_path / "b", [bare if log is None else bare | {"inference_log": log}]))
    assert found[0] == Note("replayed")
    assert found[1].sha256 == expected.sha256
