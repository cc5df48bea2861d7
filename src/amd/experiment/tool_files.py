"""The tools that a file tells of: a list as in a chat request, or recorded runs with the tools they were offered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amd.errors import ConfigError
from amd.json_text import JSON, loads
from amd.session.offer import offered
from amd.trajectory import ToolSpec

__all__ = ["ToldTools", "read_tools"]


@dataclass(frozen=True, slots=True)
class ToldTools:
    """The tools that a file tells of, each once; how many ``runs`` it has, and how many of them are ``silent``.

    A silent run does not know its tools: it may have had some that are not told here.
    """

    specs: list[ToolSpec]
    runs: int
    silent: int


def read_tools(path: Path) -> ToldTools:
    """All tools of a file, and whether all of its runs tell theirs.

    The file is a JSON list of OpenAI functions, or runs in JSON or JSONL whose objects have ``tools``, as the formats
    ``amd`` and ``openai-chat`` have them.

    Raises:
        ConfigError: it cannot be read, has no tools, or tells two different things of one tool.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    ...     _ = file.write('[{"type": "function", "function": {"name": "mv", "parameters": {}}}]')
    ...     file.flush()
    ...     [tool.name for tool in read_tools(Path(file.name)).specs]
    ['mv']
    """
    try:
        values = list(_values(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path} has no tools: {error}", next_step="give a JSON list of tools, or runs as JSONL", path=str(path)
        ) from error
    tools = list(_tools(values))
    if not tools:
        raise ConfigError(
            f"{path} has no tools: none of its {len(values)} objects is a tool or a run with tools",
            next_step="give OpenAI functions, or runs that keep the tools that they were offered",
            path=str(path),
        )
    runs = [value for value in values if isinstance(value, Mapping) and _is_run(value)]
    silent = sum(not isinstance(run.get("tools"), list) for run in runs)
    try:
        return ToldTools(list((offered(tools).specs or {}).values()), len(runs), silent)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", next_step=error.next_step, **error.fields) from error


def _values(text: str) -> Iterator[JSON]:
    """The objects of a JSON array, of one object, or of lines."""
    try:
        whole = loads(text)
    except ValueError:
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                try:
                    yield loads(line)
                except ValueError as error:
                    raise ValueError(f"line {number}: {error}") from error
        return
    yield from whole if isinstance(whole, list) else [whole]


def _tools(values: list[JSON]) -> Iterator[Mapping[str, Any]]:
    """Tools as they stand, and the tools of runs; a run that does not know its tools has none."""
    for value in values:
        if isinstance(value, Mapping):
            listed = value.get("tools")
            if isinstance(listed, list):
                yield from (tool for tool in listed if isinstance(tool, Mapping))
            elif not _is_run(value):
                yield value


def _is_run(value: Mapping[str, Any]) -> bool:
    """Whether an object is a run or a request, which may tell tools, and no tool itself."""
    return isinstance(value.get("tools"), list) or not ("name" in value or "function" in value)
