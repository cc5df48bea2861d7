"""The README's AppWorld section does what it says, typed as it stands but for the set-up, the root and the port."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
SECTION = re.search(
    r"## AppWorld, in its own worlds\n.*?```bash\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
)[1]


def test_the_section_ends_with_two_arms_and_their_report(root, tmp_path):
    """All tasks are right in both; some were hinted in the one with memory, and nothing leaked."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    (tmp_path / "appworld-world").mkdir()
    (tmp_path / "appworld-world" / "data").symlink_to((root.path / "data").resolve())
    python = tmp_path / ".venvs" / "appworld" / "bin" / "python"
    python.parent.mkdir(parents=True)
    # A link would be the interpreter without its environment.
    python.write_text(f'#!/bin/sh\nexec "{os.environ["AMD_APPWORLD_PYTHON"]}" "$@"\n')
    python.chmod(0o755)
    first, second, *lines = SECTION.split("\n")
    assert first.startswith("scripts/setup_appworld.sh ")
    assert second == ". .venv/bin/activate"
    script = re.sub(r" &( |$)", f" --port {port} &\\1", "\n".join(lines), count=1, flags=re.MULTILINE)
    assert script.count("8767") == 1
    script = script.replace("8767", port)
    script = script.replace("amd build", f"{sys.executable} -m amd build")
    until = f"timeout 60 bash -c 'until echo > /dev/tcp/127.0.0.1/{port}; do sleep 0.2; done' 2> /dev/null"
    script, waits = re.subn(r"^sleep \d+$", until, script, flags=re.MULTILINE)
    assert waits == 1
    kept = {name: value for name, value in os.environ.items() if name in ("PYTHONPATH", "HOME")}
    done = subprocess.run(
        ["bash", "-em", "-c", f"trap 'kill $(jobs -p) || true' EXIT\n{script}"],
        check=False,
        cwd=tmp_path,
        env={**kept, "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    right = re.findall(r"tasks right\s*│ (\d+) of (\d+)", done.stdout)
    assert len(right) == 4
    assert all(one == other for one, other in right)
    report = done.stdout[done.stdout.index("what each arm was shown") :]
    assert re.search(r"memory from\s*│ none\s*│ appworld-oracle \(oracle\)", report)
    assert re.search(r"own-family hits\s*│ 0\s*│ 0\s*│", report)
    hints = re.search(r"│ hints\s*│ 0\s*│ (\d+)\s*│", report)
    assert int(hints[1]) >= 3
