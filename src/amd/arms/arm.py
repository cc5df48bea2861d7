"""The settings of an arm: a method, who may see what, when it is asked, and the memory that is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

from amd.arms.words import ArmProtocol, hides, label_of
from amd.errors import ConfigError
from amd.methods import METHODS, method_named
from amd.session.budget import Limits
from amd.session.terms import Layout, Mode, check_choices

if TYPE_CHECKING:
    from amd.arms.opened import OpenArm
    from amd.exclusion import Split

__all__ = ["Arm"]


class Arm(BaseModel):
    """One arm of an experiment, as far as a memory is concerned; the student itself is the overlay's own.

    Each field is one typed value with a description, so that an overlay can offer it as an option. ``method`` is any
    subset of a memory's tiers; with ``"none"`` the student runs through the same code without memory, and ``memory``,
    ``pin``, ``embedder``, ``embedder_url`` and ``decomposer`` are dropped. :meth:`of` makes an arm of values that a
    person typed; ``arm.model_dump(mode="json")`` gives them back.

    >>> arm = Arm.of({"memory": "memory", "protocol": "in-sample"})
    >>> arm.method, arm.label, arm.excludes
    ('amd', 'IN-SAMPLE', False)
    >>> Arm.of(arm.model_dump(mode="json")) == arm
    True
    >>> Arm.of({"method": "amd"})
    Traceback (most recent call last):
    amd.errors.ConfigError: method 'amd' reads a memory, and none is named; give --memory DIR, or --method none
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str = Field("amd", description=METHODS)
    memory: Path | None = Field(None, description="the memory's directory")
    protocol: ArmProtocol = Field(
        "self-excluded", description="what a task may see: self-excluded, cross-split or in-sample"
    )
    split: Path | None = Field(None, description="a split file: what cross-split holds out, else which tasks are run")
    mode: Mode = Field("static", description="when subtask memory (and sasm) is asked: static, dynamic or replace")
    layout: Layout = Field("block", description="how records are shown: block, or turns for examples as messages")
    workflow_tokens: int = Field(
        400, ge=0, strict=True, description="most tokens of workflow memory; a baseline has those of subtask memory too"
    )
    subtask_tokens: int = Field(800, ge=0, strict=True, description="most tokens of subtask memory at one place")
    function_tokens: int = Field(400, ge=0, strict=True, description="most tokens of one hint")
    tokenizer: Path | None = Field(None, description="the student's tokenizer.json; without it tokens are estimated")
    pin: str | None = Field(None, description="the seal that the memory must have")
    embedder: str | None = Field(None, description="where the memory's embedder is, if it is a folder: onnx:DIR")
    embedder_url: str | None = Field(None, description="where the memory's embedder is served, for openai:MODEL")
    decomposer: str | None = Field(None, description="the model that names a task's parts, to ask subtask memory by")
    decomposer_url: str | None = Field(None, description="where the decomposer is served; else OPENAI_BASE_URL")

    @field_validator("method")
    @classmethod
    def _known(cls, method: str) -> str:
        try:
            return method_named(method).name
        except ConfigError as error:
            raise ValueError(str(error)) from error

    @field_validator("memory", "pin", "embedder", "embedder_url", "decomposer", "decomposer_url")
    @classmethod
    def _none_without_memory(cls, value: object, info: ValidationInfo) -> object:
        return None if info.data.get("method") == "none" else value

    @model_validator(mode="after")
    def _without_contradiction(self) -> Self:
        check_choices(self.mode, self.layout, "json")  # a task's call format is its handler's to say
        if self.method != "none" and self.memory is None:
            raise ConfigError(
                f"method {self.method!r} reads a memory, and none is named",
                next_step="give --memory DIR, or --method none",
                method=self.method,
            )
        if self.protocol == "cross-split" and self.split is None:
            raise ConfigError(
                "protocol 'cross-split' holds out what a split says, and none is named",
                next_step="give --split FILE, or --protocol self-excluded",
                protocol=self.protocol,
            )
        if self.decomposer is not None and self.mode != "static":
            raise ConfigError(
                f"a decomposer names a task's parts before it begins, and mode {self.mode!r} asks turn by turn",
                next_step="leave the decomposer out, or use mode static",
                mode=self.mode,
            )
        return self

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Arm:
        """The arm of named values: of a TOML file, a run's settings or a command line.

        Raises:
            ConfigError: in one line, each value that is unknown or wrong, or what contradicts what.
        """
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            faults = [
                (".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, "))
                for fault in error.errors(include_url=False)
            ]
            raise ConfigError(
                f"wrong settings of an arm: {'; '.join(f'{name}: {what}' for name, what in faults)}",
                next_step=f"its settings are: {', '.join(cls.model_fields)}",
                fields=[name for name, _ in faults],
            ) from error

    @property
    def excludes(self) -> bool:
        """Whether a task's own family is hidden from it, so that each own-family hit is a leak."""
        return hides(self.protocol)

    @property
    def label(self) -> str:
        """What a report calls the arm: its protocol, ``IN-SAMPLE``, or ``no memory``."""
        return label_of(self.method, self.protocol)

    @property
    def limits(self) -> Limits:
        """The tokens that each tier may show at one place."""
        return Limits(self.workflow_tokens, self.subtask_tokens, self.function_tokens, self.tokenizer)

    def absolute(self) -> Arm:
        """The same arm with paths that hold wherever a run is gone on with, and in every process."""
        paths = {name: getattr(self, name) for name in ("memory", "split", "tokenizer")}
        found: dict[str, object] = {name: path.absolute() for name, path in paths.items() if path is not None}
        kind, _, folder = (self.embedder or "").partition(":")
        if kind == "onnx":
            found["embedder"] = f"onnx:{Path(folder).absolute()}"
        return self.model_copy(update=found)

    def open(self, seed: int | None = None, *, split: Split | None = None) -> OpenArm:
        """The arm ready for its tasks: the memory and the split are read and checked whole, once; close it after use.

        Args:
            seed: of the run: what a method draws at random is drawn anew for each.
            split: the one that a run has kept; without it the arm's own file is read.

        Raises:
            StoreError: the memory is not what it should be, or not the one that ``pin`` names.
            LeakageError: ``cross-split`` with a memory that holds more than train families.
            ConfigError: the memory lacks a tier of the method; the split, the tokenizer or the embedder is not there.
            ClientError: the embedder's service cannot be reached.
        """
        # Imported here: settings are read and checked without what opening a memory needs.
        from amd.arms.opened import OpenArm  # noqa: PLC0415

        return OpenArm.of(self, seed, split)
