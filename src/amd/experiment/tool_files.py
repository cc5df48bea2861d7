"""The tools that a file tells of: a list as in a chat request, or recorded runs with the tools they were offered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from amd.errors import ConfigError
from amd.json_text import JSON, loads
from amd.session.offer import offered
from amd.trajectory import ToolSpec

__all__ = ["read_tools"]


def read_tools(path: Path) -> list[ToolSpec]:
    """All tools of a file, each once, by name.

    The file is a JSON list of OpenAI functions, or runs in JSON or JSONL whose objects have ``tools``, as the formats
    ``amd`` and ``openai-chat`` have them.

    Raises:
        ConfigError: it cannot be read, has no tools, or tells two different things of one tool.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    ...     _ = file.write('[{"type": "function", "function": {"name": "mv", "parameters": {}}}]')
    ...     file.flush()
    ...     [tool.name for tool in read_tools(Path(file.name))]
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
    try:
        return list((offered(tools).specs or {}).values())
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
            elif "name" in value or "function" in value:
                yield value
