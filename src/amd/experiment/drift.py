"""Which records the tools of today contradict, and whether a session would still show them.

A record keeps calls, and the hashes of the schemas that they were made under. By the hashes a session passes it over;
what it shows is held against the schema that a tool has now, so that a person knows what to mend.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from amd.experiment.schemas import Found, Kind, contradicted
from amd.json_text import JSON
from amd.records import Record
from amd.session.offer import Offer, Tools, offered
from amd.store import Memory

__all__ = ["Contradiction", "Drift", "drift"]

_FIRST_LINE = 2  # of a records file, whose first line opens the array


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One record and one thing that the schema of one of its tools says otherwise.

    ``line`` is where the record stands in its tier's ``records.json``. ``argument`` is empty where it is about the
    whole tool. ``schema_sha256`` is the hash of the schema that the tool has now, empty where it is gone. ``shown``: a
    session of a task with these tools may still show the record. ``what`` tells it in words.
    """

    kind: Kind
    tier: str
    line: int
    record: str
    family: str
    task_id: str
    tool: str
    argument: str
    schema_sha256: str
    what: str
    shown: bool


@dataclass(frozen=True, slots=True)
class Drift:
    """What was found. ``records`` counts the active records by tier: those that were judged."""

    records: Mapping[str, int]
    contradictions: Sequence[Contradiction]

    @property
    def found(self) -> dict[str, int]:
        """How many contradictions there are of each kind."""
        return dict(Counter(each.kind for each in self.contradictions))

    @property
    def still_shown(self) -> int:
        """How many contradicted records a session may still show."""
        return len({each.record for each in self.contradictions if each.shown})


def drift(memory: Memory, tools: Tools, *, partial: bool = False) -> Drift:
    """What the tools of today contradict, by tier and line.

    A call is not judged where its record says that it was made under the schema that the tool has now: what a tool took
    against its own schema is no drift. Where a record does not know its tools' schemas, its calls are judged alone, and
    a session still shows it. A text that tells no call, as a workflow's, can only name a tool that is gone.

    Args:
        memory: an open memory; it is not changed.
        tools: all tools there are now.
        partial: there may be others: then none is removed, and none that is missing keeps a record from being shown.

    Raises:
        ConfigError: an entry is no tool, or two tools have one name.

    >>> import tempfile
    >>> import amd
    >>> from amd.testing import run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = amd.build_memory([run(1)], folder, embedder=amd.load_embedder("hash"))
    ...     with amd.open_memory(folder) as memory:
    ...         found = drift(memory, [tool for tool in run(1).tools if tool.name != "mv"])
    ...         same = drift(memory, run(1).tools)
    >>> found.found, found.still_shown, same.found
    ({'removed': 7}, 0, {})
    """
    offer = offered(tools)
    hashes = offer.hashes or {}
    records: Counter[str] = Counter()
    found: list[Contradiction] = []
    for line, record in _active(memory):
        records[record.tier] += 1
        shown = offer.why_unfit(record) is None if not partial else not offer.is_stale(record)
        found += (
            Contradiction(
                kind,
                record.tier,
                line,
                record.id,
                record.task.family,
                record.task.task_id,
                tool,
                argument,
                hashes.get(tool, ""),
                what,
                shown,
            )
            for kind, tool, argument, what in _judged(record, offer)
            if not (partial and kind == "removed")
        )
    found.sort(key=lambda each: (each.tier, each.line))
    return Drift(dict(sorted(records.items())), tuple(found))


def _active(memory: Memory) -> Iterator[tuple[int, Record]]:
    for shelf in memory.shelves.values():
        for line, record in enumerate(shelf.records(), _FIRST_LINE):
            if record.status == "active":
                yield line, record


def _judged(record: Record, offer: Offer) -> Iterator[Found]:
    """What of one record is contradicted, each thing once."""
    specs, hashes = offer.specs or {}, offer.hashes or {}
    calls = tuple(_calls(record))
    found: dict[Found, None] = {}
    for tool in dict.fromkeys([*_listed(record), *(name for name, _ in calls)]):
        if tool not in specs:
            found["removed", tool, "", f"the tool {tool} is not there"] = None
    for tool, arguments in calls:
        if tool in specs and record.schemas.get(tool) != hashes[tool]:
            found.update(dict.fromkeys(contradicted(specs[tool], arguments)))
    told = {tool for _, tool, *_ in found}
    for tool, schema in record.schemas.items():
        if tool not in told and hashes.get(tool, schema) != schema:
            found["schema", tool, "", f"the arguments of {tool} have changed, in nothing that the record shows"] = None
    return iter(found)


def _listed(record: Record) -> Iterable[str]:
    listed = record.body.get("tools")
    own = [record.tool] if record.tool is not None else []
    return [*own, *(name for name in (listed if isinstance(listed, list) else []) if isinstance(name, str))]


def _calls(record: Record) -> Iterator[tuple[str, Mapping[str, JSON]]]:
    """The calls that a record shows, whichever tier wrote it: its own, and all that lie in its body."""
    own = record.body.get("arguments")
    if record.tool is not None and isinstance(own, Mapping):
        yield record.tool, own
    for member in record.body.values():
        for item in member if isinstance(member, list) else ():
            if isinstance(item, Mapping):
                name, arguments = item.get("name", item.get("tool")), item.get("arguments")
                if isinstance(name, str) and isinstance(arguments, Mapping):
                    yield name, arguments
