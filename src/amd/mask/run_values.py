"""What a run's tools call their things, and what stands under person, contact and secret keys in its calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from amd.json_text import JSON, loads
from amd.mask.keys import KeyClass, holds_ids, is_data_key, key_class, key_words, slug, whole_key
from amd.mask.recurrence import Collector, Recurrence
from amd.mask.seen import named_values, pieces
from amd.trajectory import ToolSpec, Trajectory

__all__ = ["ToolWords", "names_of", "recurrence_beside", "recurrence_of", "words_of"]

_DEPTH = 64
# BFCL writes an enum into the description: ``[Enum]: ["engage", "release"]`` or ``[Enum]: USD, EUR``.
_WRITTEN_ENUM = re.compile(r"\[Enum\]:\s{0,4}(?:(\[[^\]]*\])|([^.\n\[]+))")


@dataclass(frozen=True, slots=True)
class ToolWords:
    """The strings in a tool's schema: the members of its enums and the names of its arguments, at any depth."""

    enums: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


def words_of(tool: ToolSpec) -> ToolWords:
    """The enums and argument names of a tool.

    >>> words = words_of(ToolSpec("brake", "", {"type": "dict", "properties": {"mode": {"enum": ["on", "off"]}}}))
    >>> sorted(words.enums), sorted(words.names)
    (['off', 'on'], ['mode'])
    """
    enums: set[str] = set()
    names: set[str] = set()
    for schema in _mappings(tool.parameters, 0):
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            names.update(properties)
        members = schema.get("enum")
        if isinstance(members, list):
            enums.update(member for member in members if isinstance(member, str))
        if isinstance(constant := schema.get("const"), str):
            enums.add(constant)
        if isinstance(description := schema.get("description"), str):
            enums.update(_written_enum(description))
    return ToolWords(frozenset(enums), frozenset(names))


def _mappings(value: JSON, depth: int) -> Iterator[Mapping[str, JSON]]:
    if depth > _DEPTH:
        return
    if isinstance(value, Mapping):
        yield value
    for item in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _mappings(item, depth + 1)


def _written_enum(description: str) -> Iterator[str]:
    for listed, named in _WRITTEN_ENUM.findall(description):
        if named:
            yield from (word.strip(" '\"") for word in named.split(","))
            continue
        try:
            members = loads(listed)
        except ValueError:
            continue
        assert isinstance(members, list)
        yield from (member for member in members if isinstance(member, str))


def names_of(run: Trajectory, tools: Mapping[str, ToolWords]) -> frozenset[str]:
    """The case-folded names of a run's tools and of their arguments: words of the interface, nobody's values.

    A tool named ``app.api`` names both.
    """
    names = {word for words in tools.values() for word in words.names}
    called = {*tools, *(call.name for call in run.calls)}
    parts = {part for name in called for part in name.split(".") if part}
    return frozenset(name.casefold() for name in {*names, *called, *parts})


def recurrence_of(run: Trajectory, tools: Mapping[str, ToolWords]) -> Recurrence:
    """What must not recur in a run: from the arguments and the observations of its calls, and from beside them."""
    collector = _of_calls(run, tools)
    _add(run.beside, collector)
    return collector.recurrence()


def recurrence_beside(run: Trajectory, tools: Mapping[str, ToolWords]) -> Recurrence:
    """What must not recur in a run, and that only what stands beside its calls tells of."""
    known, collector = _of_calls(run, tools), Collector(_vocabulary(run, tools))
    _add(run.beside, collector)
    return collector.recurrence(without=known)


def _vocabulary(run: Trajectory, tools: Mapping[str, ToolWords]) -> frozenset[str]:
    return frozenset(word.casefold() for words in tools.values() for word in words.enums) | names_of(run, tools)


def _of_calls(run: Trajectory, tools: Mapping[str, ToolWords]) -> Collector:
    collector = Collector(_vocabulary(run, tools))
    for call in run.calls:
        _add((call.arguments, call.observation), collector)
    return collector


def _add(values: Iterable[JSON], collector: Collector) -> None:
    for value in values:
        _collect(value, "", "", None, collector, 0)


def _collect(value: JSON, key: str, whole: str, kind: KeyClass | None, collector: Collector, depth: int) -> None:
    """Gather below ``value``, which stands under ``key`` (``whole`` with its parent's name) of class ``kind``."""
    if depth > _DEPTH:
        return
    if isinstance(value, Mapping):
        _collect_members(value, key, whole, kind, collector, depth)
    elif isinstance(value, list):
        for item in value:
            _collect(item, key, whole, kind, collector, depth + 1)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        if kind is not None:
            collector.add(value, whole, kind, f"<{slug(key)}>")
        if isinstance(value, str):
            _collect_text(value, key, whole, kind, collector, depth)


def _collect_text(text: str, key: str, whole: str, kind: KeyClass | None, collector: Collector, depth: int) -> None:
    """Gather what a text says as values, and what stands under its quoted keys."""
    for piece, said in pieces(text):
        if said is not None:
            _collect(said.value, key, whole, kind, collector, depth + 1)
            continue
        for name, found_kind, found in named_values(piece):
            collector.add(found, name, found_kind, f"<{slug(name)}>")


def _collect_members(
    members: Mapping[str, JSON], key: str, whole: str, kind: KeyClass | None, collector: Collector, depth: int
) -> None:
    # ``first_name`` and ``last_name``, ``userFirstName`` and ``userLastName`` …
    named = {key_words(name)[-2:]: item for name, item in members.items() if isinstance(item, str)}
    first, last = named.get(("first", "name")), named.get(("last", "name"))
    if isinstance(first, str) and isinstance(last, str):
        collector.add_full_name(first, last, "<name>")
    for name, item in members.items():
        if is_data_key(name):
            if holds_ids(key):
                collector.add(name, whole, "secret", f"<{slug(key)}>")
            _collect(item, key, whole, kind, collector, depth + 1)
        else:
            _collect(item, name, whole_key(name, key), key_class(name, key), collector, depth + 1)
