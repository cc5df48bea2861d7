"""One environment server of AppWorld, asked over HTTP: a world is begun, cells are run, the end is evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from amd_appworld.answers import Briefing, EnvironmentGone, EnvironmentRefused, TaskEvaluation

__all__ = ["Environment"]

_WAIT = 120.0  # seconds for whatever is not a cell: the first world of a server takes some three
_GRACE = 60.0  # seconds that a cell may take beyond its own limit, to end it and to write the logs
_LONE = re.compile("[\ud800-\udfff]")  # half a character: no JSON that a server reads

_Shape = TypeVar("_Shape", bound=BaseModel)


class Environment:
    """The client of one server, which has one world at a time; used by one thread.

    Each question may raise ``EnvironmentGone`` (no answer) or ``EnvironmentRefused`` (an error, or no sense).

    Args:
        url: of a server on this machine.
        cell_timeout: seconds that AppWorld lets a cell run.
        wait: seconds for anything else.
        grace: seconds for a cell beyond its own; a minute if left out.
    """

    def __init__(self, url: str, *, cell_timeout: int = 100, wait: float = _WAIT, grace: float | None = None) -> None:
        self.url = url
        self._cell_timeout = cell_timeout
        self._grace = _GRACE if grace is None else grace
        # Nothing of the machine's proxies: the server is on this machine.
        self._client = httpx.Client(base_url=url, timeout=wait, trust_env=False)

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
        said = {"experiment_name": experiment, "load_ground_truth": ground_truth, "timeout_seconds": self._cell_timeout}
        return self._shaped("initialize", Briefing, self._post("initialize", task_id, said))

    def execute(self, task_id: str, code: str) -> str:
        """Run a cell in the world; what it printed, or how it failed."""
        clean = {"code": _LONE.sub("\ufffd", code)}
        output = self._post("execute", task_id, clean, wait=self._cell_timeout + self._grace)
        if not isinstance(output, str):
            raise self._no_answer("execute", f"a {type(output).__name__}")
        return output

    def completed(self, task_id: str) -> bool:
        """Whether the task was declared done."""
        return self._post("task_completed", task_id) is True

    def save_logs(self, task_id: str) -> None:
        """Write the logs out: AppWorld itself leaves a last cell out that was not run."""
        self._post("save_logs", task_id)

    def evaluate(self, task_id: str) -> TaskEvaluation:
        """AppWorld's own evaluation of the open world, which also writes the task's ``evaluation/report.md``."""
        return self._shaped("evaluate", TaskEvaluation, self._post("evaluate", task_id, {"suppress_errors": True}))

    def _post(
        self, method: str, task_id: str, more: Mapping[str, object] | None = None, *, wait: float | None = None
    ) -> object:
        answer = self._ask("POST", method, {"task_id": task_id, **(more or {})}, wait)
        if not isinstance(answer, Mapping) or "output" not in answer:
            raise self._no_answer(method, "an answer without an output")
        return answer["output"]

    def _ask(
        self, verb: str, method: str, body: Mapping[str, object] | None = None, wait: float | None = None
    ) -> object:
        timeout = httpx.USE_CLIENT_DEFAULT if wait is None else httpx.Timeout(wait)
        try:
            answer = self._client.request(verb, f"/{method}", json=body, timeout=timeout)
        except (httpx.HTTPError, httpx.StreamError, RuntimeError) as failure:  # the last: this client was closed
            raise EnvironmentGone(
                f"the environment server at {self.url} did not answer {method}: {failure!r}",
                next_step="see its log, then run the same command again",
                method=method,
            ) from failure
        if answer.status_code != httpx.codes.OK:
            said = " ".join(answer.text.split())[:200]
            raise self._no_answer(method, f"{answer.status_code}: {said}", status=answer.status_code)
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

    def _no_answer(self, method: str, what: str, status: int = 200) -> EnvironmentRefused:
        message = f"the environment server at {self.url} answered {method} with {what}"
        return EnvironmentRefused(message, next_step="see its log for the traceback", method=method, status=status)
