"""The protocol of a reader, and how the installed readers are found.

A reader is an object behind an entry point of the group ``amd.traces``. It gives one item for each run that it
meets, either the :class:`Trajectory` or a :class:`Refusal`, and a :class:`Note` for what is worth a count but
is no run: the gate adds the notes up by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict, ValidationError

from amd.errors import ConfigError
from amd.traces.offers import load_offer, offered
from amd.trajectory import Refusal, Trajectory

__all__ = ["GROUP", "Item", "Note", "Reader", "ReaderOptions", "load_reader", "reader_options", "readers"]

GROUP = "amd.traces"
"""The entry point group of readers."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something to count that is no refusal, by a name without values: ``replaced_surrogates``, ``unknown_field``.

    >>> Note("unknown_field", 3)
    Note(name='unknown_field', count=3)
    """

    name: str
    count: int = 1


Item: TypeAlias = Trajectory | Refusal | Note
"""What a reader yields: a run, a run that was not taken, or a count."""


class ReaderOptions(BaseModel):
    """The options of a reader that has none, and the base of those that have.

    Each field is one scalar (text, number, boolean, ``Literal``) with a default and a description, so that
    ``amd build FORMAT --help`` can show it and the command line can set it.

    >>> from pydantic import Field
    >>> class LogOptions(ReaderOptions):
    ...     teacher: str = Field("office-agent", description="who ran the jobs")
    >>> LogOptions().teacher
    'office-agent'
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


Options = TypeVar("Options", bound=ReaderOptions)


@runtime_checkable
class Reader(Protocol[Options]):
    """Reads one trace format. It raises ``TrajectoryError`` for a path that is not there, and refuses the rest.

    The example of ``amd.traces`` writes one.

    >>> isinstance(load_reader("amd"), Reader)
    True
    """

    @property
    def name(self) -> str:
        """The format's name on the command line."""
        ...

    @property
    def benchmark(self) -> str | None:
        """The benchmark of all its runs, or ``None`` where each run says its own."""
        ...

    @property
    def options(self) -> type[Options]:
        """The class of its options."""
        ...

    def read(self, paths: Sequence[Path], options: Options) -> Iterator[Item]:
        """The runs under ``paths``, each as one trajectory or one refusal, with notes in between."""
        ...


def readers() -> list[str]:
    """The names of the installed formats, sorted. Nothing is imported.

    >>> {"amd", "openai-chat"} <= set(readers())
    True
    """
    return offered(GROUP)


def load_reader(name: str) -> Reader[Any]:
    """The reader of a format; ``ConfigError`` if nobody offers it, two packages do, or its package is broken.

    >>> load_reader("openai-chat").benchmark
    'openai-chat'
    """
    reader = load_offer(GROUP, name)
    if reader is None:
        raise ConfigError(
            f"no installed package reads the format {name!r}",
            next_step=f"use one of: {', '.join(readers())}",
            format=name,
            known=readers(),
        )
    if not isinstance(reader, Reader):
        raise ConfigError(
            f"what is offered as the format {name!r} is a {type(reader).__name__}, not a reader",
            next_step="let the entry point name an object with name, benchmark, options and read",
            format=name,
        )
    return reader


def reader_options(reader: Reader[Options], values: Mapping[str, object]) -> Options:
    """The reader's options from named values; ``ConfigError`` names each one that is unknown or has the wrong type.

    >>> reader_options(load_reader("openai-chat"), {"teacher": "gpt-4o"}).teacher
    'gpt-4o'
    """
    try:
        return reader.options(**values)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors(include_url=False)
        )
        raise ConfigError(
            f"wrong options for the format {reader.name!r}: {faults}",
            next_step=f"its options are: {', '.join(reader.options.model_fields) or 'none'}",
            format=reader.name,
        ) from error
