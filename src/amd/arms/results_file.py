"""Results of agents that no overlay knows: ``amd-results.json`` in a directory of its own, which ``amd report`` reads.

One JSON object; ``amd`` of a task is the log that ``RunLog.as_json`` gives, without which a memory's arm is refused::

    {"format": "amd-results/1", "benchmark": "office", "student": "qwen3-4b", "arm": {"method": "none"},
     "memory_content": null, "memory_seal": null, "memory_from": [], "split": null, "created_at": null,
     "terms": {}, "seed": 1, "made_up": false,
     "tasks": [{"task_id": "t1", "family": "f1", "success": true, "fault": null, "steps": 4, "seconds": 2.5,
                "prompt_tokens": 900, "completion_tokens": 80, "amd": {...}}]}
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from amd.arms.arm import Arm
from amd.arms.kept_split import KeptSplit
from amd.arms.results import Fault, RunResults, TaskResult
from amd.arms.run_directory import replace_text
from amd.arms.run_log import RunLog
from amd.arms.words import MOST
from amd.errors import ConfigError
from amd.json_text import dumps

__all__ = ["RESULTS", "read_results", "write_results"]

RESULTS: Final = "amd-results.json"
# More than any run takes (30 years of seconds), and little enough that sums and means of it stay finite.
_Count = Annotated[int, Field(ge=0, le=MOST)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class _Task(_Strict):
    task_id: str
    family: str
    success: bool | None
    fault: Fault | None = None
    steps: _Count | None = None
    seconds: Annotated[float, Field(ge=0, le=MOST)] | None = None
    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None
    amd: dict[str, JsonValue] | None = None


class _Run(_Strict):
    format: Literal["amd-results/1"] = "amd-results/1"
    benchmark: str
    student: str
    arm: dict[str, JsonValue]
    memory_content: str | None = None
    memory_seal: str | None = None
    memory_from: tuple[str, ...] = ()
    split: KeptSplit | None = None
    created_at: str | None = None
    terms: dict[str, JsonValue] = {}
    seed: int | None = None
    made_up: bool = False
    tasks: tuple[_Task, ...]


def write_results(results: RunResults) -> Path:
    """Write the results into their own directory, for ``amd report`` to read; the path of the file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     run = RunResults(path=Path(folder), benchmark="b", student="s", arm=Arm(method="none"), tasks=())
    ...     write_results(run).name, read_results(Path(folder)) == run
    ('amd-results.json', True)
    """
    tasks = [
        {
            **{name: getattr(task, name) for name in _Task.model_fields if name != "amd"},
            "amd": task.log.as_json() if task.log else None,
        }
        for task in results.tasks
    ]
    shared = {name: getattr(results, name) for name in _Run.model_fields.keys() - {"format", "arm", "tasks"}}
    run = _Run.model_validate({**shared, "arm": results.arm.model_dump(mode="json"), "tasks": tuple(tasks)})
    path = results.path / RESULTS
    replace_text(path, dumps(run.model_dump(mode="json"), sort_keys=False).decode() + "\n")
    return path


def read_results(path: Path) -> RunResults | None:
    """The results that a directory has in this file; ``None`` if it has no such file.

    Raises:
        ConfigError: the file is not of this format, or its arm is none.
        TrajectoryError: a task's log is broken, or of another arm.
    """
    file = path / RESULTS
    try:
        found = _Run.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ConfigError(
            f"{file}: {'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}",
            next_step="write it with amd.arms.write_results",
            path=str(file),
        ) from error
    shared: dict[str, Any] = {
        name: getattr(found, name) for name in _Run.model_fields.keys() - {"format", "arm", "tasks"}
    }
    return RunResults(path=path, arm=Arm.of(found.arm), tasks=tuple(map(_task, found.tasks)), **shared)


def _task(task: _Task) -> TaskResult:
    values = {name: getattr(task, name) for name in _Task.model_fields if name != "amd"}
    return TaskResult(**values, log=None if task.amd is None else RunLog.read(task.amd))
