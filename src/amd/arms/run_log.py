"""What one run of one task writes down about its memory, and how that is read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from amd.arms.words import MOST, ArmProtocol
from amd.errors import ConfigError, TrajectoryError
from amd.json_text import JSON, dumps, replace_surrogates
from amd.records import Exposure
from amd.session.terms import Layout, Mode
from amd.trajectory import Task

if TYPE_CHECKING:  # what reads logs back opens nothing
    from amd.arms.arm import Arm
    from amd.arms.opened import OpenArm
    from amd.session import Session

__all__ = ["RunLog"]

_FORMAT: Final = "amd-run/1"
_Count = Annotated[int, Field(ge=0, le=MOST)]


class RunLog(BaseModel):
    """One run of one task: which arm it ran in, what it was shown, and what came of it.

    A harness keeps it beside the run's own result (:meth:`as_json`); readers and reports take it back (:meth:`read`).
    ``memory`` is the digest of the memory's records. ``calls`` counts the student's calls, ``failed_calls`` those that
    failed, ``hints`` the hints that it read, ``placeholders`` the calls in which it wrote a masked value's placeholder
    out, and ``system_changes`` how often its system block changed after the first request: each time the server's
    prefix cache is given up.

    >>> from amd.arms import Arm
    >>> from amd.testing import run
    >>> with Arm(method="none").open() as opened:
    ...     log = RunLog.of(
    ...         opened, run(1).task, None, calls=9, failed_calls=2, hints=0, placeholders=0, system_changes=0
    ...     )
    >>> log.as_json()["failed_calls"], log.memory_assisted, RunLog.read(log.as_json()) == log
    (2, False, True)
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    format: Literal["amd-run/1"] = _FORMAT
    method: str
    protocol: ArmProtocol
    mode: Mode
    layout: Layout
    memory: str | None
    task_id: str
    family: str
    exposures: tuple[Exposure, ...]
    calls: _Count
    failed_calls: _Count
    hints: _Count
    placeholders: _Count
    system_changes: _Count

    @model_validator(mode="after")
    def _of_one_run(self) -> Self:
        if (self.method == "none") != (self.memory is None):
            raise ValueError(f"method {self.method!r} with the memory {self.memory!r}")
        if self.method == "none" and (self.exposures or self.hints):
            raise ValueError(f"method 'none' with {len(self.exposures)} exposures and {self.hints} hints")
        for at, exposure in enumerate(self.exposures):
            told = {len(exposure.record_ids), len(exposure.families), len(exposure.scores), len(exposure.supports)}
            if len(told) > 1:
                raise ValueError(f"exposure {at} tells of {max(told)} records, and of {min(told)}")
            if wrong := [count for count in _counts(exposure) if not 0 <= count <= MOST]:
                raise ValueError(f"exposure {at} counts {wrong[0]!s:.20}")
            if (exposure.viewer, exposure.task_id) != (self.protocol, self.task_id):
                raise ValueError(
                    f"exposure {at} is of task {exposure.task_id!r} under {exposure.viewer!r}, "
                    f"the run of task {self.task_id!r} under {self.protocol!r}"
                )
        return self

    def foreign_to(self, arm: Arm, memory_content: str | None, task_id: str) -> str:
        """Why this is not the log of that task in that arm, in words; empty if it is.

        >>> from amd.arms import Arm
        >>> from amd.testing import run
        >>> with Arm(method="none").open() as opened:
        ...     log = RunLog.of(
        ...         opened, run(1).task, None, calls=9, failed_calls=2, hints=0, placeholders=0, system_changes=0
        ...     )
        >>> log.foreign_to(opened.arm, None, "t2").split(",")[:2]
        ['of multi_turn_base_1', ' none']
        """
        wanted = (task_id, arm.method, arm.protocol, arm.mode, arm.layout, memory_content)
        found = (self.task_id, self.method, self.protocol, self.mode, self.layout, self.memory)
        if found == wanted:
            return ""
        ours, theirs = (", ".join(value or "no memory" for value in values) for values in (found, wanted))
        return f"of {ours}, not of {theirs}"

    @classmethod
    def of(
        cls,
        opened: OpenArm,
        task: Task,
        session: Session | None,
        *,
        calls: int,
        failed_calls: int,
        hints: int,
        placeholders: int,
        system_changes: int,
    ) -> RunLog:
        """The log of a run that has ended; ``session`` is what the arm gave for the task, ``None`` included.

        Raises:
            ConfigError: the session is not the one of this task in this arm.
        """
        arm = opened.arm
        if (session is None) != (opened.content is None) or (
            session is not None and (session.viewer.task, session.viewer.protocol) != (task, arm.protocol)
        ):
            raise ConfigError(
                f"the session is not the one of task {task.task_id!r} in this arm ({arm.method}, {arm.label})",
                next_step="give what the arm's session(task, ...) gave",
                task_id=task.task_id,
            )
        return cls(
            method=arm.method,
            protocol=arm.protocol,
            mode=arm.mode,
            layout=arm.layout,
            memory=opened.content,
            task_id=task.task_id,
            family=task.family,
            exposures=session.exposures if session else (),
            calls=calls,
            failed_calls=failed_calls,
            hints=hints,
            placeholders=placeholders,
            system_changes=system_changes,
        )

    @classmethod
    def read(cls, value: object) -> RunLog:
        """The log that :meth:`as_json` wrote, from its parsed JSON.

        Raises:
            TrajectoryError: it is none, or of a format that this version does not know.
        """
        found = value.get("format") if isinstance(value, Mapping) else None
        if found != _FORMAT:
            raise TrajectoryError(
                f"no run log: its format is {found!r}, known is {_FORMAT!r}",
                next_step="give what a run of amd wrote, and read newer runs with a newer amd",
                found=found,
                known=_FORMAT,
            )
        try:
            return cls.model_validate_json(dumps(value, sort_keys=False))
        except ValidationError as error:
            faults = error.errors(include_url=False)
            why = "; ".join(f"{'.'.join(map(str, fault['loc']))} {fault['msg']}".strip() for fault in faults[:3])
            raise _no_log(why) from error
        except ValueError as error:  # no JSON at all
            raise _no_log(str(error)) from error

    def as_json(self) -> dict[str, JSON]:
        """The log as one JSON object; members of an exposure that have their default are left out."""
        values: dict[str, JSON] = {name: getattr(self, name) for name in type(self).model_fields}
        values["exposures"] = [_told(exposure) for exposure in self.exposures]
        clean, _ = replace_surrogates(values)  # a place may be a name that a student's server made
        assert isinstance(clean, dict)
        return clean

    @property
    def memory_assisted(self) -> bool:
        """Whether the student read anything of a memory: a record or a hint."""
        shown = any(exposure.record_ids or exposure.tokens > 0 for exposure in self.exposures)
        return shown or self.hints > 0


def _counts(exposure: Exposure) -> tuple[int, ...]:
    own = (exposure.considered, exposure.below_floor, exposure.own_family, exposure.tokens)
    return (*own, *exposure.supports, *exposure.excluded.values(), *exposure.dropped.values())


def _no_log(why: str) -> TrajectoryError:
    return TrajectoryError(f"no run log: {why}", next_step="give what a run of amd wrote, unchanged")


def _told(exposure: Exposure) -> dict[str, JSON]:
    """The members of an exposure that say more than their default."""
    told: dict[str, JSON] = {}
    for member in fields(exposure):
        value = getattr(exposure, member.name)
        default = member.default if member.default_factory is MISSING else member.default_factory()
        if value != default:
            told[member.name] = [*value] if isinstance(value, tuple) else value
    return told
