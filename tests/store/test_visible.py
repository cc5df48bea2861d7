"""Which rows of a shelf a viewer may be shown."""

from __future__ import annotations

import numpy as np
import pytest

from amd.errors import LeakageError
from amd.exclusion import Split, cross_split, deployed, in_sample, self_excluded
from amd.store.columns import read_columns
from amd.store.lines import document, encode
from amd.store.visible import view_of
from amd.trajectory import Task

ROW = np.array([1, 0], np.float32)
TASK = Task("demo", "task_0", "family_0", "do task 0")


@pytest.fixture
def columns(kit):
    """Own family twice, a copy of the text in another family, a stranger, and a retired stranger."""
    records = [
        kit.record(0, tool="cd"),
        kit.record(9, family="family_0", tool="mv"),
        kit.record(2, instruction=" Do  TASK 0", tool="cd"),
        kit.record(3, tool="cd"),
        kit.record(4, tool="cd", status="retired"),
    ]
    return read_columns(document([encode(each, ROW) for each in records]), "here")


def test_self_exclusion_by_identity(columns):
    """Own family and the same text are hidden and counted; the stranger is seen (positive control)."""
    view = view_of(columns, self_excluded(TASK), None)
    assert view.seen.tolist() == [3]
    assert view.unseen.tolist() == [0, 1, 2, 4]
    assert view.excluded == {"own_family": 2, "same_text": 1}


@pytest.mark.parametrize("viewer", [in_sample(TASK), deployed()])
def test_who_excludes_nothing_sees_all_that_is_active(columns, viewer):
    """A retired record is nobody's."""
    view = view_of(columns, viewer, None)
    assert view.seen.tolist() == [0, 1, 2, 3]
    assert view.excluded == {}


def test_a_tool_narrows_what_is_seen_and_counted(columns):
    """Only records of that very tool."""
    view = view_of(columns, self_excluded(TASK), "mv")
    assert view.seen.tolist() == []
    assert view.excluded == {"own_family": 1}
    assert view_of(columns, deployed(), "cd").seen.tolist() == [0, 2, 3]
    assert view_of(columns, deployed(), "c").seen.tolist() == []


@pytest.mark.parametrize(
    ("train", "test", "leak"),
    [
        ({"family_0", "family_2", "family_3"}, {"family_4"}, "'family_4', which is a test family"),
        ({"family_0", "family_2", "family_4"}, set(), "'family_3', which is no family"),
        ({"family_0", "family_2", "family_3", "family_4"}, {"family_7"}, None),
    ],
)
def test_across_a_split_any_other_family_is_a_leak(columns, train, test, leak):
    """A test family, or one that the split does not know, even if its record is retired."""
    viewer = cross_split(TASK, Split("demo", frozenset(train), frozenset(test)))
    if leak is None:
        assert view_of(columns, viewer, None).seen.tolist() == [3]
        return
    with pytest.raises(LeakageError, match=leak):
        view_of(columns, viewer, None)


def test_few_and_many_seen_rows_score_alike(columns):
    """A gathered product and a masked one: the same scores, -inf elsewhere."""
    rows = np.linalg.qr(np.random.default_rng(1).standard_normal((8, 8)))[0][:5].astype(np.float32)
    few = view_of(columns, self_excluded(TASK), None).cosines(rows, rows[3])
    many = view_of(columns, deployed(), None).cosines(rows, rows[3])
    assert few[3] == pytest.approx(1)
    assert np.isneginf(few[[0, 1, 2, 4]]).all()
    assert np.isneginf(many).tolist() == [False, False, False, False, True]
