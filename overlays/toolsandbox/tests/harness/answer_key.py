"""Prints the answer key of the installed harness and its scrambled names, pickled.

A process of its own: what the harness imports warns.
"""

from __future__ import annotations

import pickle
import sys

from amd_toolsandbox.oracle.answer_key import read_sheets, scrambled_names

if __name__ == "__main__":
    sys.stdout.buffer.write(pickle.dumps((read_sheets(), dict(scrambled_names()))))
