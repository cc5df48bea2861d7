"""Chat over HTTP: what an overlay asks before it hands an endpoint to a harness.

Names are loaded when they are first used: the client of a service takes half a second.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as typing's, which a bare import would load; type checkers know the name
if TYPE_CHECKING:
    from amd.clients.endpoint import check_endpoint

__all__ = ["check_endpoint"]


def __getattr__(name: str) -> object:
    """Load a public name from its home (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module 'amd.clients' has no attribute {name!r}")
    value: object = getattr(importlib.import_module("amd.clients.endpoint"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
