"""What an environment server answers, and how it fails."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from amd.errors import ClientError

__all__ = ["Briefing", "EnvironmentGone", "EnvironmentRefused", "Person", "TaskEvaluation"]


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


class TaskEvaluation(_Answer):
    """What AppWorld's own evaluation of a task says, all of it; ``passes`` and ``failures`` are its tests.

    >>> TaskEvaluation.model_validate({"success": True, "passes": [], "failures": [], "difficulty": 1}).success
    True
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    success: bool
    passes: tuple[dict[str, Any], ...]
    failures: tuple[dict[str, Any], ...]
