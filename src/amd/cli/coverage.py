"""``amd coverage``: what a memory would have shown to recorded tasks, against what their own runs did."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from amd.arms.words import ArmProtocol
from amd.build import admit
from amd.build.gate import Gate
from amd.cli.console import StageProgress, print_json
from amd.cli.coverage_table import Source, Told
from amd.cli.formats import FormatGroup
from amd.cli.options import BaseUrl, Json, StoredEmbedder
from amd.cli.reporting import check_installed
from amd.config import embedder_named
from amd.errors import ConfigError
from amd.exclusion import Split, read_split
from amd.experiment.stored_rows import StoredRows
from amd.methods import method_named
from amd.session.terms import Mode
from amd.store import Memory, open_memory, read_memory
from amd.tier import Question
from amd.traces import Reader, ReaderOptions, Trajectory

if TYPE_CHECKING:  # the statistics need the extra, and are loaded when a memory is evaluated
    from amd.experiment.coverage import Recorded

__all__ = ["app"]

_PROTOCOLS: tuple[ArmProtocol, ...] = get_args(ArmProtocol)

_Memory = Annotated[Path, typer.Option(help="The memory to evaluate.", show_default=False)]
_Method = Annotated[
    list[str] | None,
    typer.Option(help="A method of the memory; may be given again. By default each of its tiers, and all of them."),
]
_Protocol = Annotated[
    list[str] | None,
    typer.Option(help=f"{', '.join(_PROTOCOLS)}; may be given again. By default all that the memories allow."),
]
_Split = Annotated[Path | None, typer.Option(help="A split file: its test families are the tasks, for every protocol.")]
_TrainMemory = Annotated[
    Path | None, typer.Option(help="The memory that was built with --split, for cross-split; by default --memory.")
]
_AnyRun = Annotated[
    bool, typer.Option("--assume-unassisted", help="Take runs of which nobody knows if a memory helped.")
]
_Limit = Annotated[int | None, typer.Option(min=1, help="Only the first so many tasks, in the order of their ids.")]


def _coverage(
    reader: Reader[Any],
    paths: Sequence[Path],
    options: ReaderOptions,
    *,
    memory: _Memory,
    method: _Method = None,
    protocol: _Protocol = None,
    split: _Split = None,
    train_memory: _TrainMemory = None,
    mode: Annotated[Mode, typer.Option(help="When subtask memory is asked.")] = "static",
    draws: Annotated[int, typer.Option(min=0, help="How often each task is shown random records instead.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Of the random records and of the intervals.")] = 0,
    limit: _Limit = None,
    assume_unassisted: _AnyRun = False,
    embedder: StoredEmbedder = None,
    base_url: BaseUrl = None,
    json: Json = False,
) -> None:
    """Evaluate a memory on recorded runs of the format {format}, without any student and without a network.

    \b
    tools        the share of a task's own good calls whose tool the text names that the task would have been shown
    args         the share of which the text has a call of the tool with all of its argument names
    over random  tools and args less those of random records under the same viewer and limits: what is not above
                 0 is chance
    own          how many records of a task's own family were shown
    per 100      calls covered for 100 tokens: by tool / with its arguments
    repeat       precision / recall of the top-1 record's calls, repeated without a model: what is shown before
                 a turn against that turn's own calls, what is shown before the task against those of the whole run. A
                 student that does not beat them has only copied
    hints        recorded errors whose repair the run knows: how many hints have an example that would have repaired it:
                 of other argument names, the same names; of other values, those values, which masking mostly hides;
                 of a call in between, a call of that tool; and the share with random records

    What a task needs is told by its best successful run; errors are taken from all runs. Intervals are of 95 %, over
    families; there is none of fewer than ten families, or where all are alike. In-sample figures, in which a task may
    be shown its own run, are labelled IN-SAMPLE. Intervals need the extra eval: pip install
    'agent-memory-distillation[eval]'.

    Example: amd coverage {format} runs.jsonl --memory memory

    Example: amd coverage {format} runs.jsonl --memory memory --split split.json --train-memory train-memory
    """  # noqa: D301 - click's mark for lines that are not wrapped
    check_installed("coverage", pictures=False)
    from amd.experiment.coverage import coverage  # noqa: PLC0415 - as above

    division = read_split(split) if split else None
    wanted = _wanted(protocol, division, train_memory)
    with ExitStack() as stack:
        progress = stack.enter_context(StageProgress())
        of, gate = _recorded(reader, paths, options, progress, division, limit, assume_unassisted=assume_unassisted)
        memories = {
            place: stack.enter_context(_opened(place, embedder, base_url))
            for place in dict.fromkeys([memory, train_memory or memory])
        }
        protocols = wanted or _allowed(memories[train_memory or memory], division)
        asked = [(each, by) for each in method or _methods(memories[memory], of) for by in protocols]
        step = _Steps(progress, len(asked) * len(of.runs) * (1 + draws))
        rows = [
            coverage(
                of,
                memories[(train_memory or memory) if by == "cross-split" else memory],
                method=name,
                protocol=by,
                split=division,
                mode=mode,
                draws=draws,
                seed=seed,
                progress=step,
            )
            for name, by in asked
        ]
        sources = {str(place): _source(each) for place, each in memories.items()}
    told = Told(rows, of, gate, sources, division.sha256 if division else None, mode, seed)
    if json:
        print_json(told.as_json())
    else:
        told.print()


@dataclass(slots=True)
class _Steps:
    """Counts the questions that were asked: each task in each row, as it is and for each draw of random records."""

    progress: StageProgress
    total: int
    done: int = 0

    def __call__(self) -> None:
        self.done += 1
        self.progress("questions asked", self.done, self.total)


def _wanted(given: Sequence[str] | None, split: Split | None, train_memory: Path | None) -> list[ArmProtocol]:
    """The protocols that were named; none is all that can be."""
    unknown = sorted(set(given or ()) - set(_PROTOCOLS))
    if unknown:
        raise ConfigError(f"--protocol {unknown[0]}: use one of {', '.join(_PROTOCOLS)}")
    if split is None and ("cross-split" in (given or ()) or train_memory is not None):
        raise ConfigError("cross-split and --train-memory need --split FILE")
    return [each for each in _PROTOCOLS if each in (given or ())]


def _allowed(memory: Memory, split: Split | None) -> list[ArmProtocol]:
    """All protocols, without cross-split unless the memory has train families alone."""
    held_out = split is not None and split.train.issuperset(memory.manifest.sources.families)
    return [each for each in _PROTOCOLS if each != "cross-split" or held_out]


def _methods(memory: Memory, of: Recorded) -> list[str]:
    """Each tier that has anything to be asked, alone, then all that the memory was built with."""
    whole = method_named(memory.manifest.method)
    alone = [tier.name for tier in whole.tiers if of.errors or tier.ask(Question("task", "task"))]
    return list(dict.fromkeys([*alone, whole.name]))


def _opened(place: Path, embedder: str | None, base_url: str | None) -> Memory:
    with read_memory(place) as seen:
        chosen = embedder_named(embedder or seen.manifest.embedder.id, base_url)
        return open_memory(place, pin=seen.seal, embedder=StoredRows(seen, chosen))


def _recorded(
    reader: Reader[Any],
    paths: Sequence[Path],
    options: ReaderOptions,
    progress: StageProgress,
    split: Split | None,
    limit: int | None,
    *,
    assume_unassisted: bool,
) -> tuple[Recorded, Gate]:
    """The runs to evaluate on, and what the gate says of those that were read."""
    from amd.experiment.coverage import recorded  # noqa: PLC0415 - as above

    items = []
    for item in reader.read(paths, options):
        items.append(item)
        progress("read", len(items), 0)
    gate = admit(items, assume_unassisted=assume_unassisted)
    runs = [item for item in items if isinstance(item, Trajectory)]
    return recorded(gate.admitted, runs, split=split, limit=limit), gate


def _source(memory: Memory) -> Source:
    manifest = memory.manifest
    teachers = tuple(sorted({f"{run.teacher} ({run.kind})" for run in manifest.sources.runs}))
    return Source(memory.digest, memory.seal, manifest.embedder.id, teachers)


class _Formats(FormatGroup):
    job = staticmethod(_coverage)


app = typer.Typer(
    cls=_Formats,
    help="Evaluate a memory on recorded runs, without any student. `amd coverage FORMAT --help` tells what is "
    "measured.\n\n\b\nExample: amd coverage openai-chat runs.jsonl --memory memory",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _formats() -> None:
    """Exists so that typer makes a group."""
