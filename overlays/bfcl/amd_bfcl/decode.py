"""A step of ``result`` as the harness decodes it: the calls that it runs, or ``None`` where it takes it for words.

The harness has two decoders for chat models: ``convert_to_function_call`` for function calling, and
``default_decode_execute_prompting`` for prompting (``bfcl_eval/model_handler/utils.py``). Both are rebuilt here with
their quirks, since a replay must run what was run: the second one drops positional arguments, keeps a bare name as
text and turns any sign in front of a number into a minus. What it would evaluate on the way is refused instead.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any

from amd.errors import TrajectoryError
from amd_bfcl.calls import expression

__all__ = ["decode_function_calling", "decode_prompting"]


class _WordsError(Exception):
    """The harness's decoder fails here, so that the step counts as words."""


def decode_function_calling(step: object) -> list[str] | None:
    """The calls of ``[{name: arguments}, ...]``, where arguments are an object or the JSON text of one.

    >>> decode_function_calling([{"cd": '{"folder": "a"}'}, {"ls": {}}])
    ["cd(folder='a')", 'ls()']
    >>> decode_function_calling("All done.") is None, decode_function_calling([{"cd": "{folder"}]) is None
    (True, True)
    """
    items = [step] if isinstance(step, Mapping) else step
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        return None
    try:
        return [_call(name, _object(arguments)) for item in items for name, arguments in item.items()]
    except (RecursionError, _WordsError):
        return None


def decode_prompting(text: str) -> list[str] | None:
    """The calls of a text such as ``[cd(folder='a'), ls()]``; quotes, fences and lost brackets do not matter.

    Raises:
        TrajectoryError: The harness would evaluate a part of it: a sum, or a call as an argument.

    >>> decode_prompting("`cd(folder='a'), ls('x')`")
    ["cd(folder='a')", 'ls()']
    >>> decode_prompting("I am done.") is None
    True
    """
    written = text.strip("`\n ")
    written = written if written.startswith("[") else f"[{written}"
    written = written if written.endswith("]") else f"{written}]"
    try:
        tree = expression(written.strip().strip("'"))
        calls = [tree] if isinstance(tree, ast.Call) else getattr(tree, "elts", [None])
        return [_written(call) for call in calls]
    except (ValueError, RecursionError, _WordsError):
        return None


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    return f"{name}({','.join(f'{key}={value!r}' for key, value in arguments.items())})"


def _object(arguments: object) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError) as error:
            raise _WordsError from error
    if not isinstance(arguments, Mapping):
        raise _WordsError
    return arguments


def _written(call: object) -> str:
    if not isinstance(call, ast.Call):
        raise _WordsError
    arguments = {keyword.arg: _value(keyword.value) for keyword in call.keywords}
    return f"{_name(call.func)}({', '.join(f'{name}={_nested(value)}' for name, value in arguments.items())})"


def _name(node: ast.expr) -> str:
    """The name that is called, with its dots; what is called without a name has none."""
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}".removeprefix(".")
    return node.id if isinstance(node, ast.Name) else ""


def _nested(value: object) -> str:
    """An argument as the harness writes it out; an object of objects is a call to it."""
    if not isinstance(value, dict):
        return repr(value)
    if all(isinstance(inner, dict) for inner in value.values()):
        if not value:
            raise _WordsError
        raise TrajectoryError("an argument is an object of objects, which the harness takes for a call")
    return "{" + ", ".join(f"'{key}': {_nested(inner)}" for key, inner in value.items()) + "}"


def _value(node: ast.expr | None) -> object:  # noqa: PLR0911 - one line for each kind of node
    if isinstance(node, ast.Constant):
        return "..." if node.value is Ellipsis else node.value
    if isinstance(node, ast.UnaryOp):
        return _negative(node.operand)
    if isinstance(node, ast.List):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple(_value(item) for item in node.elts)
    if isinstance(node, ast.Dict):
        return _dictionary(node)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Subscript):
        return f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]"
    if isinstance(node, ast.Call) and not node.keywords:
        return ast.unparse(node)
    if isinstance(node, ast.Call | ast.BinOp):
        raise TrajectoryError("an argument is a sum or a call, which the harness evaluates")
    raise _WordsError


def _negative(operand: ast.expr) -> object:
    if isinstance(operand, ast.Constant) and isinstance(operand.value, int | float | complex):
        return -operand.value
    raise _WordsError


def _dictionary(node: ast.Dict) -> dict[object, object]:
    try:
        return {_value(key): _value(value) for key, value in zip(node.keys, node.values, strict=True)}
    except TypeError as error:
        raise _WordsError from error
