"""``amd show``: a memory's records as a person reads them, in the words that a student would be shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain, groupby, islice, zip_longest
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from amd.cli.console import print_json
from amd.cli.options import Directory, Json
from amd.errors import ConfigError
from amd.methods import method_named
from amd.records import Record
from amd.store import Memory, read_memory
from amd.tier import FailedCall, Hit, Question, Style, Tier

__all__ = ["show"]

_ORDER = {tier.name: at for at, tier in enumerate(method_named("amd").tiers)}  # as a student meets them


def show(
    directory: Directory,
    tier: Annotated[str | None, typer.Option(help="Only this tier.")] = None,
    family: Annotated[str | None, typer.Option(help="Only records of this family.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many records, of each tier as many.")] = 30,
    json: Json = False,
) -> None:
    """Show records: where each comes from, the key it is found by, and its text.

    Example: amd show memory --tier workflow --limit 10
    """
    with read_memory(directory) as memory:
        chosen = list(_chosen(memory, tier, family))
        records = _shared(chosen, limit)
        if json:
            print_json({"records": [asdict(record) for record in records]})
            return
        tiers = {each.name: each for each in method_named("+".join(memory.shelves)).tiers}
    if sys.stdout.isatty():
        _print_table(records, tiers)
    else:
        for record in records:
            typer.echo(f"{record.tier}  {_origin(record)}\n{_text(record, tiers[record.tier])}\n")
    if not chosen:
        typer.echo("no record is of that tier and family", err=True)
    elif len(records) < len(chosen):
        typer.echo(f"{len(records)} of {len(chosen)} records are shown; --limit shows more", err=True)


def _chosen(memory: Memory, tier: str | None, family: str | None) -> Iterator[Record]:
    if tier is not None and tier not in memory.shelves:
        raise ConfigError(
            f"the memory has no shelf {tier!r}", next_step=f"its shelves are {', '.join(memory.shelves)}", tier=tier
        )
    for name, shelf in sorted(memory.shelves.items(), key=lambda item: _ORDER.get(item[0], len(_ORDER))):
        if tier in (None, name):
            yield from (record for record in shelf.records() if family in (None, record.task.family))


def _shared(records: list[Record], limit: int) -> list[Record]:
    """So many of the records, from each tier in turn: none fills the page alone."""
    shelves = [list(found) for _, found in groupby(records, lambda record: record.tier)]
    turns = chain.from_iterable(zip_longest(*shelves))
    kept = {record.id for record in islice((record for record in turns if record), limit)}
    return [record for record in records if record.id in kept]


def _origin(record: Record) -> str:
    first, last = record.source.steps
    calls = "no call" if not last else f"call {first}" if first == last else f"calls {first}-{last}"
    state = "" if record.status == "active" else f"  {record.status.upper()}"
    source = f"{record.source.kind} {record.source.teacher}"
    return f"{record.id[:8]}{state}  family {record.task.family}  {source}  {calls}  by {record.distiller}"


def _text(record: Record, tier: Tier) -> str:
    """The key that a record is found by, and what a student reads of it."""
    failed = FailedCall(record.tool or "", {}, str(record.body.get("error", "")))
    parts = tier.render([Hit(record, 1.0)], Question("error", record.key, failed=failed), Style())
    shown = "\n".join(part.text for part in parts)
    return f"found by: {record.key}\n{shown.removeprefix(record.key).lstrip()}"


def _print_table(records: list[Record], tiers: dict[str, Tier]) -> None:
    """One row a record: where it comes from, beside its text."""
    table = Table(show_lines=True)
    table.add_column("record", max_width=24)
    table.add_column("its key, and what a student reads", ratio=1)
    for record in records:
        origin = f"{record.tier}\n" + _origin(record).replace("  ", "\n")
        table.add_row(origin, _text(record, tiers[record.tier]))
    Console(markup=False, highlight=False).print(table)
