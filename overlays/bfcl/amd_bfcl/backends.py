"""The benchmark's real backends: each replay runs on instances of its own.

The harness (``eval_checker.multi_turn_eval.multi_turn_utils``) keeps live backend objects in its module's globals
under a name made of model, task and class, and evaluates every call as Python with that name in front. Two runs under
one name would share their state, and a name that is no identifier turns every call into an error. So each
:class:`Backend` takes a name that no other has, and takes its objects out of the harness again when it is closed.

Of the reader and the recorder, this is the only room that imports ``bfcl_eval``; it needs none of the vendors' clients.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import ModuleType, TracebackType
from typing import Any, Self, TypeAlias

from amd.errors import ConfigError, TrajectoryError
from amd_bfcl.calls import called_name, parse_call
from amd_bfcl.families import Category
from amd_bfcl.package import INSTALL
from amd_bfcl.tasks import Entry

__all__ = ["Backend", "Call", "parameters_of", "to_python"]

Call: TypeAlias = str | tuple[str, Mapping[str, Any]]
"""A call as the benchmark writes it, ``cd(folder='x')``, or its name and arguments."""

_LARGEST = 10_000
"""What a number of a replayed calculation may be: a power or a precision beyond it takes hours."""

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
        self._parameters = parameters_of(entry.classes)

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
            return parse_call(call, self._parameters)
        except ValueError as error:
            raise TrajectoryError(
                f"{self.entry.where}: {call!r} cannot be read: {error}", next_step="check the version of bfcl-eval"
            ) from error

    def checked(self, call: str) -> Call:
        """A call out of somebody else's file as name and arguments, if running it can only do what a tool does.

        The harness evaluates text as Python, and changes it before it does: what is run is never the file's own text,
        but one that is written anew from a name and literal values. A name that nothing has is let through: the
        harness answers it with an error.

        Raises:
            TrajectoryError: It is no single call with literal arguments; it calls what is in reach but is no tool; an
                argument holds the text of a call, into which the harness would write the name of this replay; or a
                number would keep the calculator busy without end.
        """
        try:
            name, arguments = parse_call(call, self._parameters)
        except ValueError as error:
            # Not its text: what a run's arguments hold has no place in a message.
            raise TrajectoryError(f"a call of {called_name(call)!r:.80} cannot be replayed: {error}") from error
        if name not in self._parameters and (not name.isascii() or hasattr(builtins, name) or name in self._in_reach()):
            raise TrajectoryError(f"a call of {name!r:.80} cannot be replayed: it is no tool, and Python would run it")
        tools = "|".join(map(re.escape, self._parameters))
        if len(re.findall(rf"\b(?:{tools})\s*(?=\()", to_python(name, arguments))) > (name in self._parameters):
            raise TrajectoryError(f"a call of {name!r} cannot be replayed: an argument holds the text of a call")
        if name in _signatures("MathAPI") and any(abs(number) > _LARGEST for number in _numbers_in(arguments)):
            raise TrajectoryError(f"a call of {name!r} cannot be replayed: a number is beyond {_LARGEST}")
        return name, arguments

    def _in_reach(self) -> set[str]:
        """The harness's own names where it evaluates a call, its local ones among them."""
        return {*vars(self._harness), *self._harness.execute_multi_turn_func_call.__code__.co_varnames}

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


def _numbers_in(value: object) -> Iterator[float]:
    """The numbers in a call's arguments, at any depth; one that is written as a text counts, since tools read it."""
    if isinstance(value, Mapping | list):
        for member in value.values() if isinstance(value, Mapping) else value:
            yield from _numbers_in(member)
    elif isinstance(value, int | float):
        yield value
    elif isinstance(value, str) and re.search(r"\d", value):
        yield float(value) if re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]*)?", value) else math.inf


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the benchmark's backends need the module {error.name!r}, which is not installed",
            next_step=f"install: {INSTALL}",
            module=error.name,
        ) from error


def parameters_of(classes: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Tool -> the names of its parameters, in order, for all tools of the backend classes of these names.

    ``ConfigError`` if the benchmark is not installed.
    """
    return {name: names for each in classes for name, names in _signatures(each).items()}


@cache
def _signatures(backend: str) -> Mapping[str, tuple[str, ...]]:
    """Tool -> the names of its parameters, in order, for the class of this name."""
    paths: Mapping[str, str] = _import("bfcl_eval.constants.executable_backend_config").CLASS_FILE_PATH_MAPPING
    methods = inspect.getmembers(getattr(_import(paths[backend]), backend), inspect.isfunction)
    return {
        name: tuple(inspect.signature(method).parameters)[1:] for name, method in methods if not name.startswith("_")
    }
