"""The README's ToolSandbox section does what it says, typed as it stands but for the set-up of the environment."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
SECTION = re.search(
    r"## ToolSandbox, in the real harness\n.*?```bash\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
)[1]


def test_the_section_ends_with_two_scored_arms_and_their_report(tmp_path):
    """Both arms are scored by the harness's evaluator, every scenario 1.0, and the report shows them side by side."""
    first, second, *lines = SECTION.split("\n")
    assert first.startswith("scripts/setup_toolsandbox.sh PATH_TO_CLONE")
    assert second == ". .venvs/toolsandbox/bin/activate"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    script = "\n".join(lines)
    assert script.count("8766") == 1
    script = script.replace("play &", f"play --port {port} &").replace("8766", port)
    # A reader waits for seconds; how many the server needs is the machine's affair.
    assert len(re.findall(r"^sleep \d+$", script, re.MULTILINE)) == 1
    until = f"timeout 120 bash -c 'until echo > /dev/tcp/127.0.0.1/{port}; do sleep 0.2; done' 2> /dev/null"
    script = re.sub(r"^sleep \d+$", until, script, flags=re.MULTILINE)
    kept = {name: value for name, value in os.environ.items() if name == "PYTHONPATH"}
    done = subprocess.run(
        ["bash", "-em", "-c", f"trap 'kill $(jobs -p) || true' EXIT\n{script}"],
        check=False,
        cwd=tmp_path,
        env={**kept, "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "No model is behind it" in done.stdout
    every, again = re.findall(r"scored\s*│ (\d+ of \d+)", done.stdout)
    assert every == again
    number, of = every.split(" of ")
    assert number == of
    report = done.stdout[done.stdout.index("what each arm was shown") :]
    assert re.search(r"memory from\s*│ none\s*│ toolsandbox-oracle", report)
    assert re.search(r"own-family hits\s*│ 0\s*│ 0\s*│", report)
    assert re.search(r"similarity, mean\s*│ 1\.000\s*│ 1\.000\s*│", report)
    hints = re.search(r"│ hints\s*│ 0\s*│ (\d+)\s*│", report)
    assert int(hints[1]) >= 3
