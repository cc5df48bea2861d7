"""The options of the format ``openai-chat``, and the keys that a run's members are looked up by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, field_validator

from amd.traces.reader import ReaderOptions

__all__ = ["DEFAULT_KEYS", "ChatOptions"]

DEFAULT_KEYS: Mapping[str, Sequence[str]] = {
    "messages": ("messages", "traj", "conversation"),
    "score": ("score", "reward"),
    "task_id": ("task_id", "id"),
    "trial": ("trial",),
    "tools": ("tools",),
    "family": (),
    "benchmark": (),
}
"""What can be mapped, and the keys that are tried for it, in order, where it is not."""


class ChatOptions(ReaderOptions):
    """How to read runs kept as chat messages."""

    map: str = Field(
        "",
        description="where a run keeps its things, as score=result.points,family=group: pairs NAME=KEY of "
        "messages, score, task_id, trial (several runs of a task), family (tasks that share an answer), "
        "benchmark, tools",
    )
    """Pairs ``NAME=KEY``; a key with dots goes into objects."""
    success_score: float = Field(
        1.0, allow_inf_nan=False, description="the least score of a success; a run without a score is unscored"
    )
    """The least score of a success."""
    benchmark: str = Field("openai-chat", min_length=1, description="the benchmark of all runs, if no key says it")
    """The benchmark of all runs where ``map`` names no key for it."""
    teacher: str = Field("unknown", description="the name of the agent that made the runs")
    """The name of the agent that made the runs."""
    kind: Literal["teacher", "oracle", "student"] = Field(
        "teacher", description="who made the runs: a teacher, the benchmark's answer key (oracle), or a student"
    )
    """Who made the runs."""
    think_tools: str = Field("think", description="tools that only record a thought, separated by commas")
    """Tools whose calls are thoughts and no calls."""

    @field_validator("map")
    @classmethod
    def _check_map(cls, value: str) -> str:
        """Refuse pairs that name nothing."""
        for name, key in _pairs(value):
            if name not in DEFAULT_KEYS or not key:
                raise ValueError(f"{name!r}: write NAME=KEY, where NAME is one of {', '.join(DEFAULT_KEYS)}")
        return value

    def keys(self) -> Mapping[str, Sequence[str]]:
        """For each thing that is read, the keys to try.

        >>> ChatOptions(map="score=result.points").keys()["score"]
        ('result.points',)
        """
        return {**DEFAULT_KEYS, **{name: (key,) for name, key in self.mapped().items()}}

    def mapped(self) -> Mapping[str, str]:
        """The keys that ``map`` names."""
        return dict(_pairs(self.map))


def _pairs(text: str) -> list[tuple[str, str]]:
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    return [(name.strip(), key.strip()) for name, _, key in parts]
