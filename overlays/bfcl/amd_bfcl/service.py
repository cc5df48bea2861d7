"""The service behind a run: what the student is reached by, and when its failures end the whole run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event, Lock
from types import TracebackType
from typing import Any

import openai

from amd.errors import AmdError, ClientError
from amd_bfcl.trial import Trial

__all__ = ["Service", "Stopped"]

_OF_THE_REQUEST = (openai.BadRequestError, openai.UnprocessableEntityError)
"""Verdicts about one request, such as a context that is too long: the next task has another one."""

_MOST_IN_A_ROW = 3


class Stopped(BaseException):
    """Ends the whole run. No ``Exception``, since the harness makes each of those the result of a task."""

    def __init__(self, error: AmdError) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(slots=True)
class Service:
    """Shared by all threads of a run.

    Args:
        client: what the vendor's client is made with: ``base_url``, ``api_key``, ``timeout`` in seconds.
        trial: task id -> its trial.
        keep: what a finished result line is given to.
        probe: raises ``ClientError`` if the endpoint is gone.
        sampling: members of each request beside the harness's own.
    """

    client: Mapping[str, Any]
    trial: Callable[[str], Trial]
    keep: Callable[[Mapping[str, Any]], None]
    probe: Callable[[], None]
    sampling: Mapping[str, int] = field(default_factory=dict)
    stopping: Event = field(default_factory=Event)
    _in_a_row: int = 0
    _lock: Lock = field(default_factory=Lock)

    def task(self, task_id: str) -> _Task:
        """The trial of one task as a context manager, for as long as the task runs.

        Raises:
            Stopped: the next tasks would only fare the same: the endpoint is gone, or three tasks in a row failed
                before their first answer; the memory is not fit to be shown; a line cannot be written.
        """
        return _Task(self, task_id)

    def ended(self, error: Exception | None, *, answered: bool) -> None:
        """Let a task alone fail, or the run.

        What fails after an answer may be the student's own doing: a context that grew too long, an answer without end,
        a call that the server cannot read back. Three tasks in a row without any answer are not.
        """
        if isinstance(error, AmdError):
            raise Stopped(error) from error
        if isinstance(error, OSError):
            raise Stopped(
                AmdError(
                    f"{error.filename or 'file system'}: {error.strerror or error}",
                    next_step="make it possible to write there, then run the same command again",
                )
            ) from error
        with self._lock:
            own = error is None or answered or isinstance(error, _OF_THE_REQUEST)
            self._in_a_row = 0 if own else self._in_a_row + 1
            weary = self._in_a_row >= _MOST_IN_A_ROW
        if weary or (isinstance(error, openai.APIError) and not self._is_there()):
            raise Stopped(
                ClientError(
                    f"the endpoint {self.client['base_url']} failed: {error}",
                    next_step="see to the server"
                    + (" (does its address end with /v1?)" if isinstance(error, openai.NotFoundError) else "")
                    + ", then run the same command again: finished tasks are kept",
                )
            ) from error

    def _is_there(self) -> bool:
        """Whether the endpoint still answers: then it was this task that it could not serve."""
        try:
            self.probe()
        except ClientError:
            return False
        return True


class _Task:
    """One task of a run; the service is told how it ended."""

    def __init__(self, service: Service, task_id: str) -> None:
        self._service = service
        self._task_id = task_id

    def __enter__(self) -> Trial:
        try:
            self._trial = self._service.trial(self._task_id)
        except AmdError as error:
            raise Stopped(error) from error
        return self._trial

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, Exception):
            self._service.ended(error, answered=self._trial.answered)
