"""Which tasks share an answer, and which datasets are for scoring."""

from __future__ import annotations

import pytest

from amd_appworld.tasks import family, is_test


@pytest.mark.parametrize(
    "task_id", ["82e2fac", "82e2fac_0", "82E2FAC_1", "82e2fac_1_2", "x82e2fac_1", "82e2fac_", "", "82e2fac_1\n"]
)
def test_what_is_no_task(task_id):
    """A family is never guessed."""
    assert family(task_id) is None


def test_variants_share_a_family():
    """All of a scenario, with a tag too."""
    assert {family(f"82e2fac_{number}{tag}") for number in (1, 2, 3, 12) for tag in ("", ":x")} == {"82e2fac"}


def test_which_datasets_are_for_scoring():
    """By their names, those that AppWorld may add too; what is not known is not said to be one."""
    assert [is_test(split) for split in ("test_normal", "test_challenge", "test_hidden", "test")] == [True] * 4
    assert [is_test(split) for split in ("train", "dev", "mine", None)] == [False] * 4
