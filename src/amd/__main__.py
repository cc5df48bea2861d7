"""``python -m amd``, and what the command ``amd`` starts: an interrupt while modules load is one line too."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        # Imported here: loading takes a moment, and Ctrl-C must be answered in it.
        from amd.cli.app import main as run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        sys.stderr.write("amd: interrupted before it began\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
