"""A run directory: one arm with one student, and all that its commands write.

RUN/amd-run.json                        what was asked for
RUN/agent_..._user_..._DATE/            the harness's own folders, one for each time that the run was begun
RUN/exposures/SCENARIO.json             what a scenario's agent was shown: the harness records nothing of it
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from amd.arms import RunDirectory, RunSettings
from amd.errors import ConfigError
from amd_toolsandbox.exposures import exposures_file

__all__ = ["Model", "Run", "Settings"]


class Model(BaseModel):
    """A model behind an endpoint; keys are in the environment and never in a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    base_url: str = Field(min_length=1)


class Settings(RunSettings):
    """What a run was asked for; ``temperature`` is the agent's, ``None`` for whatever its server has."""

    format: Literal["amd-toolsandbox-run/1"] = "amd-toolsandbox-run/1"
    agent: Model
    user: Model
    scenarios: tuple[str, ...]
    temperature: float | None = None
    timeout: float

    def compared(self) -> dict[str, object]:
        """The same models may be served anywhere."""
        own = {"agent": self.agent.name, "user": self.user.name, "temperature": self.temperature}
        return {**own, **super().compared()}


class Run(RunDirectory[Settings]):
    """A run directory."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, Settings, "run")

    def begin(self, settings: Settings) -> None:
        """Write the settings; ``ConfigError`` if the directory has runs of another arm, or of nobody knows which."""
        if any(self.path.glob("agent_*")):
            before = self.settings
            differences = before.differences(settings)
            if differences:
                raise ConfigError(
                    f"{self.path} has scenarios of another arm: {'; '.join(differences)}",
                    next_step="name a new directory with --out",
                    differences=differences,
                )
            together = tuple(dict.fromkeys((*before.scenarios, *settings.scenarios)))
            settings = settings.model_copy(update={"created_at": before.created_at, "scenarios": together})
        self.keep(settings)

    def exposures_file(self, scenario: str) -> Path:
        """Where the log of a scenario is."""
        return exposures_file(self.path, scenario)
