"""Turns the successful runs of a strong teacher agent into a memory that a small student agent reads.

The whole way, from recorded runs to a student's prompt::

    import amd
    from amd.traces import load_reader

    reader = load_reader("openai-chat")
    amd.build_memory(reader.read([path], reader.options()), "memory", embedder=amd.load_embedder("hash"))

    memory = amd.open_memory("memory")
    session = amd.Session(memory, viewer=amd.self_excluded(task), tools=tool_specs)
    messages = amd.prepend_memory(messages, session.before_task(task.instruction))

Names are loaded when they are first used, so that ``import amd`` costs nothing.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as typing's, which a bare import would load; type checkers know the name
if TYPE_CHECKING:
    from amd.build.pipeline import build_memory
    from amd.build.report import Options
    from amd.embedders import load_embedder
    from amd.exclusion import cross_split, deployed, in_sample, read_split, self_excluded
    from amd.inject import append_hint, prepend_memory, prepend_turn, replace_memory
    from amd.session import Limits, Session
    from amd.store import Memory, open_memory
    from amd.tier import FailedCall
    from amd.trajectory import Task, ToolSpec, Trajectory

__version__ = "0.1.0"
__all__ = [
    "FailedCall",
    "Limits",
    "Memory",
    "Options",
    "Session",
    "Task",
    "ToolSpec",
    "Trajectory",
    "append_hint",
    "build_memory",
    "cross_split",
    "deployed",
    "in_sample",
    "load_embedder",
    "open_memory",
    "prepend_memory",
    "prepend_turn",
    "read_split",
    "replace_memory",
    "self_excluded",
]

_HOMES = {
    "FailedCall": "amd.tier",
    "Limits": "amd.session",
    "Memory": "amd.store",
    "Options": "amd.build.report",
    "Session": "amd.session",
    "Task": "amd.trajectory",
    "ToolSpec": "amd.trajectory",
    "Trajectory": "amd.trajectory",
    "append_hint": "amd.inject",
    "build_memory": "amd.build.pipeline",
    "cross_split": "amd.exclusion",
    "deployed": "amd.exclusion",
    "in_sample": "amd.exclusion",
    "load_embedder": "amd.embedders",
    "open_memory": "amd.store",
    "prepend_memory": "amd.inject",
    "prepend_turn": "amd.inject",
    "read_split": "amd.exclusion",
    "replace_memory": "amd.inject",
    "self_excluded": "amd.exclusion",
}


def __getattr__(name: str) -> object:
    """Load a public name from its home (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'amd' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
