"""The examples run as they are, from any folder, and say what they promise to say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

SAYS = {
    "build_and_ask.py": ["4 of 4 runs admitted", "<memory>", "'own_family': "],
    "made_up_report.py": [
        *("MADE UP", "IN-SAMPLE: amd-in-sample", "amd beside random, as many records drawn at random: +"),
        "ended with 0; nothing of this was measured",
    ],
    "own_reader.py": ["read 4, admitted 2, refused", "'failed': 1", "'unreadable': 1"],
    "student_loop.py": ["mv: missing argument: folder", "<memory_hint>", "[assistant] Done."],
}


def test_every_example_is_run() -> None:
    """A new example gets its line above."""
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    """It ends well, with warnings as errors, leaves nothing behind, and prints what it is about."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / name)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [line for line in SAYS[name] if line not in done.stdout] == []
    assert list(tmp_path.iterdir()) == []
