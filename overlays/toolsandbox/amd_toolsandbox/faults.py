"""Whose fault an exception is. The harness ends a scenario at any one, and of it keeps the type."""

from __future__ import annotations

from contextlib import ContextDecorator
from types import TracebackType

from amd.errors import AmdError

__all__ = ["ours"]


class _Ours(ContextDecorator):
    def __enter__(self) -> None:
        """Nothing is prepared."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, AmdError):
            raise AmdError(f"amd failed: {error!r}", next_step="run the same command again") from error


def ours() -> _Ours:
    """Make whatever fails in here an ``AmdError``: a full disk, or a fault of this library, is no student's zero.

    A context manager, and a decorator of functions.

    >>> with ours():
    ...     {}["bed"]
    Traceback (most recent call last):
    amd.errors.AmdError: amd failed: KeyError('bed'); run the same command again
    """
    return _Ours()
