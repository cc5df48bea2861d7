"""Calls as Python text, which is how the harness writes and evaluates them; here they are only parsed, never run."""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["called_name", "expression", "parse_call"]

# What Python's own parser raises for a text that is no expression, or that is nested beyond what it can hold.
_NO_EXPRESSION = (SyntaxError, ValueError, RecursionError, MemoryError)

_MOST_BITS = 1024
"""Of a whole number: as far as a number with a fraction reaches. Python writes out no number of any size."""


def expression(text: str) -> ast.expr:
    """The syntax tree of one expression.

    Raises:
        ValueError: The text is none; its cause is Python's own error.
    """
    with warnings.catch_warnings():
        # A model's text may hold odd escapes; Python warns of them as if they stood in a program of ours.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text.strip(), mode="eval").body
        except _NO_EXPRESSION as error:
            raise ValueError(f"no Python expression: {error}") from error


def parse_call(text: str, parameters: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, Any]]:
    """A written call as its name and JSON arguments; ``parameters`` (tool -> names) names positional arguments.

    Raises:
        ValueError: The text is no single call of a named tool with literal arguments, an argument is nothing that
            JSON can hold, or the tool does not name so many positional arguments.

    >>> parse_call("mv('a.txt', destination='b')", {"mv": ("source", "destination")})
    ('mv', {'source': 'a.txt', 'destination': 'b'})
    """
    node = expression(text)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ValueError("not one call of a named tool")  # noqa: TRY004 - it is about the text, not about a type
    names = parameters.get(node.func.id, ())
    if len(names) < len(node.args):
        raise ValueError(f"{len(node.args)} positional arguments, and the tool names {len(names)}")
    arguments = {name: _literal(value) for name, value in zip(names, node.args, strict=False)}
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in arguments:
            raise ValueError(f"the argument {keyword.arg or '**'!r} cannot be told apart")
        arguments[keyword.arg] = _literal(keyword.value)
    return node.func.id, arguments


def called_name(text: str) -> str:
    """The name that a call begins with, for one that cannot be parsed.

    >>> called_name("functions.cd(folder=a b)")
    'functions.cd'
    """
    return text.partition("(")[0].strip()


def _literal(node: ast.expr) -> Any:  # noqa: ANN401 - any JSON value
    """A literal argument as JSON: a tuple becomes a list; ``ValueError`` for anything that JSON cannot hold."""
    try:
        return _json(ast.literal_eval(node))
    except (TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f"no literal: {error}") from error


def _json(value: object) -> Any:  # noqa: ANN401 - any JSON value
    if (isinstance(value, float) and not math.isfinite(value)) or (
        isinstance(value, int) and value.bit_length() > _MOST_BITS
    ):
        raise ValueError("a number is beyond the range of JSON")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _json(item) for key, item in value.items()}
    raise ValueError(f"JSON has no {type(value).__name__}, or no such key in it")
