"""Observations as values: JSON, or the Python literal that many a harness writes with ``str()``."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass

from amd.json_text import JSON, loads

__all__ = ["Observed", "parse"]

# ``ast`` needs a hundred bytes of memory for each character; longer literals are masked as text.
_LONGEST_LITERAL = 200_000


@dataclass(frozen=True, slots=True)
class Observed:
    """A parsed observation; ``literal`` if it was a Python literal."""

    value: JSON
    literal: bool

    def text(self) -> str:
        """The value as the kind of text that it was parsed from."""
        return repr(self.value) if self.literal else json.dumps(self.value, ensure_ascii=False)


def parse(observation: str) -> Observed | None:
    """The observation as a value, or ``None`` if it is plain text (or nested too deeply for a parser).

    >>> parse('{"a": 1}'), parse("['a', ('b', None)]")
    (Observed(value={'a': 1}, literal=False), Observed(value=['a', ['b', None]], literal=True))
    >>> parse("done"), parse("{'result': mpf('2.0')}")
    (None, None)
    """
    start = observation.lstrip()[:1]
    if start not in ("{", "[", '"', "("):
        return None
    try:
        return Observed(loads(observation), literal=False)
    except (ValueError, RecursionError):
        pass
    if start == '"' or len(observation) > _LONGEST_LITERAL:
        return None
    try:
        return Observed(_plain(ast.literal_eval(observation.strip())), literal=True)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _plain(value: object) -> JSON:
    """A literal as JSON, tuples and sets as lists; ``TypeError`` for what JSON cannot say."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else repr(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} is not JSON")
