"""Entry of ``python -m amd_bfcl``."""

from __future__ import annotations

from amd_bfcl.command import app

if __name__ == "__main__":
    app(prog_name="python -m amd_bfcl")
