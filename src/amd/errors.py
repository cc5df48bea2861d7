"""Every error that ``amd`` raises on purpose, in one tree.

The tree::

    AmdError                        exit code 1
    ├── TrajectoryError             a run file cannot be read, or a run breaks the shape
    ├── DistillError                a record cannot be written from a run
    ├── StoreError                  a memory directory is not what it should be
    │   ├── RowsDoNotMatch          records and embedding rows differ in number
    │   ├── WidthDoesNotMatch       embedding rows have another width than declared
    │   ├── DigestDoesNotMatch      bytes differ from what the manifest or a pin says
    │   ├── EmbedderDoesNotMatch    the memory was embedded by another embedder
    │   └── SchemaTooNew            written by a format that this version cannot read
    ├── LeakageError                exit code 4: somebody would see what must stay hidden
    ├── ConfigError                 exit code 2: the request contradicts itself or the memory
    └── ClientError                 exit code 3: a service is unreachable or refused

A message carries the values that were compared and the next step; the values are attributes too, so that
a caller never parses a message. The command line prints the message on one line and exits with ``exit_code``.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "AmdError",
    "ClientError",
    "ConfigError",
    "DigestDoesNotMatch",
    "DistillError",
    "EmbedderDoesNotMatch",
    "LeakageError",
    "RowsDoNotMatch",
    "SchemaTooNew",
    "StoreError",
    "TrajectoryError",
    "WidthDoesNotMatch",
]


class AmdError(Exception):
    """The root of every error that ``amd`` raises on purpose.

    >>> error = AmdError("two rows, three records", next_step="run: amd check DIR", rows=2, records=3)
    >>> str(error), error.fields["rows"]
    ('two rows, three records; run: amd check DIR', 2)
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, next_step: str = "", **fields: object) -> None:
        self.message = message
        self.next_step = next_step
        self.fields = fields
        super().__init__(f"{message}; {next_step}" if next_step else message)


class TrajectoryError(AmdError):
    """A run file cannot be read, or a run breaks the shape of a trajectory."""


class DistillError(AmdError):
    """A record cannot be written from a run."""


class StoreError(AmdError):
    """A memory directory is not what it should be."""


class RowsDoNotMatch(StoreError):
    """Records and embedding rows differ in number; ``fields`` has ``records`` and ``rows``."""


class WidthDoesNotMatch(StoreError):
    """Embedding rows have another width than declared; ``fields`` has ``expected`` and ``found``."""


class DigestDoesNotMatch(StoreError):
    """Bytes differ from what the manifest or a pin says; ``fields`` has ``expected`` and ``found``."""


class EmbedderDoesNotMatch(StoreError):
    """The memory was embedded by another embedder; ``fields`` has ``stored`` and ``given``."""


class SchemaTooNew(StoreError):
    """A file was written by a format that this version cannot read; ``fields`` has ``found`` and ``known``."""


class LeakageError(AmdError):
    """Somebody would see what must stay hidden."""

    exit_code = 4


class ConfigError(AmdError):
    """The request contradicts itself or the memory it is made of."""

    exit_code = 2


class ClientError(AmdError):
    """A service is unreachable, or it refused the request."""

    exit_code = 3
