"""What a trial adds to the messages and results of one task: everything that a memory may and may not do to them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amd.arms import RunLog
from amd.inject import CLOSE_TAG, OPEN_TAG
from amd_bfcl.families import Category
from amd_bfcl.trial import Trial

HELD_BACK = "Here is another tool. Try again?"
RAISED = "Error during execution: measure() missing 1 required positional argument"
RETURNED = '{"error": "measure: the soil is frozen"}'
FINE = '{"done": true}'
MODES = ("static", "dynamic", "replace")


def said(entry, turn, *, system=None):
    """The messages that the harness gives a handler for a turn."""
    user = {"role": "user", "content": entry.users[turn] or HELD_BACK}
    return [{"role": "system", "content": system}, user] if system and not turn else [user]


def converse(trial, entry, script, *, system=None):
    """The requests of a run as the harness's handlers send them; ``script`` has calls and results of each step."""
    requests = []
    history = trial.first_turn(said(entry, 0, system=system))
    for turn, steps in enumerate(script):
        if turn:
            history, messages = trial.next_turn(history, said(entry, turn))
            history = [*history, *messages]
        for step in [*steps, []]:
            requests.append(deepcopy(history))
            # A vendor's client answers with objects, not with mappings.
            history = [*history, SimpleNamespace(role="assistant", content=f"step of turn {turn}")]
            shown = trial.hinted([call for call, _ in step], [result for _, result in step])
            history += [{"role": "tool", "content": result} for result in shown]
    return requests


def content(messages):
    """All that a model reads of messages."""
    return "\n".join(str(message["content"]) for message in messages)


def queries(trial, tier):
    """Place -> the hash of what was asked there."""
    return {each.place: each.query_sha256 for each in trial.log().exposures if each.tier == tier}


@pytest.mark.parametrize("values", [{"method": "none"}, *({"mode": mode} for mode in MODES)])
def test_without_a_memory_everything_is_the_very_same_object(garden, values):
    """C16: the method none returns what it was given and logs nothing; with a memory it is not so (the control)."""
    entry = garden.entry()
    with garden.arm(**values).open() as opened:
        trial = Trial(entry, opened, "json")
        first, later, results = said(entry, 0), said(entry, 1), [RETURNED, FINE]
        shown = trial.first_turn(first)
        history, messages = trial.next_turn([*shown], later)
        given_history = [*history]
        again = trial.next_turn(given_history, said(entry, 2))
        hinted = trial.hinted(["measure(bed='a')", "water(bed='a')"], results)
        log = trial.log()
    untouched = [shown is first, messages is later, again[0] is given_history, hinted[0] is results[0]]
    assert hinted[1] is results[1]
    assert log.failed_calls == 1
    if values == {"method": "none"}:
        assert untouched == [True, True, True, True]
        assert (log.exposures, log.hints, log.memory, log.memory_assisted) == ((), 0, None, False)
    else:
        assert not untouched[0]
        assert not untouched[3]
        assert log.memory_assisted
        assert log.hints == 1


def test_static_asks_once_before_the_task(garden):
    """One block in a system message of its own; no later turn is touched."""
    entry = garden.entry()
    with garden.arm().open() as opened:
        trial = Trial(entry, opened, "json")
        first = trial.first_turn(said(entry, 0))
        assert [message["role"] for message in first] == ["system", "user"]
        assert first[0]["content"].startswith(OPEN_TAG)
        assert '{"name": "measure"' in first[0]["content"]
        assert first[1:] == said(entry, 0)
        assert trial.next_turn(first, said(entry, 1)) == (first, said(entry, 1))
        assert {each.place for each in trial.log().exposures} == {"task"}


def test_dynamic_puts_each_turns_part_before_its_own_words(garden):
    """The system message has what is known of the whole task, each user message what is known of its turn."""
    entry = garden.entry()
    with garden.arm(mode="dynamic").open() as opened:
        trial = Trial(entry, opened, "json")
        first = trial.first_turn(said(entry, 0))
        history, later = trial.next_turn(first, said(entry, 1))
        assert history is first
        for messages, words in ((first[1:], entry.users[0]), (later, entry.users[1])):
            assert len(messages) == 1
            assert messages[0]["content"].startswith(OPEN_TAG)
            assert messages[0]["content"].endswith(f"{CLOSE_TAG}\n\n{words}")
        assert "measure" in first[1]["content"]
        assert "lock_gate" in later[0]["content"]
        assert {each.place for each in trial.log().exposures} == {"task", 0, 1}


def test_replace_keeps_one_block_in_the_system_message(garden):
    """A turn's block takes the place of the last one, and each change is counted."""
    entry = garden.entry()
    with garden.arm(mode="replace").open() as opened:
        trial = Trial(entry, opened, "json")
        requests = converse(trial, entry, [[], [], []], system="Be brief.")
        log = trial.log()
    blocks = [request[0]["content"] for request in requests]
    assert all(block.count(OPEN_TAG) == 1 and block.endswith("\n\nBe brief.") for block in blocks)
    assert OPEN_TAG not in content([message for message in requests[-1][1:] if isinstance(message, dict)])
    changes = sum(block != before for before, block in pairwise(blocks))
    assert log.system_changes == changes > 0


def test_replace_does_not_count_a_block_that_stays(garden):
    """The control: the same words again give the same block, and the prefix holds."""
    entry = garden.entry("multi_turn_miss_func_9")
    with garden.arm(mode="replace").open() as opened:
        trial = Trial(entry, opened, "json")
        converse(trial, entry, [[], []])
        assert trial.log().system_changes == 0
        entry = replace(
            garden.entry(), users=("Water bed_9.", "Lock the gate of the garden.", "Lock the gate of the garden.")
        )
        trial = Trial(entry, opened, "json")
        converse(trial, entry, [[], [], []])
        assert trial.log().system_changes == 1
    with garden.arm(mode="static").open() as opened:
        trial = Trial(garden.entry(), opened, "json")
        converse(trial, garden.entry(), [[], [], []])
        assert trial.log().system_changes == 0


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_examples_stand_before_the_tasks_own_words(garden, mode):
    """Layout turns: exchanges come after the system message, and a turn's block goes to the task's own user message."""
    entry = garden.entry()
    with garden.arm(mode=mode, layout="turns").open() as opened:
        trial = Trial(entry, opened, "json")
        first = trial.first_turn(said(entry, 0, system="Be brief."))
        _, later = trial.next_turn(first, said(entry, 1))
    assert [message["role"] for message in first] == ["system", "user", "assistant", "user"]
    assert first[0]["content"].endswith("\n\nBe brief.")
    assert OPEN_TAG not in content(first[1:3])
    assert '"measure"' in first[2]["content"]
    own = first[-1]["content"]
    assert own.endswith(entry.users[0])
    assert own.startswith(OPEN_TAG) == (mode == "dynamic")
    assert [message["role"] for message in later] == (["user"] if mode == "static" else ["user", "assistant", "user"])
    assert later[-1]["content"].endswith(entry.users[1])


@pytest.mark.parametrize("mode", MODES)
def test_prompting_keeps_the_tools_documents_after_the_block(garden, mode):
    """The block comes before the system message that is there, and calls are written in Python."""
    entry = garden.entry()
    with garden.arm(mode=mode).open() as opened:
        first = Trial(entry, opened, "python").first_turn(said(entry, 0, system="DOCUMENTS"))
    assert first[0]["role"] == "system"
    assert first[0]["content"].startswith(OPEN_TAG)
    assert first[0]["content"].endswith(f"{CLOSE_TAG}\n\nDOCUMENTS")
    assert "measure(bed=" in content(first)
    assert '{"name": "measure"' not in content(first)


CALLS = st.sampled_from(
    [
        "measure(bed='bed_9')",
        "water(bed='bed_9')",
        "lock_gate(key='no such key')",
        "lock_gaet(key='k')",
        "measure(my-bed='a')",
        "measure(",
        "",
    ]
)
RESULTS = st.sampled_from([FINE, RAISED, RETURNED, "Error during execution: measure is no tool", "None"])
STEPS = st.lists(st.lists(st.tuples(CALLS, RESULTS), max_size=3), max_size=3)
SCRIPTS = st.lists(STEPS, min_size=3, max_size=3)


@pytest.mark.parametrize("layout", ["block", "turns"])
@pytest.mark.parametrize("mode", ["static", "dynamic"])
@given(script=SCRIPTS, system=st.sampled_from([None, "Be brief."]), held=st.booleans())
def test_every_request_begins_with_the_whole_earlier_one(garden, mode, layout, script, system, held):
    """C16: whatever a student calls and whatever fails, the prefix cache of the server holds."""
    entry = garden.entry("multi_turn_miss_func_9" if held else "multi_turn_base_9")
    with garden.arm(mode=mode, layout=layout).open() as opened:
        requests = converse(Trial(entry, opened, "json"), entry, script, system=system)
    for before, after in pairwise(requests):
        assert after[: len(before)] == before


@given(script=SCRIPTS)
def test_replace_breaks_the_prefix_as_often_as_it_says(garden, script):
    """The control of the above: each break is one counted change of the system block."""
    entry = garden.entry()
    with garden.arm(mode="replace").open() as opened:
        trial = Trial(entry, opened, "json")
        requests = converse(trial, entry, script)
        log = trial.log()
    broken = [
        after[: len(before)] != before and after[1 : len(before)] == before[1:] for before, after in pairwise(requests)
    ]
    assert sum(broken) == log.system_changes > 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("parts", [False, True])
def test_what_is_given_is_never_changed(garden, mode, parts):
    """Messages, history and results stay as they were, so the harness's own log has what the benchmark said."""
    entry = garden.entry()
    first = said(entry, 0, system="Be brief.")
    if parts:
        first = [{**message, "content": [{"type": "text", "text": message["content"]}]} for message in first]
    with garden.arm(mode=mode).open() as opened:
        trial = Trial(entry, opened, "json")
        kept = deepcopy(first)
        history = [*trial.first_turn(first), SimpleNamespace(role="assistant")]
        assert history[:-1] != kept
        later = said(entry, 1)
        kept_history, kept_later = deepcopy(history), deepcopy(later)
        shown = trial.next_turn(history, later)
        assert shown != (kept_history, kept_later) or mode == "static"
        calls, results = ["measure(bed='bed_9')"], [RETURNED]
        assert trial.hinted(calls, results) != results
    assert first == kept
    assert (history, later) == (kept_history, kept_later)
    assert (calls, results) == (["measure(bed='bed_9')"], [RETURNED])


@pytest.mark.parametrize("mode", ["dynamic", "replace"])
def test_a_turn_in_which_tools_arrive_asks_with_the_users_last_own_words(garden, mode):
    """The harness's own sentence is no question; the turn after it asks with what the user says then (the control)."""
    entry = garden.entry("multi_turn_miss_func_9")
    with garden.arm(mode=mode).open() as opened:
        trial = Trial(entry, opened, "json")
        history = trial.first_turn(said(entry, 0))
        history, held = trial.next_turn(history, said(entry, 1))
        trial.next_turn(history, said(entry, 2))
        asked = queries(trial, "subtask")
    assert asked[0] == asked[1] != asked[2]
    assert held[0]["content"].endswith(HELD_BACK)


def test_tools_that_arrive_are_offered_from_then_on(garden):
    """Before, a call of such a tool is one of no tool there is; after, the memory has a hint for it."""
    entry = garden.entry("multi_turn_miss_func_9")
    with garden.arm().open() as opened:
        trial = Trial(entry, opened, "json")
        first = trial.first_turn(said(entry, 0))
        (before,) = trial.hinted(["lock_gate(key='k')"], ["Error during execution: name 'lock_gate' is not defined"])
        history, messages = trial.next_turn(first, said(entry, 1))
        (after,) = trial.hinted(["lock_gate(key='k')"], ['{"error": "the gate stands open"}'])
        (missing,) = trial.hinted(["lock_gates(key='k')"], ["Error during execution: name 'lock_gates' is unknown"])
        log = trial.log()
    assert "There is no such tool here" in before
    assert "lock_gate(" not in content(first)
    assert "A call of lock_gate that worked before" in after
    assert "lock_gate" in missing
    assert (history, messages) == (first, said(entry, 1))
    assert [each.place for each in log.exposures if each.tier == "function"] == ["0.0.0", "1.0.0", "1.1.0"]
    assert entry.tools == garden.entry("multi_turn_miss_func_9").tools


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("category", Category)
def test_a_task_never_sees_its_own_family(garden, category, mode):
    """D01: in each category's dress of a task; the arm that hides nothing shows it (the control)."""
    entry = garden.entry(f"{category}_2")
    hits = {}
    for protocol in ("self-excluded", "in-sample"):
        with garden.arm(mode=mode, protocol=protocol).open() as opened:
            trial = Trial(entry, opened, "json")
            failing = [[[("measure(bed='a')", RETURNED)]], [[("water(bed='a')", RAISED)]], []]
            converse(trial, entry, failing)
            log = trial.log()
        assert RunLog.read(log.as_json()) == log
        families = {family for each in log.exposures for family in each.families}
        assert families
        hits[protocol] = "multi_turn_2" in families
        assert sum(each.own_family for each in log.exposures) == sum(
            each.families.count("multi_turn_2") for each in log.exposures
        )
    assert hits == {"self-excluded": False, "in-sample": True}
