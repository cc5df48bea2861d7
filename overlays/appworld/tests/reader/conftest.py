"""What the reader's tests share: made-up experiments, built by functions that lie beside the tests."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

# So that tests can import ``made_experiments``, which is part of no package.
sys.path.append(str(Path(__file__).parent))

CELLS = json.loads((Path(__file__).parents[1] / "fixtures" / "cells.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def cells():
    """Cells of our own with what the real environment answered: code, output, and what failed in truth."""
    return CELLS
