"""Random records: drawn evenly, from what may be shown, through the session."""

from __future__ import annotations

from collections import Counter

import pytest

import amd
from amd.exclusion import in_sample, self_excluded
from amd.experiment.random_records import RandomTier, by_tool
from amd.methods import method_named
from amd.session.offer import offered
from amd.testing import run
from amd.tier import FailedCall, Question
from amd.trajectory import ToolCall

(SUBTASK,) = method_named("subtask").tiers
(FUNCTION,) = method_named("function").tiers


@pytest.fixture
def memory(made, remember):
    """Eight runs, each with a tool of its own and one that all have."""
    shared = ToolCall("all", {}, "done", ok=True)
    return remember(
        made(at, [(f"subject{at} of kind{at} here", [ToolCall(f"tool_{at}", {}, "done", ok=True), shared])])
        for at in range(8)
    )


def shown(memory, tier, viewer, seeds, tools=None):
    """Which families' records are shown by these draws."""
    pool = by_tool(memory.shelves[tier.name].records())
    found = Counter()
    for seed in range(seeds):
        drawing = RandomTier(tier, pool, viewer, offered(tools), seed)
        session = amd.Session(memory, viewer=viewer, method=(drawing,), tools=tools)
        session.before_task(run(0).task.instruction)
        session.after_error(FailedCall("all", {}, "Error: no", place=1))
        found.update(family for exposure in session.exposures for family in exposure.families)
    return found


@pytest.mark.parametrize("tier", [SUBTASK, FUNCTION], ids=lambda tier: tier.name)
def test_every_record_has_its_turn(memory, tier):
    """All eight in-sample, each about as often; its own family never where it is hidden."""
    task = run(0).task
    found = shown(memory, tier, in_sample(task), 240)
    assert len(found) == 8
    assert found.total() == 240
    assert all(12 <= number <= 52 for number in found.values())
    hidden = shown(memory, tier, self_excluded(task), 80)
    assert len(hidden) == 7
    assert task.family not in hidden


def test_only_what_the_task_can_use(memory):
    """Records of tools that the task lacks are passed over as ever; where none is left nothing is shown."""
    tools = [{"name": "all"}, {"name": "tool_3"}]
    assert shown(memory, SUBTASK, in_sample(run(0).task), 10, tools) == {"multi_turn_3": 10}
    assert shown(memory, SUBTASK, in_sample(run(0).task), 10, tools[:1]) == {}


def test_a_draw_is_the_same_again(memory):
    """One seed, one record; another seed, mostly another."""
    task = run(0).task
    assert shown(memory, SUBTASK, in_sample(task), 3) == shown(memory, SUBTASK, in_sample(task), 3)
    assert len(shown(memory, SUBTASK, in_sample(task), 6)) > 1


def test_what_is_hidden_is_not_even_asked_for(memory):
    """Else its nearest neighbour would be shown more often than by chance. Control: in-sample it is asked for."""
    task, pool = run(0).task, by_tool(memory.shelves["subtask"].records())
    (own,) = [record.key for record in pool[None] if record.task.family == task.family]
    for viewer, asked in ((in_sample(task), True), (self_excluded(task), False)):
        drawn = [RandomTier(SUBTASK, pool, viewer, offered(None), seed) for seed in range(80)]
        assert (own in {query.text for each in drawn for query in each.ask(Question("task", "x"))}) is asked
