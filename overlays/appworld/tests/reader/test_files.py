"""What lies in a folder that somebody else wrote may be anything."""

from __future__ import annotations

import os

import pytest

from amd_appworld.evaluations import read_evaluations
from amd_appworld.files import bytes_of
from amd_appworld.lm_calls import read_lm_calls


def test_a_pipe_is_not_waited_for(tmp_path):
    """It is no file that can be read; a file and a link to one are the control."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"{}")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert bytes_of(tmp_path / "file") == bytes_of(tmp_path / "link") == b"{}"
    with pytest.raises(OSError, match="no regular file"):
        bytes_of(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        bytes_of(tmp_path / "absent")
    assert read_lm_calls(tmp_path / "pipe") is None


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ('{"success": true, "num_tests": 1, "passes": [1], "failures": []}', True),
        ('{"success": true, "num_tests": 9, "passes": [1], "failures": []}', False),
        ('{"success": true, "num_tests": 0, "passes": [], "failures": []}', False),
        ('{"success": false, "num_tests": 1, "passes": [1], "failures": []}', False),
        ('{"success": false, "success": true, "num_tests": 1, "passes": [1], "failures": []}', False),
    ],
)
def test_a_verdict_that_its_own_counts_contradict_is_none(tmp_path, text, known):
    """Nor is one that is there twice; it is counted."""
    (tmp_path / "evaluations").mkdir()
    (tmp_path / "evaluations" / "train.json").write_text(f'{{"individual": {{"0a0a0a0_1": {text}}}}}', "utf-8")
    found = read_evaluations(tmp_path)
    assert (len(found.verdicts), found.unreadable) == (int(known), int(not known))
