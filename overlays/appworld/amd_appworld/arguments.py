"""What a call in a cell of code is given, and the two things beside ``apis`` that tell of calls and of their errors."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from amd_appworld.names import Bound, Unwritten, literal

__all__ = ["arguments_of", "requested", "suppresses"]


def suppresses(item: ast.withitem) -> bool:
    """Whether a ``with`` swallows errors."""
    call = item.context_expr
    return isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == "suppress"


def requested(node: ast.Call) -> str | None:
    """The API of ``requester.request("app", "api", ...)``, as the environment offers it too."""
    function = node.func
    if not (isinstance(function, ast.Attribute) and function.attr == "request"):
        return None
    if not (isinstance(function.value, ast.Name) and function.value.id == "requester"):
        return None
    names = [part.value for part in node.args[:2] if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return ".".join(names) if len(names) == 2 else None


def arguments_of(node: ast.Call, names: Mapping[str, Bound]) -> tuple[dict[str, Any], frozenset[str]]:
    """The keyword arguments, and which of them are computed."""
    arguments: dict[str, Any] = {}
    computed: set[str] = set()
    for keyword in node.keywords:
        try:
            value = literal(keyword.value, names)
        except Unwritten:
            if keyword.arg is None:
                continue  # a dictionary that is unpacked: not even the names are known
            computed.add(keyword.arg)
            value = f"<{keyword.arg}>"
        if keyword.arg is not None:
            arguments[keyword.arg] = value
        elif isinstance(value, dict):
            arguments.update(value)
    return arguments, frozenset(computed)
