"""Rows that a memory already has are not asked for again."""

from __future__ import annotations

import numpy as np

import amd
from amd.experiment.stored_rows import StoredRows
from amd.testing import StubEmbedder, run


def test_keys_come_from_the_memory_and_other_texts_once(remember):
    """The same rows as the embedder gives, which is asked only for what nobody knows."""
    runs = [run(1), run(2)]
    memory, stub = remember(runs), StubEmbedder()
    rows = StoredRows(memory, stub)
    known, new = run(1).task.instruction, "a text of nobody"
    found = rows.embed([known, new, known])
    assert np.array_equal(found, StubEmbedder().embed([known, new, known]))
    rows.embed([new])
    assert stub.texts == [new]


def test_a_memory_opens_with_it(remember):
    """It is the same vector space, and finds the same."""
    memory = remember([run(1), run(2), run(3)])
    with amd.open_memory(memory.path, embedder=StoredRows(memory, StubEmbedder())) as again:
        shown = []
        for each in (memory, again):
            session = amd.Session(each, viewer=amd.self_excluded(run(1).task))
            session.before_task(run(1).task.instruction)
            shown.append(session.exposures)
    assert shown[0] == shown[1]
    assert any(exposure.record_ids for exposure in shown[0])
