"""The golden texts: what a person has read and found good, and the script that writes them anew."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "scripts" / "regenerate_golden.py"


def test_records_read_as_they_were_found_good(tmp_path):
    """The regenerator writes exactly the files that are kept."""
    runpy.run_path(str(SCRIPT))["main"]([str(tmp_path)])
    kept = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "golden").iterdir()}
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == kept
    assert len(kept) == 2


def test_the_regenerator_would_notice(tmp_path):
    """The control: other runs give other texts."""
    module = runpy.run_path(str(SCRIPT))
    other = tmp_path / "runs.json"
    other.write_text(module["RUNS"].read_text(encoding="utf-8").replace("openValve", "turnTap"), encoding="utf-8")
    for method in module["METHODS"].values():
        assert module["records_as_text"](other, method) != module["records_as_text"](module["RUNS"], method)
