"""The table of families, generated anew from the real harness's scenarios."""

from __future__ import annotations

import subprocess
import sys

from amd_toolsandbox.family_table import FAMILIES
from amd_toolsandbox.grouping import render

# In a process of its own: importing the harness warns, and here warnings are errors.
COMMAND = "import typer; from amd_toolsandbox.commands.families import families; typer.run(families)"


def generate(*arguments):
    """Run the command."""
    command = [sys.executable, "-W", "ignore", "-c", COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)


def test_the_table_is_that_of_the_harness():
    """1032 scenarios, 129 bases, 40 families, and nothing else stands in the table."""
    done = generate("--check")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("1032 scenarios, 129 bases, 40 families")


def test_another_table_is_noticed(tmp_path):
    """Positive control: what is written is what is checked in, and one family less is another table."""
    path = tmp_path / "family_table.py"
    assert generate("--out", path).returncode == 0
    assert path.read_text(encoding="utf-8") == render(FAMILIES)
    path.write_text(render({**FAMILIES, "wifi_off": "turn_on_wifi"}), encoding="utf-8")
    done = generate("--check", "--out", path)
    assert (done.returncode, "is another table" in done.stderr) == (1, True)
