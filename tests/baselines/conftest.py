"""A way to make a record of a tier without a store."""

from __future__ import annotations

import pytest

from amd.records import Record, RecordSource, RecordTask


@pytest.fixture
def record():
    """Make a record from a tier and a body."""

    def make(tier, body, key="move a file"):
        task = RecordTask("b", "t", "f", "0" * 64)
        source = RecordSource("t", "r", "teacher", "0" * 64, (1, 1))
        return Record("id", tier.name, key, body, task, source, "rules", "")

    return make
