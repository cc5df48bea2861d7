"""A run directory: the output folder of one experiment, with one arm and one student.

``ROOT/experiments/outputs/EXPERIMENT/``

=============================  =======================================================================================
``amd-run.json``               what was asked for
``tasks/TASK/...``             AppWorld's own logs, databases and report, and ``logs/lm_calls.jsonl`` in its own shape
``exposures/TASK.json``        what a task was shown, and how it ended: AppWorld records nothing of it
``evaluations/amd.json``       its evaluations, in the shape of its own command ``evaluate``
``server-K.log``               what the K-th environment server wrote
=============================  =======================================================================================
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amd.arms import RUN_SETTINGS, RunDirectory, RunLog, RunSettings, replace_text
from amd.errors import ConfigError, TrajectoryError
from amd_appworld.evaluations import EVALUATIONS
from amd_appworld.experiments import TASKS
from amd_appworld.exposures import exposures_file

__all__ = ["Ended", "Ending", "Model", "Run", "Settings"]

_OWN = "amd.json"  # in ``evaluations``; no dataset of AppWorld's is called so

Ended: TypeAlias = Literal["completed", "max_steps", "refused"]


class Model(BaseModel):
    """A model behind an endpoint; keys are in the environment and never in a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    base_url: str = Field(min_length=1)


class Settings(RunSettings):
    """What a run was asked for; seconds and tokens are limits of one cell and one reply.

    ``temperature`` is that of the model's answers; ``None`` asks for 0, and takes what the endpoint gives.
    ``scenarios`` names all variants of each scenario that has tasks in the run. ``test_source`` says that the memory
    holds runs of test tasks, which was allowed.
    """

    format: Literal["amd-appworld-run/1"] = "amd-appworld-run/1"
    agent: Model
    tasks: tuple[str, ...]
    scenarios: dict[str, tuple[str, ...]]
    max_steps: int
    max_tokens: int
    cell_timeout: int
    temperature: float | None = None
    timeout: float
    test_source: bool = False

    @property
    def limits(self) -> dict[str, int | float | None]:
        """What decides what comes of a task: runs that differ in one of it cannot be compared."""
        return {name: getattr(self, name) for name in ("max_steps", "max_tokens", "cell_timeout", "temperature")}

    def compared(self) -> dict[str, object]:
        """The same model may be served anywhere."""
        return {"agent": self.agent.name, **self.limits, **super().compared()}


class Ending(BaseModel):
    """How one task ended: ``completed``, at its ``max_steps``, or because the model ``refused`` a request.

    ``unscored`` says that there is no ground truth to evaluate it by; ``left_out`` counts the characters of outputs
    that the model was not shown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    amd: dict[str, Any] | None
    ended: Ended
    steps: int
    unscored: bool = False
    left_out: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def log(self) -> RunLog:
        """What the task was shown; ``TrajectoryError`` if that is no log."""
        return RunLog.read(self.amd)


class Run(RunDirectory[Settings]):
    """A run directory."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, Settings, "run")

    @property
    def tasks(self) -> Path:
        """The folder that AppWorld writes into."""
        return self.path / TASKS

    def begin(self, settings: Settings) -> None:
        """Write the settings; ``ConfigError`` if the folder is of another arm, or of nobody knows which."""
        if (self.path / RUN_SETTINGS).exists():
            before = self.settings
            differences = before.differences(settings)
            if differences:
                raise ConfigError(
                    f"{self.path} has tasks of another arm: {'; '.join(differences)}",
                    next_step="name a new experiment with --experiment",
                    differences=differences,
                )
            together = tuple(dict.fromkeys((*before.tasks, *settings.tasks)))
            scenarios = {**before.scenarios, **settings.scenarios}
            kept = {"created_at": before.created_at, "tasks": together, "scenarios": scenarios}
            settings = settings.model_copy(update=kept)
        elif self.tasks.exists() or (self.path / EVALUATIONS).exists():
            raise ConfigError(
                f"{self.path} is another agent's experiment: it has tasks, and no {RUN_SETTINGS}",
                next_step="name a new experiment with --experiment",
            )
        self.keep(settings)

    def forget(self, task_id: str) -> None:
        """Take away how an earlier try of a task ended."""
        exposures_file(self.path, task_id).unlink(missing_ok=True)

    def keep_ending(self, task_id: str, ending: Ending) -> None:
        """Write how a task ended."""
        replace_text(exposures_file(self.path, task_id), ending.model_dump_json(indent=1) + "\n")

    def ending(self, task_id: str) -> Ending | None:
        """How a task ended; ``None`` if it did not.

        Raises:
            TrajectoryError: its file is broken.
        """
        path = exposures_file(self.path, task_id)
        try:
            return Ending.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            raise TrajectoryError(
                f"{path}: {'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}",
                next_step="delete it, and run the same command again",
            ) from error

    @property
    def evaluations_file(self) -> Path:
        """Where our own evaluations are."""
        return self.path / EVALUATIONS / _OWN

    def evaluations(self) -> dict[str, Any]:
        """What AppWorld's evaluation said of each task; ``TrajectoryError`` if the file is broken."""
        try:
            found = json.loads(self.evaluations_file.read_bytes())["individual"]
        except FileNotFoundError:
            return {}
        except (ValueError, LookupError, TypeError) as error:
            raise _broken(self.evaluations_file, error) from error
        if not isinstance(found, dict) or not all(
            isinstance(each, dict) and isinstance(each.get("success"), bool) for each in found.values()
        ):
            raise _broken(self.evaluations_file, "a task without success")
        return found


def _broken(path: Path, what: object) -> TrajectoryError:
    return TrajectoryError(
        f"{path} is no evaluation of AppWorld's: {what!r}", next_step="move it away, and run the same command again"
    )
