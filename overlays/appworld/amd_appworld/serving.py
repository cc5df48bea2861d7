"""What an environment server's process runs: ``PYTHON -P serving.py``, in AppWorld's environment and never in ours.

AppWorld's own application, on 127.0.0.1 alone (its own command listens everywhere), on a free port that its first line
of output names; and it ends when the process that started it does, however that ended.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable

__all__ = ["main"]

APPLICATION = "appworld.serve.environment:app"


def main(application: str = APPLICATION) -> None:
    """Serve until standard input closes."""
    _end_with_parent()
    alive = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a cell that reads its input finds none, and does not wait
    threading.Thread(target=_leave, args=(alive,), daemon=True).start()
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    os.write(1, f"{listening.getsockname()[1]}\n".encode())
    os.dup2(2, 1)  # from here on all output goes to the log
    # Imported here: the server's parent is watched before anything slow begins.
    import uvicorn  # noqa: PLC0415

    config = uvicorn.Config(application, log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[listening])


def _end_with_parent() -> None:
    """Let Linux end this process with its parent: a cell in one long call of C keeps every thread of ours from it."""
    if sys.platform == "linux":  # a parent that has ended already closed the pipe
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG of linux/prctl.h


def _leave(alive: int, read: Callable[[int, int], bytes] = os.read, leave: Callable[[int], object] = os._exit) -> None:
    """End the process when the pipe does. Both functions are bound at the start: AppWorld takes them from cells."""
    read(alive, 1)
    leave(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
