"""What the names in an agent's code stand for: AppWorld's APIs, literals, and functions of the agent's own.

One run's cells share their names, so what one cell leaves is given to the next.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

__all__ = ["Api", "Bound", "Function", "Names", "Unwritten", "Written", "api_of", "assigned_in", "literal", "parsed"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_DEPTH: Final = 20
"""A literal that is nested deeper is none: no argument of AppWorld's is."""

_LONGEST: Final = 200_000  # characters

# What Python's own parser raises for a text that is no program, or is nested beyond what it can hold.
_NO_PROGRAM = (SyntaxError, ValueError, RecursionError, MemoryError)


class Unwritten(Exception):
    """A value that is not written out in the code."""


@dataclass(frozen=True, slots=True)
class Api:
    """``apis``, an app below it, or an API: none, one or two names."""

    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """A value that is written out, as JSON holds it."""

    value: Any


@dataclass(frozen=True, slots=True)
class Function:
    """A function that the agent defined; its calls happen where it is called."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


Bound: TypeAlias = Api | Written | Function
"""What a name can stand for, as far as it is known."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names that are bound, without those of Python and of the environment."""

    bound: Mapping[str, Bound] = field(default_factory=dict)


def parsed(code: str) -> ast.Module | None:
    """The program, or ``None`` if the text is none, or is over 200,000 characters: a tree takes 400 times as much.

    >>> parsed("print('a'") is None, parsed("x = 1") is None
    (True, False)
    """
    if len(code) > _LONGEST:
        return None
    with warnings.catch_warnings():
        # An agent's text may hold odd escapes; Python warns of them as if they stood in a program of ours.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code)
        except _NO_PROGRAM:
            return None


def api_of(node: ast.expr, names: Mapping[str, Bound]) -> Api | None:
    """What of AppWorld's an expression names: ``apis.app.api``, an alias of it, or ``getattr`` with a literal.

    >>> api_of(ast.parse("getattr(apis.music, 'play')", mode="eval").body, {})
    Api(path=('music', 'play'))
    """
    path: list[str] = []
    while True:
        step = _member(node)
        if step is None:
            break
        node, name = step
        path.append(name)
    if not isinstance(node, ast.Name) or len(path) > 2:
        return None
    start = names.get(node.id, Api() if node.id == "apis" else None)
    if not isinstance(start, Api) or len(start.path) + len(path) > 2:
        return None
    return Api((*start.path, *reversed(path)))


def _member(node: ast.expr) -> tuple[ast.expr, str] | None:
    """What a member is taken of, and its name."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) >= 2
        and isinstance(node.args[1], ast.Constant)
        and isinstance(node.args[1].value, str)
    ):
        return node.args[0], node.args[1].value
    return None


def literal(node: ast.expr, names: Mapping[str, Bound], depth: int = 0) -> Any:  # noqa: ANN401 - any JSON value
    """The value of an expression that is written out, or is a name for one.

    Raises:
        Unwritten: It is computed, or is nothing that JSON can hold.

    >>> literal(ast.parse("{'a': [1, -2.5, None]}", mode="eval").body, {})
    {'a': [1, -2.5, None]}
    """
    if depth > _DEPTH:
        raise Unwritten
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    if isinstance(node, ast.Name):
        known = names.get(node.id)
        if isinstance(known, Written):
            return known.value
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [literal(item, names, depth + 1) for item in node.elts]
    elif isinstance(node, ast.Dict):
        keys = [literal(key, names, depth + 1) if key else None for key in node.keys]
        if all(isinstance(key, str) for key in keys):
            return {key: literal(item, names, depth + 1) for key, item in zip(keys, node.values, strict=True)}
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = literal(node.operand, names, depth + 1)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value
    raise Unwritten


def _constant(value: object) -> Any:  # noqa: ANN401 - any JSON scalar
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise Unwritten


def assigned_in(*nodes: ast.AST) -> Iterator[str]:
    """Every name that these parts of a program give a value to."""
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store | ast.Del):
                yield part.id
            elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler):
                yield part.name or ""
            elif isinstance(part, ast.alias):
                yield (part.asname or part.name).partition(".")[0]
