"""What the reader's tests share: made-up result files, and a machine without the benchmark."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

# So that tests can import ``result_lines``, which lies beside them and is part of no package.
sys.path.append(str(Path(__file__).parent))


@pytest.fixture
def alone(monkeypatch):
    """As on a machine without bfcl-eval: readers are installed anywhere."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
