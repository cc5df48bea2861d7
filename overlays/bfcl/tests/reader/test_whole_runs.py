"""Runs against the benchmark's own tasks: as many turns, the task's own words, and calls without end."""

from __future__ import annotations

import pytest
from result_lines import Said, ids, items, line, runs, scored, write_results

from amd.build import admit
from amd.traces import Note, Refusal
from amd_bfcl.families import Category
from amd_bfcl.reading import Benchmark
from amd_bfcl.tasks import entry, tasks


def _whole_turns(task_id, package, *, words_of=None, before=""):
    """As many turns as the task has; they may begin with the words of another one."""
    first = before + entry(words_of or task_id, package).users[0]
    users = [first, *entry(task_id, package).users[1:]]
    return [(words or "Here is more.", [Said("Done.")]) for words in users]


def _whole(task_id, package, **words):
    """A line of these turns."""
    return line(task_id, _whole_turns(task_id, package, **words))


@pytest.mark.parametrize("rest", ["log", "no log"])
@pytest.mark.parametrize("turns", [0, 1, 3, 4])
def test_a_run_that_ended_early_is_no_success(tmp_path, package, turns, rest):
    """The evaluator never scores it as right, so a score file that has it among the successes is of other lines."""
    value = _whole("multi_turn_base_0", package)
    value |= {"result": value["result"][:turns], "inference_log": value["inference_log"][: 1 + 2 * turns]}
    if rest == "no log":
        del value["inference_log"]
    path = scored(tmp_path, [value, _whole("multi_turn_base_1", package)])
    gate = admit(items(path))
    assert [run.task.task_id for run in gate.admitted] == ids(*([0] if turns == 4 else []), 1)
    assert gate.refused == ({} if turns == 4 else {"failed": 1})
    assert all(f"after {turns} of 4 turns" in refusal.detail for refusal in gate.refusals)


@pytest.mark.parametrize("before", ["", "You are an expert. Tools: ...\n\n", "\n  "])
@pytest.mark.parametrize("category", ["multi_turn_base", "multi_turn_miss_param"])
def test_a_run_under_another_familys_name_is_refused(tmp_path, package, category, before):
    """Its memory would be shown to its own task; a twin, a variant and the own words are taken (the control)."""
    own, other = f"{category}_1", f"{category}_7"
    path = write_results(tmp_path / "other", [_whole(own, package, words_of=other, before=before)], category)
    (refusal,) = [item for item in items(path) if not isinstance(item, Note)]
    assert (refusal.reason, refusal.task_id) == ("unreadable", own)
    assert "'multi_turn_7', and is said to be of 'multi_turn_1'" in refusal.detail
    for words_of in (own, "multi_turn_base_1", "multi_turn_long_context_1"):
        path = write_results(tmp_path / words_of, [_whole(own, package, words_of=words_of, before=before)], category)
        assert [run.task.task_id for run in runs(path)] == [own]
    twin = _whole("multi_turn_base_43", package, words_of="multi_turn_base_40", before=before)
    assert [run.task.family for run in runs(write_results(tmp_path / "twin", [twin]))] == ["multi_turn_40"]


def test_every_task_may_say_its_own_words(package):
    """All 800: no family is taken for another one by what it says."""
    known = Benchmark()
    for name in Category:
        for task in tasks(name, package):
            said = known.families_that_say(f"Tools: ...\n\n{task.instruction}\n")
            assert said == {task.family}
    assert known.families_that_say("Tidy the invented folder.") == frozenset()


def test_without_the_benchmark_nobody_knows_whose_words_they_are(alone):
    """No family is said to have them."""
    assert Benchmark().families_that_say("Tidy the invented folder.") == frozenset()


@pytest.mark.parametrize(
    "call_text",
    [
        "[" + "a." * 2000 + "b(x=1)]",
        "[f(x=a" + "[1]" * 1500 + ")]",
        "[f(x=a" + "()" * 1500 + ")]",
        "[f(x=" + "[" * 190 + "]" * 190 + ")]",
        "[ls(a=0x" + "F" * 5000 + ")]",
    ],
)
def test_a_call_that_is_nested_or_large_without_end_costs_itself_alone(tmp_path, package, call_text):
    """Logged or replayed: a run or a refusal, nothing raised, and the line beside it is read."""
    logged = line("multi_turn_base_3", style="prompting")
    logged["inference_log"][1]["step_0"][0]["content"] = call_text
    decoded = line("multi_turn_base_1", _whole_turns("multi_turn_base_1", package))
    decoded["inference_log"][1]["step_0"][1]["model_response_decoded"] = [call_text[1:-1]]
    decoded["inference_log"][1]["step_0"].append({"role": "tool", "content": "{}"})
    replayed = {"id": "multi_turn_base_0", "result": [[call_text, "Done."]] + [["Done."]] * 3}
    keyed = {"id": "multi_turn_base_7", "result": [[[{"ls": {f"a={call_text[1:-1]}, b": 1}}], "Done."]] + [["x"]] * 2}
    path = write_results(tmp_path, [logged, decoded, replayed, keyed, _whole("multi_turn_base_2", package)])
    found = [item for item in items(path) if not isinstance(item, Note)]
    assert len(found) == 5
    assert found[-1].task.task_id == "multi_turn_base_2"
    assert {item.reason for item in found if isinstance(item, Refusal)} <= {"unreadable"}
