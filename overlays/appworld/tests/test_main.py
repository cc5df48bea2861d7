"""The entry of ``python -m amd_appworld``."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Asks for the help, and presses Ctrl-C when a certain module is looked for.
PRESS = """
import signal, sys
from amd_appworld.__main__ import main

at, sys.argv[1:] = sys.argv[1], ["--help"]

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == at:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Press())
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["amd_appworld.commands.app", "openai", "amd_appworld.commands.report"])
def test_an_interrupt_while_modules_load_is_one_line(module):
    """Exit code 130, no traceback, wherever it comes; without it the help is printed (the control)."""
    for pressed in (module, "no.such.module"):
        done = subprocess.run([sys.executable, "-c", PRESS, pressed], capture_output=True, text=True, check=False)
        if pressed == module:
            assert (done.returncode, done.stdout) == (130, "")
            assert done.stderr == "amd_appworld: interrupted before it began\n"
        else:
            assert (done.returncode, done.stderr) == (0, "")
            assert "Usage: python -m amd_appworld" in done.stdout
