"""Retiring: records stay where they are, checked and sealed, and are shown to nobody."""

from __future__ import annotations

import pytest

import amd
from amd.errors import ConfigError, DigestDoesNotMatch, StoreError
from amd.store import check, is_memory
from amd.store.retiring import retire
from amd.testing import run


@pytest.fixture
def place(tmp_path):
    """A memory of three runs."""
    amd.build_memory([run(i) for i in range(3)], tmp_path / "m", embedder=amd.load_embedder("hash"))
    return tmp_path / "m"


def states(place):
    """The state of each record, and what is published."""
    with amd.open_memory(place) as memory:
        found = {record.id: record.status for shelf in memory.shelves.values() for record in shelf.records()}
        rows = {name: shelf.rows.tobytes() for name, shelf in memory.shelves.items()}
        return found, rows, memory.digest, memory.manifest


def shown(place):
    """The workflows that a task of another family is shown."""
    with amd.open_memory(place) as memory:
        session = amd.Session(memory, viewer=amd.self_excluded(run(1).task), method="workflow")
        session.before_task(run(1).task.instruction)
        return session.exposures[0].record_ids


def test_a_retired_record_stays_and_is_not_shown(place):
    """Another takes its place; ids, rows and content are what they were, and the check finds nothing."""
    before, (first,) = states(place), shown(place)
    published = retire(place, [first])
    after = states(place)
    assert published.changed
    assert {name for name, state in after[0].items() if state == "retired"} == {first}
    assert (after[0].keys(), *after[1:3]) == (before[0].keys(), *before[1:3])
    assert (after[3].floors, after[3].sources, after[3].costs) == (before[3].floors, before[3].sources, before[3].costs)
    assert check(place).ok
    assert len(shown(place)) == 1
    assert shown(place) != (first,)


def test_retiring_again_changes_nothing(place):
    """Neither of the same record, nor of none; a build of the same input leaves it retired."""
    ids = [*states(place)[0]][:2]
    retire(place, ids)
    assert not retire(place, ids).changed
    assert not retire(place, []).changed
    amd.build_memory([run(i) for i in range(3)], place, embedder=amd.load_embedder("hash"))
    assert sorted(name for name, state in states(place)[0].items() if state == "retired") == sorted(ids)


def test_what_is_not_there_is_an_error(place, tmp_path):
    """An unknown id, another seal, no memory: nothing changes."""
    before = states(place)[3]
    with pytest.raises(ConfigError, match="no record 'nobody'"):
        retire(place, ["nobody", next(iter(states(place)[0]))])
    with pytest.raises(DigestDoesNotMatch):
        retire(place, [], pin="0" * 64)
    with pytest.raises(StoreError, match="no memory at"):
        retire(tmp_path / "nowhere", [])
    assert not is_memory(tmp_path / "nowhere")
    assert states(place)[3] == before
