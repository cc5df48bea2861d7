"""Reading what lies in a folder that somebody else wrote."""

from __future__ import annotations

import errno
from pathlib import Path

__all__ = ["bytes_of"]


def bytes_of(path: Path) -> bytes:
    """What a file holds; a pipe or a device in its place would be waited for without end.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return path.read_bytes()
