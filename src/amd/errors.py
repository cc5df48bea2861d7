"""Every error that ``amd`` raises on purpose, in one tree.

The tree::

    AmdError                        exit code 1
    ├── TrajectoryError             a run file cannot be read, or a run breaks the shape
    ├── DistillError                a record cannot be written from a run
    ├── ReplyError                  a model answered, but not what it was asked for
    ├── StoreError                  a memory directory is not what it should be
    │   ├── RowsDoNotMatch          records and embedding rows differ in number
    │   ├── WidthDoesNotMatch       embedding rows have another width than declared
    │   ├── DigestDoesNotMatch      bytes differ from what the manifest or a pin says
    │   ├── EmbedderDoesNotMatch    the memory was embedded by another embedder
    │   └── SchemaTooNew            written by a format that this version cannot read
    ├── LeakageError                exit code 4: somebody would see what must stay hidden
    ├── BudgetSpent                 exit code 5: stopped on a budget, to be gone on with
    ├── ConfigError                 exit code 2: the request contradicts itself or the memory
    └── ClientError                 exit code 3: a service is unreachable or refused

A message carries the values that were compared and the next step; the values are attributes too, so that
a caller never parses a message. The command line prints the message on one line and exits with ``exit_code``.
"""

from __future__ import annotations

from typing import ClassVar, Literal

__all__ = [
    "AmdError",
    "BudgetSpent",
    "ClientError",
    "ConfigError",
    "DigestDoesNotMatch",
    "DistillError",
    "EmbedderDoesNotMatch",
    "LeakageError",
    "ReplyError",
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
    """A run file cannot be read, or a run breaks the shape of a trajectory.

    >>> from amd.traces import read_tools
    >>> read_tools([{"name": 5}])
    Traceback (most recent call last):
    amd.errors.TrajectoryError: tool 1 has no name
    """


class DistillError(AmdError):
    """A record cannot be written from a run: for a tier of your own, which may meet runs that it cannot use.

    >>> error = DistillError("the run has no call", next_step="admit runs with calls", task_id="t1")
    >>> error.exit_code, error.next_step
    (1, 'admit runs with calls')
    """


class ReplyError(AmdError):
    """A model answered, but not what it was asked for. ``reason`` says in which way.

    ``empty``: nothing, or only thoughts. ``prose``: words instead of JSON. ``cut``: it ends in the middle. ``shape``:
    JSON, or nearly, but not of the shape. ``length``: it was cut at its room. ``fault``: of the shape, and wrong. The
    message is short and can be shown to the model.

    >>> from amd.clients import read_call
    >>> try:
    ...     read_call("I cannot do that.")
    ... except ReplyError as error:
    ...     error.reason, error.exit_code
    ('prose', 1)
    """

    def __init__(
        self,
        message: str,
        *,
        reason: Literal["empty", "prose", "cut", "shape", "length", "fault"],
        next_step: str = "",
        **fields: object,
    ) -> None:
        self.reason = reason
        super().__init__(message, next_step=next_step, reason=reason, **fields)


class StoreError(AmdError):
    """A memory directory is not what it should be.

    >>> import amd
    >>> amd.open_memory("no-such-folder")
    Traceback (most recent call last):
    amd.errors.StoreError: no memory at no-such-folder: it is no directory; name a directory that amd build wrote
    """


class RowsDoNotMatch(StoreError):
    """Records and embedding rows differ in number; ``fields`` has ``records`` and ``rows``.

    >>> error = RowsDoNotMatch("2 rows for 3 records", next_step="run: amd reindex DIR", records=3, rows=2)
    >>> isinstance(error, StoreError), error.fields
    (True, {'records': 3, 'rows': 2})
    """


class WidthDoesNotMatch(StoreError):
    """Embedding rows have another width than declared; ``fields`` has ``expected`` and ``found``.

    >>> error = WidthDoesNotMatch("rows of width 384, expected 1024", expected=1024, found=384)
    >>> isinstance(error, StoreError), error.fields["found"]
    (True, 384)
    """


class DigestDoesNotMatch(StoreError):
    """Bytes differ from what the manifest or a pin says; ``fields`` has ``expected`` and ``found``.

    >>> error = DigestDoesNotMatch("the seal is 9c1e, not 03bd", expected="03bd", found="9c1e")
    >>> isinstance(error, StoreError), error.fields["expected"]
    (True, '03bd')
    """


class EmbedderDoesNotMatch(StoreError):
    """The memory was embedded by another embedder; ``fields`` has ``stored`` and ``given``.

    >>> error = EmbedderDoesNotMatch("embedded by 'hash', opened with 'stub'", stored="hash", given="stub")
    >>> isinstance(error, StoreError), error.fields["stored"]
    (True, 'hash')
    """


class SchemaTooNew(StoreError):
    """A file was written by a format that this version cannot read; ``fields`` has ``found`` and ``known``.

    >>> error = SchemaTooNew("line 1 has format 2", next_step="read it with a newer amd", found=2, known=1)
    >>> str(error)
    'line 1 has format 2; read it with a newer amd'
    """


class LeakageError(AmdError):
    """Somebody would see what must stay hidden.

    >>> LeakageError("the memory holds the test family 'multi_turn_7'", families=["multi_turn_7"]).exit_code
    4
    """

    exit_code = 4


class BudgetSpent(AmdError):
    """A budget is spent; what was finished is kept, and the same command goes on. ``fields`` has ``spent``, ``budget``.

    >>> error = BudgetSpent("12 tokens are spent of 10", next_step="raise --budget-tokens", spent=12, budget=10)
    >>> error.exit_code, error.fields["spent"]
    (5, 12)
    """

    exit_code = 5


class ConfigError(AmdError):
    """The request contradicts itself or the memory it is made of.

    >>> import amd
    >>> amd.load_embedder("word2vec")
    Traceback (most recent call last):
    amd.errors.ConfigError: 'word2vec' is no embedder; use one of: minilm, hash, onnx:DIR, openai:MODEL
    """

    exit_code = 2


class ClientError(AmdError):
    """A service is unreachable, or it refused the request.

    ``status`` tells what a caller can do: 400, 413 and 422 refuse this request and may grant the next; 401, 403 and 404
    refuse all of them; 408, 409, 429 and 5xx were asked again and are still overloaded; 200 is an answer that is none.

    >>> from amd.testing import StubEmbedder
    >>> StubEmbedder(fail_at=1).embed(["a text"])
    Traceback (most recent call last):
    amd.errors.ClientError: the stub embedder fails at call 1, as it was told to; run the same command again
    """

    exit_code = 3

    @property
    def status(self) -> int | None:
        """The HTTP status of the last answer; ``None`` if there was none, or if no service was asked."""
        found = self.fields.get("status")
        return found if isinstance(found, int) else None
