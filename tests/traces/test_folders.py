"""Folders of runs, found at or below what somebody named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amd.errors import TrajectoryError
from amd.traces import folders_with


def made(tmp_path, *names):
    """Folders of these names."""
    for name in names:
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def found(*paths, **options):
    """Their names below the first path."""
    return [str(each) for each in folders_with(paths, "tasks", what="run", **options)]


def test_each_folder_is_found_once_by_its_name(tmp_path, monkeypatch):
    """Above several, one itself, the inner folder; nothing below an inner one; by whichever way it is named."""
    made(tmp_path, "b/tasks/t1/tasks", "a/tasks", "c/other")
    monkeypatch.chdir(tmp_path)
    assert found(Path()) == ["a", "b"]
    assert found(Path("b")) == ["b"]
    assert found(Path("b/tasks")) == [str(tmp_path / "b")]
    assert found(Path("b"), tmp_path) == ["b", str(tmp_path / "a")]


def test_what_is_not_meant_is_left_out(tmp_path):
    """By what the inner folder holds."""
    made(tmp_path, "a/tasks", "b/tasks/t1")
    assert found(tmp_path, holds=lambda tasks: any(tasks.iterdir())) == [str(tmp_path / "b")]


def test_links_are_followed_and_come_to_an_end(tmp_path):
    """A folder that leads to itself is looked at once."""
    made(tmp_path, "real/run/tasks", "named")
    (tmp_path / "named" / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "run" / "back").symlink_to(tmp_path / "real")
    assert found(tmp_path / "named") == [str(tmp_path / "named" / "link" / "run")]


@pytest.mark.parametrize(
    ("name", "said"), [("gone", "no such folder"), ("file", "a file, where"), ("empty", "no run at or below it")]
)
def test_a_path_with_no_run_is_told(tmp_path, name, said):
    """One line that names it."""
    made(tmp_path, "empty")
    (tmp_path / "file").touch()
    with pytest.raises(TrajectoryError, match=said) as caught:
        found(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_a_folder_that_nobody_may_look_into_is_told(tmp_path):
    """It is not taken for an empty one."""
    made(tmp_path, "locked")
    (tmp_path / "locked").chmod(0)
    with pytest.raises(TrajectoryError, match="cannot be looked at"):
        found(tmp_path)
