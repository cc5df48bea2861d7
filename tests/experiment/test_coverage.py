"""Evaluation without a student: what is covered, by whom it may be, and more than by chance."""

from __future__ import annotations

from dataclasses import replace
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amd
from amd.errors import ConfigError, LeakageError
from amd.evaluate.estimates import Interval
from amd.exclusion import Split
from amd.experiment.coverage import coverage, recorded, viewer_of
from amd.methods import method_named
from amd.testing import StubEmbedder, run
from amd.trajectory import Step, ToolCall, Turn


def call(name, ok=True, **arguments):
    """A call of a tool."""
    return ToolCall(name, arguments, "fine" if ok else "Error: no", ok)


ASKED = "Move the annual report, then count the words of the summary"
OWN = [call("mv", source="a", destination="b"), call("wc", file_name="a"), call("cd", folder="x")]


def of(*runs, **options):
    """These runs as those to evaluate on, and for their errors."""
    return recorded(runs, runs, **options)


def test_a_call_is_covered_by_what_is_shown(made, remember):
    """Counted by hand: three of four tools are shown, two of them with all of the arguments that this run wrote."""
    memory = remember([made(1, [(ASKED, OWN)])])
    needs = [call("mv", source="r", destination="s"), call("wc", file_name="r", mode="l"), call("cd", folder="f")]
    asking = made(2, [(f"{ASKED} today", [*needs, call("ls"), call("pwd", ok=False)])])
    (task,) = coverage(of(asking), memory, method="subtask", protocol="self-excluded").tasks
    assert (task.calls, task.tools, task.arguments) == (4, 3 / 4, 2 / 4)
    assert (task.repeat.calls, task.repeat.tools, task.repeat.arguments, task.repeat.whole) == (3, 3, 2, 0)
    assert (task.records, task.own_family) == (1, 0)
    assert task.tokens > 0


def test_a_workflow_names_tools_and_shows_no_call(made, remember):
    """Prose covers a tool, never its arguments, and there is nothing to repeat."""
    memory = remember([made(1, [(ASKED, OWN)])])
    row = coverage(of(made(2, [(ASKED + " today", OWN)])), memory, method="workflow", protocol="self-excluded")
    assert (row.tasks[0].tools, row.tasks[0].arguments, row.tasks[0].repeat.calls) == (1.0, 0.0, 0)
    assert row.figures().precision[0] is None
    assert row.figures().recall[0].value == 0.0


def test_in_sample_sees_itself_and_says_so(made, remember):
    """With nothing but its own run, a task is shown it in-sample, and nothing self-excluded."""
    asking = made(1, [(ASKED, OWN)])
    memory = remember([asking])
    own = coverage(of(asking), memory, method="amd", protocol="in-sample", draws=2)
    assert (own.label, own.figures().own_family, own.tasks[0].arguments) == ("IN-SAMPLE", 2, 1.0)
    assert [task.arguments for task in own.random] == [1.0, 1.0]  # there is but one record to draw
    excluded = coverage(of(asking), memory, method="amd", protocol="self-excluded", draws=2)
    assert (excluded.label, excluded.figures().nothing_shown) == ("self-excluded", 1)
    assert [(task.records, task.arguments, task.tokens) for task in (*excluded.tasks, *excluded.random)] == [
        (0, 0.0, 0)
    ] * 3


NAMES = st.sampled_from(["mv", "wc", "cd", "post_tweet", "find", "get_user"])
ARGUMENTS = st.dictionaries(
    st.sampled_from(["source", "folder", "count", "content", "flag"]),
    st.booleans() | st.integers(0, 5000) | st.text("abc <>{}\"'", max_size=12),
    max_size=4,
)
CALLS = st.lists(st.builds(lambda name, given: call(name, **given), NAMES, ARGUMENTS), min_size=1, max_size=11)


@settings(max_examples=30, deadline=None)
@given(CALLS, st.sampled_from([0, 40, 100, 10_000]))
def test_its_own_run_covers_a_task_up_to_the_budget(made, calls, limit):
    """A law: in-sample, a memory of its own run alone covers all calls of a task that a part shows, if it fits."""
    asking = made(1, [(ASKED, calls)])
    with TemporaryDirectory() as folder:
        options = amd.Options(floors={"workflow": 0.0, "subtask": 0.0})
        amd.build_memory([asking], folder, embedder=StubEmbedder(), options=options)
        with amd.open_memory(folder, embedder=StubEmbedder()) as memory:
            row = coverage(
                of(asking), memory, method="subtask", protocol="in-sample", limits=amd.Limits(subtask=limit), draws=1
            )
    (task,) = row.tasks
    assert task.tokens <= limit
    if limit == 10_000:
        assert task.arguments >= min(8, len(calls)) / len(calls)
        assert task.repeat.arguments == task.repeat.calls == min(8, len(calls))
    for each in (*row.tasks, *row.random):
        assert 0 <= each.arguments <= each.tools <= 1
        assert each.repeat.whole <= each.repeat.arguments <= each.repeat.tools <= min(each.repeat.calls, each.calls)


def test_retrieval_beats_chance_where_it_should(made, remember):
    """Ten kinds of tasks, two families each: the twin has the right tools, a random record mostly has not."""
    kinds = [f"kind{at} about subject{at}" for at in range(10)]
    runs = [
        made(2 * at + twin, [(f"{kind} please number {twin}", [call(f"tool_{at}", value=twin)])])
        for at, kind in enumerate(kinds)
        for twin in (0, 1)
    ]
    figures = coverage(of(*runs), remember(runs), method="subtask", protocol="self-excluded", draws=5, seed=1).figures()
    assert figures.arguments.value >= 0.9
    assert 0 < figures.random_arguments.value < 0.2  # one of nineteen
    assert figures.arguments_over_random.low > 0.7
    assert figures.tools_over_random.low > 0.7


def test_a_memory_of_the_same_is_no_better_than_chance(made, remember):
    """Control: where all records are alike, nothing stands over random ones."""
    runs = [made(at, [(f"task number {at}", OWN)]) for at in range(12)]
    figures = coverage(of(*runs), remember(runs), method="subtask", protocol="self-excluded", draws=3).figures()
    assert figures.arguments_over_random == Interval(0.0, None, None)


def test_per_token_is_calls_over_tokens(made, remember):
    """A ratio of sums: covered calls for each hundred tokens that were shown."""
    runs = [made(at, [(f"{ASKED} {at}", OWN)]) for at in range(3)]
    row = coverage(of(*runs), remember(runs), method="subtask", protocol="self-excluded")
    covered = sum(task.arguments * task.calls for task in row.tasks)
    assert row.figures().arguments_per_tokens.value == pytest.approx(
        100 * covered / sum(task.tokens for task in row.tasks)
    )


def test_turn_by_turn_a_call_is_covered_by_what_was_said_before_it(made, remember):
    """In the mode dynamic the second turn's memory does not cover the first turn's calls; static never sees it."""
    first, second = (
        ("alpha beta gamma delta epsilon", [call("mv", source="a")]),
        ("zeta eta theta iota kappa", [call("wc", words=1)]),
    )
    memory = remember([made(1, [(f"{first[0]} one", first[1])]), made(2, [(f"{second[0]} two", second[1])])])
    there = made(3, [first, second])
    swapped = made(4, [(first[0], second[1]), (second[0], first[1])])
    for asking, dynamic, static in ((there, 1.0, 0.5), (swapped, 0.5, 0.5)):
        found = {
            mode: coverage(of(asking), memory, method="subtask", protocol="self-excluded", mode=mode).tasks[0].arguments
            for mode in ("static", "dynamic", "replace")
        }
        assert (found["static"], found["dynamic"]) == (static, dynamic)
        assert found["replace"] == (1.0 if asking is there else 0.0)


@pytest.mark.parametrize("mode", ["dynamic", "replace"])
def test_a_call_of_a_later_turn_is_not_repeated_for_an_earlier_one(made, remember, mode):
    """What is shown before the third turn is matched with that turn's calls alone; where they stand, they count."""
    said = ("alpha beta gamma delta epsilon", "zeta eta theta iota kappa", "lambda mu nu xi omicron")
    mv, wc, cd = [call("mv", source="a")], [call("wc", words=1)], [call("cd", folder="x")]
    memory = remember([made(at, [(f"{said[at]} one", calls)]) for at, calls in enumerate((wc, cd, mv))])
    there = made(7, [*zip(said, (wc, cd, mv), strict=True)])
    swapped = made(8, [*zip(said, (mv, wc, cd), strict=True)])
    found = [
        coverage(of(asking), memory, method="subtask", protocol="self-excluded", mode=mode).tasks[0].repeat
        for asking in (there, swapped)
    ]
    assert [(each.calls, each.tools, each.arguments) for each in found] == [(3, 3, 3), (3, 0, 0)]
    assert [each.whole for each in found] == [1, 0]  # of the three values masking keeps the small number


def test_what_is_shown_before_the_task_is_repeated_for_the_whole_run(made, remember):
    """In the mode static, whichever turn has the call; in dynamic too, by a tier that is asked before the task."""
    calls = [call("mv", source="a"), call("wc", words=1)]
    asking = made(2, [(f"{ASKED} today", [call("cd", folder="x")]), ("and then", calls)])
    memory = remember([made(1, [(ASKED, calls)])])
    (task,) = coverage(of(asking), memory, method="subtask", protocol="self-excluded").tasks
    assert (task.repeat.calls, task.repeat.tools) == (2, 2)
    script = remember([made(1, [(ASKED, calls)])], method="memp", floors={"memp": 0.0})
    for mode in ("static", "dynamic"):
        (task,) = coverage(of(asking), script, method="memp", protocol="self-excluded", mode=mode).tasks
        assert (task.repeat.calls, task.repeat.tools) == (2, 2)


def test_an_interval_has_ten_families_behind_it(made, remember):
    """As in a report: none below ten, none where all are alike; with ten that differ there is one (the control)."""
    runs = [made(at, [(f"task number {at}", OWN)]) for at in range(12)]
    other = [call("ls"), call("pwd"), call("find", path="x")]
    mixed = [made(at, [(f"task number {at}", OWN if at % 3 else other)]) for at in range(12)]
    memory = remember(runs)

    def known(asking):
        figures = coverage(of(*asking), memory, method="subtask", protocol="self-excluded").figures()
        return [each.low is not None for each in (figures.tools, figures.recall[0])]

    assert known(runs) == [False, False]
    assert known(mixed[:9]) == [False, False]
    assert known(mixed) == [True, True]


def test_in_replace_an_empty_answer_takes_the_earlier_one_out(made, remember):
    """Nothing is found for the second turn: what stood before its calls is gone; in dynamic it stays."""
    said, mv = "alpha beta gamma delta epsilon", [call("mv", source="a")]
    memory = remember([made(1, [(f"{said} one", mv)])], floors={"workflow": 0.0, "subtask": 0.5})
    asking = of(made(3, [(said, mv), ("zeta eta theta iota kappa", mv)]))
    found = [
        coverage(asking, memory, method="subtask", protocol="self-excluded", mode=mode).tasks[0].arguments
        for mode in ("dynamic", "replace")
    ]
    assert found == [1.0, 0.5]


SPLIT = Split("made-up", frozenset({"multi_turn_1", "multi_turn_2"}), frozenset({"multi_turn_3"}))


def test_across_a_split(made, remember):
    """Test families ask, train families answer; a memory with a test family is a leak, whatever would be shown."""
    runs = [made(at, [(f"{ASKED} {at}", OWN)]) for at in (1, 2, 3)]
    asked = of(*runs, split=SPLIT)
    assert ([run.task.family for run in asked.runs], asked.not_held_out) == (["multi_turn_3"], 2)
    row = coverage(asked, remember(runs[:2]), method="subtask", protocol="cross-split", split=SPLIT, draws=2)
    assert (row.label, row.tasks[0].arguments, row.figures().own_family) == ("cross-split", 1.0, 0)
    with pytest.raises(LeakageError, match="holds 1 families"):
        coverage(asked, remember(runs), method="subtask", protocol="cross-split", split=SPLIT)


def test_what_is_left_out_is_counted(made):
    """Runs without a good call, families that are not held out, and what is beyond the limit."""
    silent = replace(run(3), turns=(Turn("hello", (Step("hi"),)),))
    failing = made(4, [("do it", [call("mv", ok=False)])])
    asked = recorded([run(1), run(2), silent, failing], [], limit=1)
    assert (len(asked.runs), asked.without_call, asked.beyond_limit) == (1, 2, 1)
    with pytest.raises(ConfigError, match="2 runs without a good call"):
        coverage(of(silent, failing), None, method="amd", protocol="self-excluded")


def test_progress_and_the_number_of_draws(made, remember):
    """One step for each task and draw; no draw means no floor, and says so by having none."""
    runs = [made(at, [(f"{ASKED} {at}", OWN)]) for at in range(3)]
    steps = []
    row = coverage(
        of(*runs), remember(runs), method="amd", protocol="self-excluded", draws=0, progress=lambda: steps.append(1)
    )
    assert len(steps) == 3
    assert (row.random, row.figures().random_arguments, row.figures().arguments_over_random) == ((), None, None)
    assert method_named(row.method).tiers


def test_cross_split_needs_a_split():
    """Nothing widens silently."""
    with pytest.raises(ConfigError, match="none is given"):
        viewer_of(run(1).task, "cross-split", None)
    assert viewer_of(run(1).task, "cross-split", SPLIT).excludes


def test_an_example_may_have_more_arguments_than_a_call_needs(made, remember):
    """All of the call's names stand in it; one that has fewer does not show how the call is made."""
    memory = remember([made(1, [(ASKED, [call("mv", source="a", force=True)])])])
    for needed, covered in ((call("mv", source="r"), 1.0), (call("mv", source="r", to="s"), 0.0)):
        (task,) = coverage(
            of(made(2, [(f"{ASKED} today", [needed])])), memory, method="subtask", protocol="self-excluded"
        ).tasks
        assert (task.tools, task.arguments) == (1.0, covered)
        assert (task.repeat.tools, task.repeat.arguments) == (1, 0)  # repeated is matched by the very same names
