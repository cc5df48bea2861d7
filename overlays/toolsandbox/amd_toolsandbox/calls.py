"""A call as the harness keeps it: three lines of Python, of which the first has the arguments and the second the tool.

They are parsed and never run. The name in them is the tool's own, where the agent may have known it by a scrambled one.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["WrittenCall", "parse_arguments", "parse_code"]

_CODE = re.compile(r"(?P<id>.+)_parameters = (?P<arguments>[^\n]+)\n(?P=id)_response = (?P<name>[^(\n]+)\(\*\*")

# What Python's own parser raises for a text that is no literal, or that is nested beyond what it can hold.
_NO_LITERAL = (ValueError, SyntaxError, TypeError, RecursionError, MemoryError)


class WrittenCall(NamedTuple):
    """The tool that is called, and its arguments as they are written."""

    name: str
    arguments: str


def parse_code(code: str) -> WrittenCall:
    r"""The call that the harness wrote.

    Raises:
        ValueError: It is none of the harness's form.

    >>> parse_code("c1_parameters = {'on': True}\nc1_response = set_wifi(**c1_parameters)\nprint(repr(c1_response))")
    WrittenCall(name='set_wifi', arguments="{'on': True}")
    """
    match = _CODE.match(code)
    if match is None:
        raise ValueError("not a call in the harness's form")
    return WrittenCall(match["name"].strip(), match["arguments"])


def parse_arguments(written: str) -> Mapping[str, object]:
    """The arguments, by name; each is JSON's or ``float``'s own.

    Raises:
        ValueError: They are no literal (``nan``), no dictionary, or hold what JSON has not.

    >>> parse_arguments("{'on': True, 'year': None}")
    {'on': True, 'year': None}
    """
    with warnings.catch_warnings():
        # A model's text may hold odd escapes; Python warns of them as if they stood in a program of ours.
        warnings.simplefilter("ignore")
        try:
            value = ast.literal_eval(written)
        except _NO_LITERAL as error:
            raise ValueError(f"no literal: {type(error).__name__}") from error
    if not isinstance(value, dict) or not _is_json(value):
        raise ValueError("not a dictionary of what JSON can hold")
    return value


def _is_json(value: object) -> bool:
    """Whether JSON can hold it; what Python's parser makes is never nested too deeply to be walked through."""
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and all(map(_is_json, value.values()))
    if isinstance(value, list):
        return all(map(_is_json, value))
    return value is None or isinstance(value, bool | int | float | str)
