"""What the overlay leans on: the library's faces, and nothing of the harness."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "amd_toolsandbox"
FACES = {"amd", "amd.errors", "amd.traces", "amd.arms", "amd.clients"}
# A command fails and waits as those of ``amd`` do, and one serves scripts in place of models.
MORE = {"commands": {"amd.cli.arms", "amd.cli.console", "amd.cli.exits", "amd.cli.playing"}}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_the_overlay_uses_only_the_faces_of_the_library(path):
    """What else is inside the library may move without breaking an overlay."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [node.module] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        allowed = FACES | MORE.get(path.parent.name, set())
        assert {name for name in names if name and name.split(".")[0] == "amd"} <= allowed


def test_reading_imports_nothing_of_the_harness():
    """Runs are read, and families known, on a machine that never saw it."""
    code = (
        "import sys, amd_toolsandbox.teacher, amd_toolsandbox.commands.families\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'tool_sandbox'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_generator_says_what_it_needs(monkeypatch):
    """Without the harness: one sentence and what to do."""
    from amd.errors import ConfigError
    from amd_toolsandbox import harness
    from amd_toolsandbox.commands import families

    harness._scenarios.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "tool_sandbox"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tool_sandbox", None)
    with pytest.raises(ConfigError, match=r"'tool_sandbox.*not installed") as caught:
        families.scenario_texts()
    assert "setup_toolsandbox.sh" in caught.value.next_step
