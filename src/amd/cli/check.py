"""``amd check`` and ``amd reindex``: is a memory what it says it is, and taking in what a person changed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from amd.cli.console import print_json, print_table
from amd.cli.options import BaseUrl, Directory, Json, Pin
from amd.config import embedder_named
from amd.methods import fault_in
from amd.store import check as check_memory
from amd.store import is_memory
from amd.store import reindex as reindex_memory
from amd.store.manifest import published_manifest
from amd.store.place import missing_manifest

__all__ = ["check", "reindex"]


def check(directory: Directory, pin: Pin = None, json: Json = False) -> None:
    """Check every byte of a memory and name each fault; exit 1 if there is one. Nothing is changed.

    Example: amd check memory --pin 3f9a...
    """
    if not is_memory(directory) and not json:
        raise missing_manifest(directory)
    report = check_memory(directory, pin=pin, fault_in=fault_in)
    if json:
        print_json(asdict(report))
    else:
        shelves = ", ".join(f"{name} {rows}" for name, rows in report.shelves.items())
        rows = [("shelves", shelves), ("faults", len(report.faults))]
        print_table(f"memory {directory}: {'good' if report.ok else 'NOT GOOD'}", rows)
        typer.echo(f"content {report.digest}\nseal    {report.seal}")
        for fault in report.faults:
            typer.echo(f"{fault.file}: {fault.what}", err=True)
        if any("by hand" in fault.what for fault in report.faults):
            typer.echo(f"if these edits are wanted, run: amd reindex {directory}", err=True)
    if not report.ok:
        raise typer.Exit(1)


def reindex(
    directory: Directory,
    embedder: Annotated[str | None, typer.Option(help="Change to this embedder: all keys are embedded again.")] = None,
    base_url: BaseUrl = None,
    pin: Pin = None,
    json: Json = False,
) -> None:
    """Take in what a person edited in DIR/generations/NNNNNN/TIER/records.json, and publish a new generation.

    Keys, bodies and states may be edited, lines removed; what a record comes from may not. Secrets by their shape are
    masked. Keep a copy of the file outside the memory: the difference is shown against the generation before, where
    that has the record.

    Example: amd reindex memory
    """
    chosen = embedder_named(embedder or published_manifest(directory).embedder.id, base_url)
    report = reindex_memory(directory, embedder=chosen, pin=pin, fault_in=fault_in)
    if json:
        print_json(asdict(report))
        return
    for edit in report.edits:
        typer.echo(edit.diff)
    rows: list[tuple[str, object]] = [("edited", len(report.edits)), ("removed", report.removed)]
    rows += [("rows embedded", report.embedded), ("keys cut by the embedder", report.cut)]
    rows += [("generation", report.generation)]
    print_table(f"memory {directory}" + ("" if report.changed else " (unchanged)"), rows)
    typer.echo(f"content {report.digest}\nseal    {report.seal}")
