"""What the reader's tests share: made-up run folders, built by functions that lie beside the tests."""

from __future__ import annotations

import sys
from pathlib import Path

# So that tests can import ``run_folders``, which is part of no package.
sys.path.append(str(Path(__file__).parent))
