"""Chat over HTTP: what an overlay asks before it hands an endpoint to a harness, and a client for asking it directly.

A refusal with one of these statuses is of one request, a prompt that became too long for instance:

>>> sorted(OF_THE_REQUEST)
[400, 413, 422]

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
    from amd.service import OF_THE_REQUEST

__all__ = [
    "OF_THE_REQUEST",
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
    "OF_THE_REQUEST": "amd.service",
    "Abilities": "amd.clients.abilities",
    "ChatModel": "amd.clients.chat",
    "Completion": "amd.clients.completion",
    "RawCall": "amd.clients.completion",
    "Usage": "amd.clients.completion",
    "call_schema": "amd.clients.structured",
    "check_endpoint": "amd.clients.endpoint",
    "fit_reply": "amd.clients.replies",
    "parse_reply": "amd.clients.replies",
    "read_call": "amd.clients.structured",
    "reply_schema": "amd.clients.replies",
}


def __getattr__(name: str) -> object:
    """Load a public name from its home (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'amd.clients' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
