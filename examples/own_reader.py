"""A reader for a log format of one's own, straight into a build.

    python examples/own_reader.py

An installed package offers its reader under the entry point group ``amd.traces``; then ``amd build FORMAT`` knows it.
Where ids tell which tasks share an answer, it offers that function too, under ``amd.families``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import Field

import amd
from amd.traces import (
    Item,
    Line,
    Outcome,
    ReaderOptions,
    Refusal,
    Source,
    Step,
    Task,
    ToolCall,
    Trajectory,
    Turn,
    is_error,
    read_jsonl,
)

LOG = [
    {"job": "bill-1", "ask": "Pay the water bill", "did": [["find_bill", {"kind": "water"}, "bill 7"]], "good": True},
    {"job": "bill-2", "ask": "Pay the power bill", "did": [["find_bill", {"kind": "power"}, "bill 9"]], "good": True},
    {"job": "bill-3", "ask": "Pay the gas bill", "did": [["find_bill", {"kind": "gas"}, "Error: none"]], "good": False},
    {"job": "bill-4", "ask": "Pay the phone bill"},
]


class LogOptions(ReaderOptions):
    """How the log is read."""

    teacher: str = Field(default="office-agent", description="who ran the jobs")


class LogReader:
    """Reads lines of ``{"job", "ask", "did": [[tool, arguments, answer], ...], "good"}``."""

    name = "office-log"
    benchmark = "office"
    options = LogOptions

    def read(self, paths: Sequence[Path], options: LogOptions) -> Iterator[Item]:
        """One trajectory or one refusal for each line."""
        for item in read_jsonl(paths):
            yield self._trajectory(item, options) if isinstance(item, Line) else item

    def _trajectory(self, line: Line, options: LogOptions) -> Trajectory | Refusal:
        entry = line.value
        if not isinstance(entry, dict) or not {"job", "ask", "did", "good"} <= set(entry):
            return Refusal("unreadable", line.where, "a line needs job, ask, did and good")
        calls = tuple(
            ToolCall(tool, arguments, answer, ok=not is_error(answer)) for tool, arguments, answer in entry["did"]
        )
        task_id = str(entry["job"])
        return Trajectory(
            # Every job is its own family: no two share an answer.
            task=Task(self.benchmark, task_id, task_id, str(entry["ask"])),
            turns=(Turn(str(entry["ask"]), tuple(Step(calls=(call,)) for call in calls)),),
            tools=None,
            outcome=Outcome(bool(entry["good"])),
            source=Source(options.teacher, task_id, line.where, line.sha256),
        )


def main() -> None:
    """Write a log, read it, and say what was admitted and what was refused, and why."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        log.write_text("".join(json.dumps(entry) + "\n" for entry in LOG), encoding="utf-8")
        reader = LogReader()
        runs = reader.read([log], reader.options())
        report = amd.build_memory(runs, Path(folder) / "memory", embedder=amd.load_embedder("hash"))
    print(f"read {report.read}, admitted {report.admitted}, refused {dict(report.refused)}")
    print(f"records: {dict(report.records)}")
    assert report.admitted + sum(report.refused.values()) == report.read


if __name__ == "__main__":
    main()
