"""What each arm shows: nothing, other families' records, random ones, or its own."""

from __future__ import annotations

import pytest

from next_call.arms import ARMS, show

SEED = 20


@pytest.fixture(scope="module")
def records(memory):
    """All records by id."""
    return {record.id: record for shelf in memory.shelves.values() for record in shelf.records()}


@pytest.fixture(scope="module")
def shown(memory, records, items):
    """What each arm shows for each item."""
    return {name: [show(arm, item, memory, records, SEED) for item in items] for name, arm in ARMS.items()}


def test_without_memory_nothing_is_shown(shown):
    """Not a byte; every other arm shows something."""
    assert not any(one.task or one.turn or one.records for one in shown["none"])
    assert all(any(one.records for one in found) for name, found in shown.items() if name != "none")


def test_only_in_sample_shows_the_item_s_own_family(shown, items):
    """No other arm does, the random one included; in-sample, where it is the best match, always."""
    own = {
        name: [
            item.task.family in {record.task.family for record in one.records}
            for one, item in zip(found, items, strict=True)
        ]
        for name, found in shown.items()
    }
    assert all(own.pop("in-sample"))
    assert not any(any(found) for found in own.values())


def test_a_record_of_the_same_work_is_found(shown, items):
    """The other family of the same kind, and its call in the student's own format."""
    for item, block, turns in zip(items, shown["block"], shown["turns"], strict=True):
        workflow, subtask = block.records
        assert (workflow.tier, subtask.tier) == ("workflow", "subtask")
        assert subtask.body["tools"] == [item.right.name]
        assert f'{{"name": "{item.right.name}", "arguments": ' in block.turn.text
        assert not block.turn.examples
        assert turns.records == block.records
        assert f'{{"name": "{item.right.name}", "arguments": ' in turns.turn.examples[0][1]


def test_tiers_stand_alone_where_they_should(shown):
    """Subtask and workflow alone, and the arm without a model."""
    for name, tiers in (("subtask", {"subtask"}), ("workflow", {"workflow"}), ("no-model", {"subtask"})):
        assert {record.tier for one in shown[name] for record in one.records} == tiers


def test_random_records_are_as_many_and_follow_from_the_seed(shown, memory, records, items):
    """One for each tier, not the best ones; the same again with the same seed, others with another."""
    found = shown["random"]
    assert all([record.tier for record in one.records] == ["workflow", "subtask"] for one in found)
    assert [one.records for one in found] != [one.records for one in shown["block"]]
    assert len({one.records[1].body["tools"][0] for one in found}) > 2
    again, other = (
        [show(ARMS["random"], item, memory, records, seed).records for item in items] for seed in (SEED, SEED + 1)
    )
    assert again == [one.records for one in found] != other
