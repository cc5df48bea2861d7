"""The tasks of a category, as the benchmark gives them to an agent: no answer is read here.

``bfcl_eval/data/BFCL_v4_<category>.json`` holds one entry a line: the user's messages for each turn, the state that
the backends start in, and the classes whose tools are offered.

Tools are offered as the harness offers them (``populate_test_cases_with_predefined_functions``): every documented
tool of the involved classes, in that order, except that a ``missed_function`` is held back until its turn. The key
``excluded_function``, which 18 entries of each category have, is read by no line of the harness, so those tools are
offered too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from amd.errors import ConfigError, TrajectoryError
from amd.traces import Task, ToolSpec
from amd_bfcl.families import BENCHMARK, Category, category, family
from amd_bfcl.package import Package, find_package
from amd_bfcl.schema import to_tool

__all__ = ["TOOL_DOCUMENTS", "Category", "Entry", "by_id", "entries", "entry", "family", "known_category", "tasks"]

TOOL_DOCUMENTS = {
    "GorillaFileSystem": "gorilla_file_system.json",
    "MathAPI": "math_api.json",
    "MessageAPI": "message_api.json",
    "TicketAPI": "ticket_api.json",
    "TradingBot": "trading_bot.json",
    "TravelAPI": "travel_booking.json",
    "TwitterAPI": "posting_api.json",
    "VehicleControlAPI": "vehicle_control.json",
}
"""Backend class -> the file of its tool documents, in ``data/multi_turn_func_doc``."""

_OTHER_VERSION = "check the version of bfcl-eval"
_Model = TypeVar("_Model", bound=BaseModel)


class _Message(BaseModel):
    role: Literal["user"]
    content: str


class _Line(BaseModel):
    """What is read of an entry; its other keys (``path``, ``excluded_function``) are left alone."""

    model_config = ConfigDict(strict=True)

    id: str
    question: list[list[_Message]]
    involved_classes: list[str]
    initial_config: dict[str, Any]
    missed_function: dict[str, list[str]] = {}


class _Document(BaseModel):
    model_config = ConfigDict(strict=True)

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One task with all that an agent's run of it needs.

    ``users`` has the user's words for each turn, ``None`` for a turn in which the user says nothing because tools
    that were held back arrive. ``tools`` are offered from the first turn, ``later`` names what a turn (from 0) adds.
    ``line`` is the line that the entry was read from, ``where`` its place.
    """

    task: Task
    category: Category
    users: tuple[str | None, ...]
    tools: tuple[ToolSpec, ...]
    later: Mapping[int, tuple[ToolSpec, ...]]
    classes: tuple[str, ...]
    initial_config: Mapping[str, Any]
    where: str
    line: str

    @property
    def all_tools(self) -> tuple[ToolSpec, ...]:
        """Every tool that is offered at some turn, in the order in which they arrive."""
        return self.tools + tuple(tool for turn in sorted(self.later) for tool in self.later[turn])


def known_category(name: str) -> Category:
    """The category of this name; ``ConfigError`` if there is none."""
    if name not in tuple(Category):
        raise ConfigError(
            f"{name!r} is no multi-turn category of BFCL", next_step=f"give one of: {', '.join(Category)}"
        )
    return Category(name)


def entries(category: Category | str, package: Package | None = None) -> Iterator[Entry]:
    """The entries of a category, in the benchmark's order.

    ``ConfigError`` for an unknown category or if the benchmark is not installed, ``TrajectoryError`` with file and
    line for a line that is not what it should be.
    """
    known, package = known_category(category), package or find_package()
    name = f"BFCL_v4_{known}.json"
    for number, line in enumerate(package.lines(name), 1):
        yield _entry(known, package, f"{package.where(name)}:{number}", line)


def entry(task_id: str, package: Package | None = None) -> Entry:
    """The entry of one task; ``ConfigError`` for an id that the benchmark does not have."""
    known = category(task_id)
    found = by_id(known, package or find_package()).get(task_id) if known else None
    if found is None:
        raise ConfigError(
            f"BFCL multi-turn has no task {task_id!r}",
            next_step=f"give an id such as {Category.BASE}_12",
            task_id=task_id,
        )
    return found


@cache
def by_id(category: Category, package: Package) -> Mapping[str, Entry]:
    """The entries of a category by their ids, read once; raises as :func:`entries` does."""
    return {each.task.task_id: each for each in entries(category, package)}


def tasks(category: Category | str, package: Package | None = None) -> tuple[Task, ...]:
    """The tasks of a category, in the benchmark's order."""
    return tuple(each.task for each in entries(category, package))


def _entry(category: Category, package: Package, where: str, text: str) -> Entry:
    line = _read(_Line, text, where)
    own_family = family(line.id)
    users = tuple("\n\n".join(message.content for message in turn) or None for turn in line.question)
    if own_family is None or not line.id.startswith(f"{category}_") or not users or users[0] is None:
        raise TrajectoryError(
            f"{where}: {line.id!r} is no task of {category} in which the user speaks first",
            next_step=_OTHER_VERSION,
            task_id=line.id,
        )
    tools, later = _offer(line, package, where)
    return Entry(
        task=Task(BENCHMARK, line.id, own_family, users[0]),
        category=category,
        users=users,
        tools=tools,
        later=later,
        classes=tuple(line.involved_classes),
        initial_config=line.initial_config,
        where=where,
        line=text,
    )


def _offer(line: _Line, package: Package, where: str) -> tuple[tuple[ToolSpec, ...], dict[int, tuple[ToolSpec, ...]]]:
    """The tools that are offered from the start, and those that a later turn adds."""
    offered: dict[str, ToolSpec] = {}
    later: dict[int, tuple[ToolSpec, ...]] = {}
    try:
        for backend in line.involved_classes:
            offered |= {tool.name: tool for tool in _documented(package, TOOL_DOCUMENTS[backend])}
        for turn, names in line.missed_function.items():
            later[int(turn)] = tuple(offered.pop(name) for name in names)
    except (KeyError, ValueError) as error:
        raise TrajectoryError(
            f"{where}: no backend, tool or turn is called {error.args[0]!r}", next_step=_OTHER_VERSION
        ) from error
    return tuple(offered.values()), later


@cache
def _documented(package: Package, name: str) -> tuple[ToolSpec, ...]:
    file = f"multi_turn_func_doc/{name}"
    documents = (
        _read(_Document, text, f"{package.where(file)}:{number}") for number, text in enumerate(package.lines(file), 1)
    )
    return tuple(to_tool(each.name, each.description, each.parameters) for each in documents)


def _read(model: type[_Model], text: str, where: str) -> _Model:
    """One checked line of the benchmark; ``TrajectoryError`` says what is wrong with it and where."""
    try:
        return model.model_validate(json.loads(text))
    except ValidationError as error:
        first = error.errors()[0]
        fault = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except ValueError as error:
        fault = f"not JSON ({error})"
    raise TrajectoryError(f"{where}: {fault}", next_step="install bfcl-eval again", where=where)
