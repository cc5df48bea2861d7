"""Chat over HTTP: what an overlay asks before it hands an endpoint to a harness, and a client for asking it directly.

Names are loaded when they are first used: the client of a service takes half a second.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as typing's, which a bare import would load; type checkers know the name
if TYPE_CHECKING:
    from amd.clients.abilities import Abilities
    from amd.clients.chat import ChatModel
    from amd.clients.completion import Completion, RawCall, Usage
    from amd.clients.endpoint import check_endpoint
    from amd.clients.replies import fit_reply, parse_reply, reply_schema
    from amd.clients.structured import call_schema, read_call

__all__ = [
    "Abilities",
    "ChatModel",
    "Completion",
    "RawCall",
    "Usage",
    "call_schema",
    "check_endpoint",
    "fit_reply",
    "parse_reply",
    "read_call",
    "reply_schema",
]

_HOMES = {
    "Abilities": "abilities",
    "ChatModel": "chat",
    "Completion": "completion",
    "RawCall": "completion",
    "Usage": "completion",
    "call_schema": "structured",
    "check_endpoint": "endpoint",
    "fit_reply": "replies",
    "parse_reply": "replies",
    "read_call": "structured",
    "reply_schema": "replies",
}


def __getattr__(name: str) -> object:
    """Load a public name from its home (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'amd.clients' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"amd.clients.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
