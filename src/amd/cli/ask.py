"""``amd ask``: what a student would be shown, and why not more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from amd.cli.console import counts, print_json, print_table
from amd.cli.options import BaseUrl, Directory, Json, Pin, StoredEmbedder
from amd.config import embedder_named
from amd.errors import ConfigError
from amd.exclusion import Viewer, cross_split, deployed, in_sample, read_split, self_excluded
from amd.json_text import JSON, loads
from amd.records import Exposure
from amd.session import Session
from amd.store import Memory, open_memory, read_memory
from amd.tier import FailedCall
from amd.traces.families import family_of
from amd.trajectory import Task

__all__ = ["ask"]

_PROTOCOLS = ("self-excluded", "in-sample", "cross-split", "deployed")


_Instruction = Annotated[str, typer.Option(help="The first message that the student sees.", show_default=False)]
_Benchmark = Annotated[str | None, typer.Option(help="The task's benchmark.")]
_TaskId = Annotated[str | None, typer.Option(help="The task's id.")]
_Family = Annotated[str | None, typer.Option(help="The tasks that share an answer with it.")]
_Protocol = Annotated[
    str | None,
    typer.Option(help=f"{', '.join(_PROTOCOLS)}. With a task, self-excluded; without one it must be deployed."),
]
_Split = Annotated[Path | None, typer.Option(help="The split file of cross-split.")]
_Method = Annotated[str | None, typer.Option(help="A subset of the memory's tiers; all by default.")]
_Tools = Annotated[Path | None, typer.Option(help="A JSON list of the tools that the task offers.")]
_Error = Annotated[
    tuple[str, str] | None, typer.Option(metavar="TOOL MESSAGE", help="Ask for the hint to this failed call.")
]
_AnyBenchmark = Annotated[
    bool, typer.Option("--any-benchmark", help="Ask a memory of another benchmark; the answer says so.")
]


def ask(
    directory: Directory,
    *,
    instruction: _Instruction,
    benchmark: _Benchmark = None,
    task_id: _TaskId = None,
    family: _Family = None,
    protocol: _Protocol = None,
    split: _Split = None,
    method: _Method = None,
    tools: _Tools = None,
    error: _Error = None,
    embedder: StoredEmbedder = None,
    base_url: BaseUrl = None,
    any_benchmark: _AnyBenchmark = False,
    pin: Pin = None,
    json: Json = False,
) -> None:
    """Print the text that a student would be given for a task, and what was hidden from it.

    Example: amd ask memory --instruction "Book a flight" --benchmark openai-chat --task-id 7

    Example: amd ask memory --instruction "Book a flight" --protocol deployed --error book_flight "Error: no seats"
    """
    if error is not None and not error[0].strip():
        raise ConfigError("--error names no tool: write --error TOOL MESSAGE")
    if not instruction.strip():
        raise ConfigError("--instruction is empty: there is nothing to ask")
    offered = _tools(tools) if tools else None
    with read_memory(directory, pin=pin) as seen:
        chosen = embedder_named(embedder or seen.manifest.embedder.id, base_url)
    with open_memory(directory, pin=pin, embedder=chosen) as memory:
        viewer = _viewer(memory, instruction, benchmark, task_id, family, protocol, split)
        session = Session(
            memory,
            viewer=viewer,
            method=memory.manifest.method if method is None else method,
            tools=offered,
            any_benchmark=any_benchmark,
        )
        if error is None:
            text = session.before_task(instruction).text
        else:
            text = session.after_error(FailedCall(error[0], {}, error[1], turn_text=instruction, place="asked")).text
        answer = _answer(text, viewer, session.exposures)
    if json:
        print_json(answer)
    else:
        _print(answer)
        if error is not None and not any(exposure.considered for exposure in session.exposures):
            typer.echo(f"the memory has no record of the tool {error[0]!r} that may be shown", err=True)


def _viewer(
    memory: Memory,
    instruction: str,
    benchmark: str | None,
    task_id: str | None,
    family: str | None,
    protocol: str | None,
    split: Path | None,
) -> Viewer:
    """The viewer that the options name. What they leave open, or contradict, is an error, never a wider view."""
    if protocol not in (None, *_PROTOCOLS):
        raise ConfigError(f"--protocol {protocol}: use one of {', '.join(_PROTOCOLS)}")
    if (split is None) == (protocol == "cross-split"):
        raise ConfigError("--protocol cross-split needs --split FILE, and --split is for no other protocol")
    if protocol == "deployed":
        if (task_id, benchmark, family) != (None, None, None):
            raise ConfigError("--protocol deployed knows no task: leave --task-id, --benchmark and --family out")
        return deployed()
    if task_id is None or benchmark is None:
        raise ConfigError("name the task with --benchmark and --task-id, or say --protocol deployed")
    task = Task(benchmark, task_id, family or _family(memory, benchmark, task_id), instruction)
    if protocol == "in-sample":
        return in_sample(task)
    return self_excluded(task) if split is None else cross_split(task, read_split(split))


def _family(memory: Memory, benchmark: str, task_id: str) -> str:
    """The family that the memory or an installed overlay knows; it is never guessed from the id."""
    if memory.manifest.benchmark == benchmark:
        for run in memory.manifest.sources.runs:
            if run.task_id == task_id:
                return run.family
    family = family_of(benchmark, task_id)
    if family is None:
        raise ConfigError(
            f"the family of task {task_id!r} of {benchmark!r} is not known: the memory has no record of it and no "
            "installed overlay knows it; give --family"
        )
    return family


def _tools(path: Path) -> Sequence[Mapping[str, JSON]]:
    try:
        value = loads(path.read_bytes())
    except ValueError as error:
        raise ConfigError(f"{path}: not JSON: {error}", next_step="give a JSON list of tools") from error
    if not isinstance(value, list) or not all(isinstance(tool, Mapping) for tool in value):
        raise ConfigError(f"{path}: not a list of objects", next_step="give tools as in a chat request")
    return [tool for tool in value if isinstance(tool, Mapping)]


def _answer(text: str, viewer: Viewer, exposures: Sequence[Exposure]) -> dict[str, object]:
    excluded: Counter[str] = Counter()
    for exposure in exposures:
        excluded.update(exposure.excluded)
    return {
        "text": text,
        "protocol": viewer.protocol,
        "in_sample": not viewer.excludes and viewer.task is not None,
        "exposures": [
            {"tier": exposure.tier, "record_id": record_id, "family": family, "score": score}
            for exposure in exposures
            for record_id, family, score in zip(exposure.record_ids, exposure.families, exposure.scores, strict=True)
        ],
        "excluded": dict(excluded),
        "tiers": {
            exposure.tier: {
                "considered": exposure.considered,
                "below_floor": exposure.below_floor,
                "best": exposure.best,
                "tokens": exposure.tokens,
                "dropped": dict(exposure.dropped),
            }
            for exposure in exposures
        },
        "widened": any(exposure.widened for exposure in exposures),
    }


def _print(answer: Mapping[str, object]) -> None:
    typer.echo(answer["text"] or "(nothing is shown)")
    typer.echo()
    rows: list[tuple[str, object]] = [("protocol", "IN-SAMPLE" if answer["in_sample"] else answer["protocol"])]
    exposures, tiers, excluded = answer["exposures"], answer["tiers"], answer["excluded"]
    assert isinstance(exposures, list)
    assert isinstance(tiers, dict)
    assert isinstance(excluded, dict)
    rows += [(each["tier"], f"family {each['family']}, cosine {each['score']:.3f}") for each in exposures]
    for name, tier in tiers.items():
        best = "none" if tier["best"] is None else f"{tier['best']:.3f}"
        seen = f"{tier['considered']} considered, {tier['below_floor']} below the floor, best {best}"
        passed = f", passed over: {counts(tier['dropped'])}" if tier["dropped"] else ""
        rows.append((f"{name}, search", f"{seen}, {tier['tokens']} tokens{passed}"))
    rows.append(("hidden", counts(excluded)))
    if answer["widened"]:
        rows.append(("widened", "the memory is of another benchmark"))
    print_table("what was shown", rows)
