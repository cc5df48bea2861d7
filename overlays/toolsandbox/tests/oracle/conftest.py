"""So that the tests of this folder can import ``sheets`` and ``phone``, which are part of no package."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
