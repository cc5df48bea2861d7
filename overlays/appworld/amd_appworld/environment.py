"""One environment server of AppWorld, asked over HTTP: a world is begun, cells are run, the end is evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from amd.errors import ClientError

__all__ = ["Briefing", "Environment", "EnvironmentGone", "EnvironmentRefused", "Person", "Verdict"]

_WAIT = 120.0  # seconds for whatever is not a cell: the first world of a server takes some three
_GRACE = 60.0  # seconds that a cell may take beyond its own limit, to end it and to write the logs
_LONE = re.compile("[\ud800-\udfff]")  # half a character: no JSON that a server reads

_Shape = TypeVar("_Shape", bound=BaseModel)


class EnvironmentGone(ClientError):
    """The server died, hangs, or was never there: its world is lost, and another one may do.

    >>> EnvironmentGone("no answer within 9 seconds").exit_code
    3
    """


class EnvironmentRefused(ClientError):
    """The server is there and answers with an error of its own; ``status`` is the HTTP status.

    >>> EnvironmentRefused("evaluate was answered with 500", status=500).status
    500
    """


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Person(_Answer):
    """Whose task it is."""

    first_name: str
    last_name: str
    email: str
    phone_number: str


class Briefing(_Answer):
    """What a world says of its task when it begins."""

    task_id: str
    instruction: str
    supervisor: Person


class Verdict(_Answer):
    """What AppWorld's own evaluation of a task says, all of it; ``passes`` and ``failures`` are its tests.

    >>> Verdict.model_validate({"success": True, "passes": [], "failures": [], "difficulty": 1}).success
    True
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    success: bool
    passes: tuple[dict[str, Any], ...]
    failures: tuple[dict[str, Any], ...]


class Environment:
    """The client of one server, which has one world at a time; used by one thread. A context manager.

    Args:
        url: of a server on this machine.
        cell_timeout: seconds that AppWorld lets a cell run.
        wait: seconds for anything else.
    """

    def __init__(self, url: str, *, cell_timeout: int = 100, wait: float = _WAIT) -> None:
        self.url = url
        self._cell_timeout = cell_timeout
        # Nothing of the machine's proxies: the server is on this machine.
        self._client = httpx.Client(base_url=url, timeout=wait, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the server stays."""
        self._client.close()

    def api_docs(self) -> Mapping[str, Mapping[str, Any]]:
        """The documents of all APIs, ``{app: {api: document}}``."""
        found = self._ask("GET", "api_docs")
        if not isinstance(found, Mapping):
            raise self._no_answer("api_docs", f"a {type(found).__name__}")
        return found

    def initialize(self, task_id: str, experiment: str, *, ground_truth: bool = True) -> Briefing:
        """Begin a task's world in place of the one that is open. AppWorld empties the task's output folder.

        Args:
            task_id: the task.
            experiment: the name of the folder in ``experiments/outputs``.
            ground_truth: whether there is one to load; without it the task cannot be evaluated.
        """
        body: dict[str, object] = {
            "task_id": task_id,
            "experiment_name": experiment,
            "load_ground_truth": ground_truth,
            "timeout_seconds": self._cell_timeout,
        }
        return self._shaped("initialize", Briefing, self._post("initialize", body))

    def execute(self, task_id: str, code: str) -> str:
        """Run a cell in the world; what it printed, or how it failed."""
        clean = _LONE.sub("\ufffd", code)
        output = self._post("execute", {"task_id": task_id, "code": clean}, wait=self._cell_timeout + _GRACE)
        if not isinstance(output, str):
            raise self._no_answer("execute", f"a {type(output).__name__}")
        return output

    def completed(self, task_id: str) -> bool:
        """Whether the task was declared done."""
        return self._post("task_completed", {"task_id": task_id}) is True

    def save_logs(self, task_id: str) -> None:
        """Write the logs out: AppWorld itself leaves a last cell out that was not run."""
        self._post("save_logs", {"task_id": task_id})

    def evaluate(self, task_id: str) -> Verdict:
        """AppWorld's own evaluation of the open world, which also writes the task's ``evaluation/report.md``."""
        body: dict[str, object] = {"task_id": task_id, "suppress_errors": True}
        return self._shaped("evaluate", Verdict, self._post("evaluate", body))

    def finish(self, task_id: str) -> None:
        """Close the world."""
        self._post("close", {"task_id": task_id})

    def _post(self, method: str, body: Mapping[str, object], *, wait: float | None = None) -> object:
        answer = self._ask("POST", method, body, wait)
        if not isinstance(answer, Mapping) or "output" not in answer:
            raise self._no_answer(method, "an answer without an output")
        return answer["output"]

    def _ask(
        self, verb: str, method: str, body: Mapping[str, object] | None = None, wait: float | None = None
    ) -> object:
        timeout = httpx.USE_CLIENT_DEFAULT if wait is None else httpx.Timeout(wait)
        try:
            answer = self._client.request(verb, f"/{method}", json=body, timeout=timeout)
        except (httpx.HTTPError, httpx.StreamError) as failure:
            raise EnvironmentGone(
                f"the environment server at {self.url} did not answer {method}: {failure!r}",
                next_step="see its log, then run the same command again",
                method=method,
            ) from failure
        if answer.status_code != httpx.codes.OK:
            raise EnvironmentRefused(
                f"the environment server at {self.url} answered {method} with {answer.status_code}: "
                f"{' '.join(answer.text.split())[:200]}",
                next_step="see its log for the traceback",
                method=method,
                status=answer.status_code,
            )
        try:
            return answer.json()
        except ValueError as error:
            raise self._no_answer(method, f"no JSON ({error})") from error

    def _shaped(self, method: str, shape: type[_Shape], value: object) -> _Shape:
        try:
            return shape.model_validate(value)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, fault["loc"])) or "the whole"
            raise self._no_answer(method, f"{where}: {fault['msg']}") from error

    def _no_answer(self, method: str, what: str) -> EnvironmentRefused:
        return EnvironmentRefused(
            f"the environment server at {self.url} answered {method} with {what}",
            next_step="check that it is AppWorld's own, of a version that is known",
            method=method,
            status=200,
        )
