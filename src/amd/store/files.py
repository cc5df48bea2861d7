"""Every operation on a file of a memory, in one place, each a plain call of ``os``.

So a test can fail, tear or kill each single open, write, fsync, link, replace and removal, and nothing is written
by another way. A file is written once under a new name and never changed; readers map what they opened.
"""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from amd.errors import StoreError

__all__ = [
    "link_file",
    "make_folder",
    "map_file",
    "read_file",
    "remove_folder",
    "replace_file",
    "sync_folder",
    "typed",
    "write_file",
]

# What a file system without hard links, or across its border, answers to a link.
_NO_LINKS = {errno.EPERM, errno.EXDEV, errno.EMLINK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}


@contextmanager
def typed(next_step: str) -> Iterator[None]:
    """Raise ``StoreError``, naming the file, for an ``OSError`` from inside."""
    try:
        yield
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise StoreError(f"{where}{error.strerror or error}", next_step=next_step, errno=error.errno) from error


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Give an ``OSError`` the file's name: a failed write or fsync knows only a number."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def read_file(path: Path) -> bytes:
    """The bytes of a whole file."""
    with os.fdopen(os.open(path, os.O_RDONLY), "rb") as stream:
        return stream.read()


def map_file(path: Path) -> mmap.mmap:
    """The bytes of a file, mapped read-only; they stay readable when the name is removed or replaced.

    Raises:
        StoreError: the file is empty; no file of a memory is.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if os.fstat(descriptor).st_size == 0:
            raise StoreError(f"{path}: the file is empty", next_step=f"run: amd check {path.parents[3]}")
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    finally:
        os.close(descriptor)


def write_file(path: Path, parts: Iterable[bytes | memoryview]) -> str:
    """Write a new file and wait until it is on the disk; the sha256 of what was written."""
    digest = hashlib.sha256()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with _named(path):
            for part in parts:
                digest.update(part)
                rest = memoryview(part)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return digest.hexdigest()


def link_file(source: Path, target: Path) -> None:
    """Give a file a second name; where the file system has no hard links, write its bytes again."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        write_file(target, [read_file(source)])


def make_folder(path: Path) -> None:
    """Make one new folder."""
    os.mkdir(path)  # noqa: PTH102 - each operation is a call of os


def sync_folder(path: Path) -> None:
    """Wait until a folder's names are on the disk (Windows has no such call and needs none)."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with _named(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(source: Path, target: Path) -> None:
    """Give ``source`` the name ``target``, in one step, and wait until that is on the disk."""
    os.replace(source, target)  # noqa: PTH105 - each operation is a call of os
    sync_folder(target.parent)


def remove_folder(path: Path) -> None:
    """Remove a folder with all that is in it."""
    shutil.rmtree(path)
