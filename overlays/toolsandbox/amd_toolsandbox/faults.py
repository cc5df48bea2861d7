"""Whose fault an exception is. The harness ends a scenario at any one, and of it keeps the type."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from amd.errors import AmdError

__all__ = ["ours"]


@contextmanager
def ours() -> Iterator[None]:
    """Make whatever fails in here an ``AmdError``: a full disk, or a fault of this library, is no student's zero.

    >>> with ours():
    ...     {}["bed"]
    Traceback (most recent call last):
    amd.errors.AmdError: amd failed: KeyError('bed'); run the same command again
    """
    try:
        yield
    except AmdError:
        raise
    except Exception as error:
        raise AmdError(f"amd failed: {error!r}", next_step="run the same command again") from error
