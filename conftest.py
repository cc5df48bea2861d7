"""What the tests of library and overlays share: a Ctrl-C that arrives."""

from __future__ import annotations

import signal

# A shell that runs the tests in the background has their processes ignore it, and tests send it to real commands.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
