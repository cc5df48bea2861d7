"""The README does what it says: its program runs, its commands work as typed, in its order."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from amd.cli.app import run as run_command

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROGRAM = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
COMMANDS = re.findall(r"^    (amd .*?)(?:\s+#.*)?$", README, re.MULTILINE)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A folder with the examples, like the root of a checkout."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_program_runs(checkout, capsys):
    """It builds, opens, asks and hints, and shows what it says."""
    exec(compile(PROGRAM, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "openValve" in printed
    assert "was repaired before" in printed
    assert len([line for line in PROGRAM.split("\n") if line.strip()]) <= 20


def test_the_commands_work_as_typed(checkout, capsys):
    """One after another, as a reader would type them."""
    assert {shlex.split(command)[1] for command in COMMANDS} == {
        "read",
        "split",
        "build",
        "show",
        "lint",
        "check",
        "ask",
        "coverage",
        "drift",
        "reindex",
    }
    for command in COMMANDS:
        assert run_command(shlex.split(command)[1:]) == 0, (command, capsys.readouterr())
    printed = capsys.readouterr().out
    assert "openValve" in printed
    assert "unknown: find_patient has no argument dob" in printed
    assert ": removed: " not in printed


def test_the_links_lead_somewhere():
    """Every relative link of every document names a file or folder that exists."""
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("overlays/*/*.md")]
    broken = [
        (document.name, target)
        for document in documents
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text(encoding="utf-8"))
        if not (document.parent / target).exists()
    ]
    assert len(documents) > 4
    assert broken == []
