"""The tools that a task offers, in whichever of the usual shapes a harness has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from amd.errors import ConfigError
from amd.records import Record
from amd.trajectory import ToolSpec

__all__ = ["Offer", "Tools", "offered"]

Tools: TypeAlias = Sequence[ToolSpec | Mapping[str, Any]]
"""Tools as ``ToolSpec``, or as OpenAI functions with or without the outer ``{"type": "function", ...}``."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The offered tools by name and the hash of each one's schema; both ``None`` where the tools are unknown."""

    specs: Mapping[str, ToolSpec] | None
    hashes: Mapping[str, str] | None

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the order offered; none where the tools are unknown."""
        return tuple(self.specs or ())

    def why_unfit(self, record: Record) -> str | None:
        """Why a record cannot be shown for this task, or ``None``.

        ``tool_not_offered``: it uses a tool that the task does not offer. ``stale_schema``: it tells how a tool is
        called whose arguments have changed since. Nothing is judged where the tools are unknown.
        """
        hashes = self.hashes
        if hashes is None:
            return None
        listed = record.body.get("tools")
        used = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
        if record.tool is not None:
            used.append(record.tool)
        if any(name not in hashes for name in used):
            return "tool_not_offered"
        return "stale_schema" if self.is_stale(record) else None

    def is_stale(self, record: Record) -> bool:
        """Whether it tells how one of these tools is called whose arguments have changed since."""
        hashes = self.hashes or {}
        return any(hashes.get(name, sha) != sha for name, sha in record.schemas.items())


def offered(tools: Tools | None) -> Offer:
    """The offer of a task; ``None`` is unknown.

    Raises:
        ConfigError: an entry is no tool, or two tools have one name.

    >>> offered([{"type": "function", "function": {"name": "cd"}}, ToolSpec("ls")]).names
    ('cd', 'ls')
    """
    if tools is None:
        return Offer(None, None)
    if isinstance(tools, str | Mapping):
        raise ConfigError(f"the tools are a {type(tools).__name__}, not a list", next_step="give a list of tools")
    specs: dict[str, ToolSpec] = {}
    for at, tool in enumerate(tools):
        spec = tool if isinstance(tool, ToolSpec) else _from_function(tool, at)
        if specs.setdefault(spec.name, spec) != spec:
            raise ConfigError(
                f"two different tools are called {spec.name!r}",
                next_step="give each tool a name of its own",
                tool=spec.name,
            )
    try:
        return Offer(specs, {name: spec.schema_sha256 for name, spec in specs.items()})
    except (ValueError, TypeError, RecursionError) as error:
        raise ConfigError(
            f"the schema of one of the tools {', '.join(map(repr, specs))} is no JSON: {error}",
            next_step="give schemas without infinite numbers, lone surrogates or Python objects",
        ) from error


def _from_function(tool: object, at: int) -> ToolSpec:
    outer = tool if isinstance(tool, Mapping) else {}
    inner = outer.get("function") if outer.get("type") == "function" and "function" in outer else outer
    fields = inner if isinstance(inner, Mapping) else {}
    name, parameters = fields.get("name"), fields.get("parameters")
    if parameters is None:
        parameters = {}
    if not isinstance(name, str) or not isinstance(parameters, Mapping):
        raise ConfigError(
            f"tools[{at}] is no tool: it needs a name, and parameters that are a JSON object",
            next_step="give ToolSpec objects or OpenAI function definitions",
            position=at,
        )
    return ToolSpec(name, str(fields.get("description") or ""), parameters)
