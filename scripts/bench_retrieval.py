"""Measures what the search finds: BFCL's recorded tasks and turns, each asked as a task that may not see itself.

    python scripts/bench_retrieval.py

Questions are the first message of each task, against the first messages of the others, and the text of each turn,
against the turns of the others. A record is relevant if its calls overlap with those of the question: the Jaccard index
of the functions in the benchmark's answer key is 0.5 or more. Each is measured twice: *plain*, with texts as they are
and nothing hidden but the task itself, so that its twin in the same words under another index is an answer; and *as
built*, with all that a build and a viewer do: texts masked, families and equal texts hidden. Both go through
``Shelf.search``, dense or fused with BM25; only *BM25 alone* and *random*, which no tier uses, are made here, over the
rows that the viewer sees.

It prints nDCG@5 and hit@1 of each way, and paired differences with a bootstrap interval over tasks. Exit code 1 if,
plain, the dense search of tasks or the fused search of turns finds less than it should. No text of the benchmark is
printed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt

import amd
from amd.build.merge import run_of
from amd.chat import Embedder, Rows
from amd.cli.console import StageProgress
from amd.exclusion import instruction_sha256, self_excluded
from amd.json_text import JSON
from amd.mask import mask_query
from amd.records import Record, RecordSource, RecordTask, record_id
from amd.store import Contents, Shelf, ShelfContents, open_memory, publish
from amd.store.lexical import Lexical
from amd.store.visible import view_of
from amd.tier import RULES, Query
from amd_bfcl.families import Category
from amd_bfcl.record import record

K = 5
OVERLAP = 0.5
DRAWS = 10_000
SEED = 20
DENSE, FUSED, HASH, HASH_FUSED, WORDS, RANDOM = (
    *("minilm", "minilm + BM25", "hash", "hash + BM25", "BM25 alone", "random"),
)
LEAST = {"tasks": (DENSE, 0.40), "turns": (FUSED, 0.70)}
"""The least nDCG@5, plain, of the search that the workflow tier and the subtask tier use."""

PAIRS = ((FUSED, DENSE), (FUSED, WORDS), (DENSE, HASH))

Figures = npt.NDArray[np.float64]
"""nDCG@5 and hit@1 in two columns, a row for each question."""


@dataclass(frozen=True)
class Item:
    """A text as a task of its own with a run, the functions that answer it, and the task that it comes from."""

    run: amd.Trajectory
    text: str
    functions: frozenset[str]
    of: str

    @property
    def task(self) -> amd.Task:
        """Who asks."""
        return self.run.task


class Remembering:
    """An embedder that embeds each text once, for four memories that share most of theirs."""

    def __init__(self, embedder: Embedder) -> None:
        self.id, self.floor = embedder.id, embedder.floor
        self._embedder = embedder
        self._rows: dict[str, Rows] = {}

    def embed(self, texts: Sequence[str]) -> Rows:
        """The rows of the texts."""
        new = list(dict.fromkeys(text for text in texts if text not in self._rows))
        self._rows |= zip(new, self._embedder.embed(new), strict=True)
        return np.array([self._rows[text] for text in texts])


def items(runs: Sequence[amd.Trajectory]) -> dict[str, list[Item]]:
    """The tasks, and the turns that have words and calls."""
    found: dict[str, list[Item]] = {"tasks": [], "turns": []}
    for run in runs:
        task = run.task
        found["tasks"].append(Item(run, task.instruction, frozenset(call.name for call in run.calls), task.task_id))
        for number, turn in enumerate(run.turns, 1):
            if turn.user and turn.calls:
                # Another benchmark: the overlay knows no such task.
                part = amd.Task("bfcl-turns", f"{task.task_id}:{number}", task.family, turn.user)
                alone = replace(run, task=part, turns=(turn,))
                found["turns"].append(Item(alone, turn.user, frozenset(call.name for call in turn.calls), task.task_id))
    return found


def plain(found: Sequence[Item]) -> list[Item]:
    """The same items, each task a family of its own, and no two of them with one instruction to be hidden by."""
    return [
        replace(item, run=replace(item.run, task=replace(item.task, family=item.of, instruction=item.of)))
        for item in found
    ]


def shelve(found: Sequence[Item], embedder: Embedder, place: Path) -> Shelf:
    """A shelf of records that are keyed on the texts as they are."""
    records, runs = [], []
    for item in found:
        task, source, sha256 = item.task, item.run.source, instruction_sha256(item.task.instruction)
        body: dict[str, JSON] = {"text": item.of, "tools": []}
        records.append(
            Record(
                id=record_id("workflow", task.benchmark, task.task_id, item.text, body),
                tier="workflow", key=item.text, body=body,
                task=RecordTask(task.benchmark, task.task_id, task.family, sha256),
                source=RecordSource(source.teacher, source.run_id, source.kind, item.run.sha256, (1, 1)),
                distiller="rules", created_at="2026-01-01T00:00:00Z",
            )
        )  # fmt: skip
        runs.append(run_of(item.run, RULES))
    rows = embedder.embed([record.key for record in records])
    contents = Contents(
        method="workflow", benchmark=found[0].task.benchmark, embedder_id=embedder.id, width=rows.shape[1],
        embedder_floor=embedder.floor, floored=frozenset({"workflow"}), pinned_floors={}, all_trials=False, runs=runs,
        read=len(runs), refused={}, distiller={"id": "rules", "prompts": ""}, costs={}, terms=None,
        shelves={"workflow": ShelfContents(records, rows)},
    )  # fmt: skip
    publish(place, lambda _: contents)
    return open_memory(place, embedder=embedder).shelves["workflow"]


def build(found: Sequence[Item], embedder: Embedder, place: Path) -> Shelf:
    """A shelf as the library builds it: gate, mask and all."""
    runs = [item.run for item in found]
    report = amd.build_memory(runs, place, embedder=embedder, options=amd.Options(method="workflow"))
    assert report.admitted == len(found), report.refused
    return open_memory(place, embedder=embedder).shelves["workflow"]


def overlap(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two answers use much the same functions."""
    return len(one & other) >= OVERLAP * len(one | other)


def judged(found: Sequence[str], relevant: set[str]) -> tuple[float, float]:
    """nDCG@5 and hit@1 of the ids that were found."""
    gains = [1 / np.log2(rank + 2) for rank in range(K)]
    gained = sum(gain for gain, task_id in zip(gains, found, strict=False) if task_id in relevant)
    return gained / sum(gains[: len(relevant)]), float(bool(found) and found[0] in relevant)


def asked(shelf: Shelf, item: Item, text: str, *, fused: bool) -> list[str]:
    """What the library finds, best first."""
    found = shelf.search(Query(text, K), viewer=self_excluded(item.task), fused=fused, floored=False)
    return [hit.record.task.task_id for hit in found.hits]


def ranked(scores: npt.NDArray[np.floating], seen: npt.NDArray[np.intp], ids: Sequence[str]) -> list[str]:
    """The ids of the best five rows that are seen."""
    return [ids[row] for row in seen[np.argsort(-scores[seen], kind="stable")[:K]]]


def measure(
    found: Sequence[Item], minilm: Shelf, hashed: Shelf, *, masked: bool
) -> tuple[dict[str, Figures], list[str]]:
    """The figures of each way, and the task of each question that has a relevant record at all."""
    ids = [record.task.task_id for record in minilm.records()]
    words = Lexical(record.key for record in minilm.records())
    functions = {item.task.task_id: item.functions for item in found}
    draw = np.random.default_rng(SEED)
    figures: dict[str, list[tuple[float, float]]] = {}
    clusters = []
    for item in found:
        seen = view_of(minilm.columns, self_excluded(item.task), None).seen
        relevant = {ids[row] for row in seen if overlap(functions[ids[row]], item.functions)}
        if not relevant:
            continue
        clusters.append(item.of)
        text = mask_query(item.text) if masked else item.text
        ways = {
            DENSE: asked(minilm, item, text, fused=False),
            FUSED: asked(minilm, item, text, fused=True),
            WORDS: ranked(words.scores(text), seen, ids),
            HASH: asked(hashed, item, text, fused=False),
            HASH_FUSED: asked(hashed, item, text, fused=True),
            RANDOM: ranked(draw.random(len(ids)), seen, ids),
        }
        for way, answer in ways.items():
            figures.setdefault(way, []).append(judged(answer, relevant))
    return {way: np.array(values) for way, values in figures.items()}, clusters


def interval(difference: Figures, clusters: Sequence[str]) -> tuple[Figures, Figures, Figures]:
    """The mean difference and its 95 % interval; tasks are drawn with all their questions."""
    names, place = np.unique(clusters, return_inverse=True)
    sums = np.zeros((len(names), 2))
    np.add.at(sums, place, difference)
    counts = np.bincount(place)
    drawn = np.random.default_rng(SEED).integers(0, len(names), (DRAWS, len(names)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)[:, None]
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    return difference.mean(axis=0), low, high


def print_figures(what: str, figures: Mapping[str, Figures], clusters: Sequence[str], least: tuple[str, float]) -> bool:
    """Print both tables; whether the way of ``least`` finds enough."""
    used, limit = least
    enough = bool(figures[used][:, 0].mean() >= limit)
    print(f"\n{what}: {len(clusters)} questions".ljust(35) + "nDCG@5  hit@1")
    for way, values in figures.items():
        ndcg, hit = values.mean(axis=0)
        beside = f"   limit {limit:.2f}   {'ok' if enough else 'MISSED'}" if limit and way == used else ""
        print(f"  {way:<32} {ndcg:.3f}   {hit:.3f}{beside}")
    for one, other in PAIRS:
        mean, low, high = interval(figures[one] - figures[other], clusters)
        both = "   ".join(f"{mean[at]:+.3f} [{low[at]:+.3f}, {high[at]:+.3f}]" for at in (0, 1))
        print(f"  {one} over {other}:".ljust(34), both)
    return enough


def main() -> int:
    """Record, build, ask, print; the exit code."""
    start, runs = perf_counter(), []
    with StageProgress() as progress:
        for run in record(Category.BASE):
            runs.append(run)
            progress("replaying tasks", len(runs), 0)
    embedders = [Remembering(amd.load_embedder(name)) for name in ("minilm", "hash")]
    enough = []
    with tempfile.TemporaryDirectory() as folder:
        for what, found in items(runs).items():
            for how, made, shelf, limit in (
                ("plain", plain(found), shelve, LEAST[what]),
                ("as built", found, build, (LEAST[what][0], 0.0)),
            ):
                places = [Path(folder) / f"{what} {how} {embedder.id[:4]}" for embedder in embedders]
                shelves = [shelf(made, embedder, place) for embedder, place in zip(embedders, places, strict=True)]
                figures, clusters = measure(made, *shelves, masked=how == "as built")
                enough.append(print_figures(f"{what}, {how}", figures, clusters, limit))
    print(f"\n{perf_counter() - start:.0f} seconds")
    return int(not all(enough))


if __name__ == "__main__":
    sys.exit(main())
