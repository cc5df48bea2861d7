"""The door of ``execution_context.json``: the messages of one scenario as the harness keeps them.

They stand in the table SANDBOX, between rows that hold nothing; the examples that the simulated user was shown are rows
too, and so is its brief. What an agent may learn from is what the agent could see.
"""

from __future__ import annotations

from typing import Final, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from amd.errors import TrajectoryError

__all__ = ["MOST_BYTES", "MOST_MESSAGES", "Context", "Row", "read_context"]

Role: TypeAlias = Literal["SYSTEM", "USER", "AGENT", "EXECUTION_ENVIRONMENT"]

MOST_BYTES: Final = 50_000_000
"""A larger file is not read: real ones have 20 to 45 KB."""

MOST_MESSAGES: Final = 30
"""After so many messages the harness ends a scenario."""

_SCRAMBLED: Final = "TOOL_NAME_SCRAMBLED"


class Row(BaseModel):
    """One message. ``visible_to`` is null in the rows that a scenario starts with: then both ends see it.

    ``tool_call_exception`` is what the harness recorded of a failed call, and null for one that did not fail.
    """

    model_config = ConfigDict(strict=True, frozen=True)

    sender: Role | None
    recipient: Role | None
    content: str | None
    openai_tool_call_id: str | None = None
    openai_function_name: str | None = None
    conversation_active: bool | None = None
    tool_call_exception: str | None = None
    tool_trace: tuple[str, ...] | None = None
    visible_to: tuple[Role, ...] | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        parts = {part is None for part in (self.sender, self.recipient, self.content)}
        if len(parts) > 1:
            raise ValueError("a row has a sender, a recipient and a content, or none of them")
        return self

    @property
    def text(self) -> str:
        """The content; empty for a row that holds nothing."""
        return self.content or ""

    @property
    def way(self) -> tuple[Role | None, Role | None]:
        """From whom to whom."""
        return self.sender, self.recipient

    def seen_by(self, role: Role) -> bool:
        """Whether a role can see the message."""
        return role in (self.way if self.visible_to is None else self.visible_to)


class _Tables(BaseModel):
    model_config = ConfigDict(strict=True)

    sandbox: tuple[Row, ...] = Field(alias="SANDBOX")


class Context(BaseModel):
    """The messages of one scenario, and whether its tools had scrambled names."""

    model_config = ConfigDict(strict=True, frozen=True)

    tables: _Tables = Field(alias="_dbs")
    tool_augmentation_list: tuple[str, ...] | None = None

    @property
    def rows(self) -> list[Row]:
        """All messages, without the rows that hold nothing."""
        return [row for row in self.tables.sandbox if row.sender is not None]

    @property
    def scrambled_names(self) -> bool:
        """Whether the agent knew the tools by other names."""
        return _SCRAMBLED in (self.tool_augmentation_list or ())

    @property
    def first_message(self) -> str:
        """What the user says first to the agent; empty if there is nothing."""
        said = (row.text for row in self.rows if row.way == ("USER", "AGENT") and row.seen_by("AGENT"))
        return next(said, "")

    @property
    def brief(self) -> str:
        """What the simulated user was told. It may hold the answer, and is never a task's instruction."""
        told = [row.text for row in self.rows if row.way == ("SYSTEM", "USER")]  # the first ones precede the examples
        return told[-1] if told else ""

    @property
    def active(self) -> bool:
        """Whether the user had not ended the conversation."""
        rows = self.rows
        return bool(rows) and rows[-1].conversation_active is not False

    @property
    def played(self) -> int:
        """How many messages came after those that the scenario starts with."""
        return sum(row.visible_to not in (None, ("USER",)) for row in self.rows)


def read_context(content: bytes) -> Context:
    """The context that a file's bytes hold.

    Raises:
        TrajectoryError: They are cut, no JSON, or of another shape.
    """
    try:
        return Context.model_validate_json(content)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        place = ".".join(map(str, faults[0]["loc"]))
        more = f" ({len(faults) - 1} more)" if len(faults) > 1 else ""
        said = f"{place}: {faults[0]['msg']}" if place else str(faults[0]["msg"])
        raise TrajectoryError(f"no execution context: {said}{more}") from error
