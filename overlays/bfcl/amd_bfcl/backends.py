"""The benchmark's real backends: each replay runs on instances of its own.

The harness (``eval_checker.multi_turn_eval.multi_turn_utils``) keeps live backend objects in its module's globals
under a name made of model, task and class, and evaluates every call as Python with that name in front. Two runs under
one name would share their state, and a name that is no identifier turns every call into an error. So each
:class:`Backend` takes a name that no other has, and takes its objects out of the harness again when it is closed.

This is the only room that imports ``bfcl_eval``; it needs none of the vendors' clients.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType, TracebackType
from typing import Any, Self, TypeAlias

from amd.errors import ConfigError, TrajectoryError
from amd_bfcl.families import Category
from amd_bfcl.package import INSTALL
from amd_bfcl.tasks import Entry

__all__ = ["Backend", "Call", "to_python"]

Call: TypeAlias = str | tuple[str, Mapping[str, Any]]
"""A call as the benchmark writes it, ``cd(folder='x')``, or its name and arguments."""

# One number for each replay of this process; taking the next one is safe between threads.
_numbers = itertools.count()


def to_python(name: str, arguments: Mapping[str, Any]) -> str:
    """A call as the harness evaluates it.

    >>> to_python("mv", {"source": "a.txt", "deep": True})
    "mv(source='a.txt', deep=True)"
    """
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"


class Backend:
    """The backends of one task in their starting state. State lives from call to call, and in no other instance.

    Used as a context manager; one thread at a time. Calls are evaluated as Python, as the benchmark does: give it
    only calls of the benchmark or of an agent that runs in it.
    """

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self._harness = _import("bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils")
        self._name = f"amd_replay_{next(_numbers)}"
        self._parameters = {name: names for each in entry.classes for name, names in _signatures(each).items()}

    def execute(self, call: Call) -> str:
        """Run one call and return the observation that an agent would see.

        A call that fails is an observation too: ``Error during execution: …``, or an object with ``error``.
        """
        return self.execute_all([call])[0]

    def execute_all(self, calls: Sequence[Call]) -> list[str]:
        """Run calls in order, one observation each."""
        observations, _ = self._harness.execute_multi_turn_func_call(
            [call if isinstance(call, str) else to_python(*call) for call in calls],
            self.entry.initial_config,
            list(self.entry.classes),
            self._name,
            "task",
            long_context=self.entry.category is Category.LONG_CONTEXT,
        )
        return [str(observation) for observation in observations]

    def parse(self, call: str) -> tuple[str, dict[str, Any]]:
        """A written call as name and arguments; the backend's signature names positional arguments.

        ``TrajectoryError`` for what is no single call with literal arguments, or has more positional arguments than
        the backend takes.
        """
        try:
            return _parse(call, self._parameters)
        except (ValueError, SyntaxError) as error:
            raise TrajectoryError(
                f"{self.entry.where}: {call!r} cannot be read: {error}", next_step="check the version of bfcl-eval"
            ) from error

    def close(self) -> None:
        """Take this replay's objects out of the harness."""
        kept = vars(self._harness)
        for name in [name for name in kept if name.startswith(f"{self._name}_task_")]:
            del kept[name]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the benchmark's backends need the module {error.name!r}, which is not installed",
            next_step=f"install: {INSTALL}",
            module=error.name,
        ) from error


@cache
def _signatures(backend: str) -> Mapping[str, tuple[str, ...]]:
    """Tool -> the names of its parameters, in order, for the class of this name."""
    paths: Mapping[str, str] = _import("bfcl_eval.constants.executable_backend_config").CLASS_FILE_PATH_MAPPING
    methods = inspect.getmembers(getattr(_import(paths[backend]), backend), inspect.isfunction)
    return {
        name: tuple(inspect.signature(method).parameters)[1:] for name, method in methods if not name.startswith("_")
    }


def _parse(call: str, parameters: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, Any]]:
    node = ast.parse(call.strip(), mode="eval").body
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


def _literal(node: ast.expr) -> Any:  # noqa: ANN401 - any JSON value
    """A literal argument as JSON: a tuple becomes a list; ``ValueError`` for anything that JSON cannot hold."""
    return _json(ast.literal_eval(node))


def _json(value: object) -> Any:  # noqa: ANN401 - any JSON value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _json(item) for key, item in value.items()}
    raise ValueError(f"JSON has no {type(value).__name__} like {value!r}")
