"""Entry of ``python -m amd_appworld``: an interrupt while modules load is one line too."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    try:
        # Imported here: loading takes a moment, and Ctrl-C must be answered in it.
        from amd_appworld.commands.app import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("amd_appworld: interrupted before it began\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
