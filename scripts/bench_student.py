"""Measures what a real small student does with memory: next-call prediction over recorded tasks of BFCL.

    make bench-student                                          # sets up what it needs, then does this
    python scripts/bench_student.py                             # 60 items: half an hour on two idle processors
    python scripts/bench_student.py --items 20 --arms none,block
    python scripts/bench_student.py --base-url URL --model NAME # another student

One item is one turn of a recorded run: the user's words and a dozen tools, and the student writes one call, by schema.
It is right if it is the first call of the turn. That is a proxy: no episode is played, and the benchmark scores
nothing. The memory is built from all runs; each arm asks it as ``amd.Session`` does, and sees no record of the item's
own family, but for ``in-sample``. docs/small-student.md has figures, and what a reader should think of them. No text of
a run is printed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

import amd
from amd.arms.run_directory import RunDirectory, RunSettings
from amd.cli.console import StageProgress, print_json, print_some
from amd.cli.exits import run_app
from amd.clients import ChatModel
from amd.config import chat_model_named, embedder_named
from amd.errors import ClientError, ConfigError
from amd.traces import Refusal, Trajectory, load_reader
from amd_bfcl.families import Category
from amd_bfcl.record import record
from local_llm import MODEL
from next_call.answers import Answers
from next_call.arms import ARMS, NONE, PARROT, Shown, show
from next_call.asking import ask_all
from next_call.items import Item, draw
from next_call.report import figures, print_figures

ROOT = Path(__file__).resolve().parents[1]
SERVER = (str(ROOT / ".venvs" / "local-llm" / "bin" / "python"), str(ROOT / "scripts" / "local_llm.py"))
DEFAULT_ARMS = (NONE, "random", "block", "turns", "in-sample", PARROT)
TIMEOUT = 1800.0  # seconds: on a busy machine a token can take one, and a whole prompt comes before the first

app = typer.Typer(add_completion=False)


@app.command()
def main(
    *,
    items: Annotated[int, typer.Option(min=1, help="How many; families take turns.")] = 60,
    arms: Annotated[str, typer.Option(help=f"Some of: {', '.join(ARMS)}.")] = ",".join(DEFAULT_ARMS),
    over: Annotated[str, typer.Option(help="The arm that the others are compared with.")] = NONE,
    out: Annotated[
        Path, typer.Option(help="Where memory and answers are kept.", show_default="student-bench, here")
    ] = ROOT / "student-bench",
    model: Annotated[str, typer.Option(help="The student.")] = MODEL,
    base_url: Annotated[str | None, typer.Option(help=f"Its endpoint; without it, {MODEL} is served.")] = None,
    runs: Annotated[Path | None, typer.Option(help="Runs as amd read writes them, instead of BFCL's.")] = None,
    embedder: Annotated[str, typer.Option(help="What the memory is embedded by.")] = "minilm",
    seed: Annotated[int, typer.Option(help="Of items, tools, random records and intervals.")] = 20,
    json: Annotated[bool, typer.Option("--json", help="The figures as JSON.")] = False,
) -> None:
    """Measure what a real small student does with memory: next-call prediction over recorded tasks of BFCL.

    Answers are kept as they come: after a kill, or with more items or arms, the same command goes on. Fewer items are
    the first ones, so that what is finished can be looked at. What the figures mean: docs/small-student.md.
    """
    chosen = known_arms(arms.split(","))
    known_arms([over])
    with RunDirectory(out, RunSettings, "bench_student").locked():
        found = read_runs(runs)
        drawn = draw(found, items, seed)
        if not drawn:
            raise ConfigError("no run has a turn with words, calls and known tools", next_step="give other runs")
        asked = look(drawn, build(found, out / "memory", embedder), seed)
        answers = Answers(out / "answers.jsonl")
        with served(model, base_url) as student, StageProgress() as progress:
            outcomes = ask_all(student, answers, asked, chosen, seed=seed, progress=progress)
    table, families = figures(outcomes, over, seed), len({item.task.family for item in drawn})
    if json:
        arms_found = {arm: asdict(its) for arm, its in table.items()}
        told = {"model": model, "items": len(drawn), "families": families, "seed": seed, "over": over}
        print_json({**told, "arms": arms_found})
    else:
        print_figures(f"{model}, {len(drawn)} items of {families} families, seed {seed}", table, over)


def known_arms(words: Sequence[str]) -> list[str]:
    """The names, each once, without the spaces around them."""
    names = list(dict.fromkeys(word.strip() for word in words))
    unknown = [name for name in names if name not in ARMS]
    if unknown:
        raise ConfigError(
            f"{', '.join(map(repr, unknown))} is no arm", next_step=f"give some of: {', '.join(ARMS)}", arms=unknown
        )
    return names


def read_runs(path: Path | None) -> list[Trajectory]:
    """The runs of a file of the format ``amd``, or BFCL's answer key, replayed."""
    if path is None:
        return list(record(Category.BASE))
    reader = load_reader("amd")
    found = list(reader.read([path], reader.options()))
    refused = [item for item in found if isinstance(item, Refusal)]
    print_some([f"{refusal.where}: {refusal.reason}: {refusal.detail}" for refusal in refused])
    return [item for item in found if isinstance(item, Trajectory)]


def build(runs: Sequence[Trajectory], place: Path, embedder: str) -> amd.Memory:
    """The memory of these runs alone; built once, for the same runs change nothing."""
    model = embedder_named(embedder)
    options = amd.Options(method="workflow+subtask", replace=True)
    with StageProgress() as progress:
        amd.build_memory(runs, place, embedder=model, options=options, progress=progress)
    return amd.open_memory(place, embedder=model)


def look(items: Sequence[Item], memory: amd.Memory, seed: int) -> list[tuple[Item, Mapping[str, Shown]]]:
    """Each item with what every arm shows for it, whichever are run."""
    records = {record.id: record for shelf in memory.shelves.values() for record in shelf.records()}
    asked: list[tuple[Item, Mapping[str, Shown]]] = []
    with StageProgress() as progress:
        for item in items:
            asked.append((item, {name: show(arm, item, memory, records, seed) for name, arm in ARMS.items()}))
            progress("searching", len(asked), len(items))
    return asked


@contextmanager
def served(model: str, base_url: str | None) -> Iterator[ChatModel]:
    """The student at its endpoint; without one the local model is served as long as it is needed."""
    if base_url is not None:
        with chat_model_named(model, base_url, timeout=TIMEOUT, connections=1) as student:
            yield student
        return
    if model != MODEL or not Path(SERVER[0]).exists():
        raise ConfigError(
            f"the model {model!r} has no endpoint" if model != MODEL else f"{MODEL} is not installed here",
            next_step="give --base-url" if model != MODEL else "run scripts/setup_local_llm.sh, or give --base-url",
        )
    # Its standard input is a pipe of ours: it ends when we do, even by a kill.
    with subprocess.Popen([*SERVER, "--until-stdin-closes"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            name, _, url = server.stdout.readline().decode().strip().rpartition(" ")
            if not name:
                raise ClientError(f"{MODEL} could not be served", next_step=f"see what {' '.join(SERVER)} says")
            with chat_model_named(model, url, timeout=TIMEOUT, connections=1) as student:
                yield student
        finally:
            server.terminate()


if __name__ == "__main__":
    sys.exit(run_app(app, "python scripts/bench_student.py", sys.argv[1:]))
