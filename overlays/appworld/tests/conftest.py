"""What all tests of this overlay share: the errors of a command without its progress, and a root's server processes."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

_PROGRESS = re.compile(r"^tasks: \d+ of \d+, \d+ s\n", re.MULTILINE)


@pytest.fixture(scope="session")
def without_progress():
    """A command's standard error without the line that it writes every half a minute where nobody watches."""
    return lambda text: _PROGRESS.sub("", text)


@pytest.fixture(scope="session")
def servers_of():
    """The other processes that serve a root."""

    def of(root):
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                variables = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if f"APPWORLD_ROOT={root.path}".encode() in variables and int(folder.name) != os.getpid():
                found.append(int(folder.name))
        return found

    return of
