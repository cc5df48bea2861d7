"""Entry of ``python -m amd_bfcl``."""

from __future__ import annotations

import sys

from amd_bfcl.command import main

if __name__ == "__main__":
    sys.exit(main())
