"""Measures the memory directory: searching, opening and resident memory, each against the plain way, in one run.

Run it with ``python scripts/bench_store.py``; it takes about a minute and 1 GB of disk in a temporary folder.
Every figure is a ratio of two medians that were measured in turns, so that a busy machine slows both sides.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import numpy as np
import orjson

from amd.chat import Rows
from amd.exclusion import Viewer, self_excluded
from amd.json_text import digest
from amd.records import Record, RecordSource, RecordTask, record_id
from amd.store import Contents, Memory, Run, ShelfContents, open_memory, publish
from amd.tier import Query
from amd.trajectory import Task

WIDTH = 384
SIZES = (1_000, 10_000, 100_000)
RECORDS_OF_A_RUN = 13
LIMITS = {"search": 1.3, "open": 1.5, "resident": 1.2}
"""The highest ratio of each figure; what is not named has none."""

NEIGHBOURS = 50
"""How many records a session looks at for each question (``amd.session.lookup``)."""

_WORDS = ("move", "the", "report", "file", "into", "folder", "count", "its", "lines", "and", "verify", "booking")


class Drawn:
    """An embedder that draws a row of unit length for each text; known texts cost nothing to embed again."""

    id = "drawn"
    floor = 0.35

    def __init__(self) -> None:
        self._rows: dict[str, Rows] = {}

    def embed(self, texts: Sequence[str]) -> Rows:
        """A row for each text."""
        return np.stack([self._row(text) for text in texts])

    def _row(self, text: str) -> Rows:
        if text not in self._rows:
            row = np.random.default_rng(int(digest(text.encode())[:12], 16)).standard_normal(WIDTH, np.float32)
            self._rows[text] = row / np.linalg.norm(row)
        return self._rows[text]


def record(number: int) -> Record:
    """A function record of about 1,400 bytes."""
    draw = random.Random(number)  # noqa: S311 - made-up text
    key = " ".join(draw.choices(_WORDS, k=12))
    call = {"name": "mv", "arguments": {"source": "<text>", "destination": "<text>"}}
    body = {"text": " ".join(draw.choices(_WORDS, k=60)), "calls": [call, call], "observation": "x" * 150, "n": number}
    of = number // RECORDS_OF_A_RUN
    return Record(
        id=record_id("function", "bench", f"task_{of}", key, body),
        tier="function",
        key=key,
        body=body,
        task=RecordTask("bench", f"task_{of}", f"family_{of}", digest(f"task {of}".encode())),
        source=RecordSource("teacher", "run", "teacher", digest(f"run {of}".encode()), (1, 3)),
        distiller="rules",
        created_at="2026-01-01T00:00:00Z",
        tool=f"tool_{number % 40}",
        schemas={"mv": digest(b"mv")},
    )


def made(place: Path, size: int) -> None:
    """Publish a memory of ``size`` records."""
    records = [record(number) for number in range(size)]
    rows = np.random.default_rng(size).standard_normal((size, WIDTH), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    runs = [
        Run("bench", each.task.task_id, each.task.family, each.task.instruction_sha256,
            each.source.trajectory_sha256, "teacher", "run", "teacher",
            success=True, calls=9, failed_calls=0, distiller="rules", prompts="")
        for each in records[::RECORDS_OF_A_RUN]
    ]  # fmt: skip
    contents = Contents(
        method="function", benchmark="bench", embedder_id=Drawn.id, width=WIDTH, embedder_floor=Drawn.floor,
        floored=frozenset({"function"}), pinned_floors={"function": -1.0}, all_trials=False, runs=runs, read=len(runs),
        refused={}, distiller={"id": "rules", "prompts": ""}, costs={}, terms=None,
        shelves={"function": ShelfContents(records, rows)},
    )  # fmt: skip
    publish(place, lambda _: contents)


def in_turns(ours: Callable[[int], object], plain: Callable[[int], object], rounds: int) -> tuple[float, float]:
    """The median seconds of each of two ways, measured in turns."""
    spent: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds):
        for way, seconds in zip((ours, plain), spent, strict=True):
            start = perf_counter()
            way(turn)
            seconds.append(perf_counter() - start)
    return statistics.median(spent[0]), statistics.median(spent[1])


def search_ratio(memory: Memory, k: int) -> tuple[float, float]:
    """Seconds of one dense search as a task of the memory, and of a product and a top-1 partition of plain rows."""
    shelf = memory.shelves["function"]
    rows = np.array(shelf.rows)
    questions = [f"question {number}" for number in range(100)]
    asked = memory.embedder.embed(questions)
    viewer: Viewer = self_excluded(Task("bench", "task_7", "family_7", "task 7"))

    def ours(turn: int) -> object:
        return shelf.search(Query(questions[turn % 100], k), viewer=viewer, floored=k == 1)

    def plain(turn: int) -> object:
        scores = rows @ asked[turn % 100]
        best = np.argpartition(scores, -1)[-1]
        return best, scores[best]

    rounds = 40_000_000 // (len(shelf) * 40) if len(shelf) > 10_000 else 2_000
    in_turns(ours, plain, 100)
    return in_turns(ours, plain, max(rounds, 100))


def open_ratio(place: Path) -> tuple[float, float]:
    """Seconds to open with all checks, and to read the same bytes with orjson and numpy."""
    folder = place / "generations/000001/function"

    def ours(_: int) -> object:
        return open_memory(place, embedder=Drawn())

    def plain(_: int) -> object:
        return orjson.loads((folder / "records.json").read_bytes()), np.load(folder / "keys.npy")

    return in_turns(ours, plain, 5)


def resident(place: Path) -> tuple[int, int]:
    """By how many bytes a process grows that opens a memory and asks it, and the bytes of its files."""
    files = sum(path.stat().st_size for path in (place / "generations").rglob("*.*"))
    command = [sys.executable, __file__, "--resident", str(place)]
    grown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(grown), files


def print_growth(place: Path) -> None:
    """Print by how many bytes this process grows; the child's side of :func:`resident`."""
    embedder = Drawn()
    before = _resident_bytes()
    memory = open_memory(place, embedder=embedder)
    viewer = self_excluded(Task("bench", "task_7", "family_7", "task 7"))
    for number in range(20):
        memory.shelves["function"].search(Query(f"question {number}"), viewer=viewer)
    print(_resident_bytes() - before)


def _resident_bytes() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) * 1024 for line in status.split("\n") if line.startswith("VmRSS:"))


@contextmanager
def memories() -> Iterator[dict[int, Path]]:
    """Memories of all sizes, in a folder that goes away."""
    with tempfile.TemporaryDirectory() as folder:
        places = {size: Path(folder) / str(size) for size in SIZES}
        for size, place in places.items():
            made(place, size)
        yield places


def measure() -> list[dict[str, object]]:
    """All figures: what, ours, plain, ratio, limit."""
    rows: list[dict[str, object]] = []

    def add(what: str, limit: str, ours: float, plain: float, unit: str) -> None:
        ratio = round(ours / plain, 3)
        limits = LIMITS.get(limit)
        rows.append({"what": what, "ours": ours, "plain": plain, "unit": unit, "ratio": ratio, "limit": limits})

    with memories() as places:
        for size, place in places.items():
            with open_memory(place, embedder=Drawn()) as memory:
                add(f"search, {size:,} x {WIDTH}", "search", *search_ratio(memory, 1), "s")
                # Reported only: decoding 50 records has no counterpart on the plain side.
                add(f"search k={NEIGHBOURS}, {size:,}", "", *search_ratio(memory, NEIGHBOURS), "s")
        largest = places[SIZES[-1]]
        add(f"open, {SIZES[-1]:,} records", "open", *open_ratio(largest), "s")
        if Path("/proc/self/status").exists():
            add(f"resident, {SIZES[-1]:,} records", "resident", *resident(largest), "bytes")
    return rows


def main() -> int:
    """Measure and print; 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--resident", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.resident:
        print_growth(options.resident)
        return 0
    rows = measure()
    if options.json:
        print(json.dumps({"store": rows}))
    else:
        for row in rows:
            print(
                "{what:<28} {ours:>14.6g} {plain:>14.6g} {unit:<6} ratio {ratio:<6} limit {limit}".format(
                    **{**row, "limit": row["limit"] or "-"}
                )
            )
    return int(any(row["limit"] is not None and row["ratio"] > row["limit"] for row in rows))  # type: ignore[operator]


if __name__ == "__main__":
    raise SystemExit(main())
