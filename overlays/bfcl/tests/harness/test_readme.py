"""The README's BFCL section does what it says, typed as it stands but for the set-up of the environment."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
SECTION = re.search(r"## BFCL, in the real harness\n.*?```bash\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[
    1
]


def test_the_section_ends_with_two_evaluated_arms_and_their_report(tmp_path):
    """Both arms are scored by the harness's evaluator, and the report shows them side by side."""
    first, second, *lines = SECTION.split("\n")
    assert first.startswith("make bfcl-env")
    assert second == ". .venvs/bfcl/bin/activate"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    script = "\n".join(lines).replace("play ", f"play --port {port} ").replace("8765", port)
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        ["bash", "-em", "-c", script],
        check=False,
        cwd=tmp_path,
        env={"PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("20 of 20") == 2
    assert "No model is behind it" in done.stdout
    report = done.stdout[done.stdout.index("what each arm was shown") :]
    assert re.search(r"memory from\s*│ none\s*│ bfcl-oracle \(oracle\)", report)
    assert re.search(r"own-family hits\s*│ 0\s*│ 0\s*│", report)
    right = re.search(r"multi_turn_base, right\s*│ (\d+) of 20\s*│ (\d+) of 20\s*│", report)
    assert right[1] == right[2]
    assert 0 < int(right[1]) < 20
