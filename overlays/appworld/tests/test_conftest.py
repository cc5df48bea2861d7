"""What is taken out of a command's errors: its progress and nothing else."""

from __future__ import annotations


def test_only_progress_is_taken_out(without_progress):
    """A test that runs on a busy machine sees the same errors."""
    error = "amd_appworld: tasks: 3 of 4, 30 s is no number; try again\n"
    assert without_progress(f"tasks: 0 of 1, 30 s\n{error}tasks: 12 of 400, 3060 s\n") == error
