"""The door of ``logs/lm_calls.jsonl``: what the agent was asked, and its words, one line for each call of its model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amd.traces import strip_memory
from amd_appworld.files import bytes_of

__all__ = ["LmCalls", "read_lm_calls"]


class _Message(BaseModel):
    model_config = ConfigDict(extra="ignore")

    content: Any = None


class _Choice(BaseModel):
    model_config = ConfigDict(extra="ignore")

    message: _Message


class _Output(BaseModel):
    model_config = ConfigDict(extra="ignore")

    choices: tuple[_Choice, ...] = Field(min_length=1)


class _Input(BaseModel):
    model_config = ConfigDict(extra="ignore")

    model: str | None = None
    messages: tuple[_Message, ...] = ()


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore")

    input: _Input
    output: _Output


@dataclass(frozen=True, slots=True)
class LmCalls:
    """The agent's replies in order, the models that gave them, and whether a prompt held memory of ours.

    ``faults`` counts lines that could not be read: their replies are not known, and so neither is which reply any
    other one is. ``torn`` says that the last line was cut off.
    """

    replies: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    memory: bool = False
    faults: int = 0
    torn: bool = False


def read_lm_calls(path: Path) -> LmCalls | None:
    """The calls that a file tells of; ``None`` if there is no file that can be read."""
    try:
        lines = bytes_of(path).split(b"\n")
    except OSError:
        return None
    torn = False
    faults = 0
    calls: list[_Line] = []
    for number, raw in enumerate(lines):
        if not raw.strip():
            continue
        call = _read(raw)
        if call is not None:
            calls.append(call)
        elif number == len(lines) - 1:
            torn = True
        else:
            faults += 1
    models = dict.fromkeys(call.input.model for call in calls if call.input.model)
    return LmCalls(
        tuple(_text(call.output.choices[0].message.content) for call in calls),
        tuple(models),
        _saw_memory(calls),
        faults,
        torn,
    )


def _read(raw: bytes) -> _Line | None:
    try:
        return _Line.model_validate(json.loads(raw.decode("utf-8", "replace")))
    except (ValueError, RecursionError, ValidationError):
        return None


def _text(content: Any) -> str:  # noqa: ANN401 - a string, a list of parts, or nothing
    """The words of a message. Those of a list of parts are joined; a lone surrogate is replaced."""
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content.encode("utf-8", "replace").decode("utf-8") if isinstance(content, str) else ""


def _saw_memory(calls: Sequence[_Line]) -> bool:
    """Whether memory stood in a prompt. A history that is sent again is looked at once."""
    texts = dict.fromkeys(_text(message.content) for call in calls for message in call.input.messages)
    return any(strip_memory(text)[1] for text in texts)
