"""The real airline runs: their known figures, and none of their answer key. Skipped where they are not at hand."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from amd.build.gate import admit
from amd.traces import Trajectory, load_reader, reader_options, write

FILE = "gpt-4o-airline.dev.jsonl"


def _entries(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / FILE).read_text(encoding="utf-8").split("\n") if line]


def _runs(path: Path) -> list[Trajectory]:
    reader = load_reader("openai-chat")
    return [item for item in reader.read([path], reader_options(reader, {})) if isinstance(item, Trajectory)]


def test_figures(sample_runs: Path) -> None:
    """120 read: 18 admitted, 84 failed, 18 worse trials."""
    reader = load_reader("openai-chat")
    gate = admit(reader.read([sample_runs / FILE], reader_options(reader, {})))
    assert (gate.read, len(gate.admitted)) == (120, 18)
    assert gate.refused == {"failed": 84, "worse_trial": 18}


def test_calls_are_those_of_the_file(sample_runs: Path) -> None:
    """Every call that is no thought is kept with its own result, although 36 runs use a call id twice."""
    repeated = 0
    for entry, run in zip(_entries(sample_runs), _runs(sample_runs / FILE), strict=True):
        # In this file a call stands alone and its result follows at once.
        asked = [
            (message["tool_calls"][0], answer["content"])
            for message, answer in pairwise(entry["traj"])
            if message.get("tool_calls")
        ]
        assert [(call.name, call.call_id, call.observation) for call in run.calls] == [
            (call["function"]["name"], call["id"], observation)
            for call, observation in asked
            if call["function"]["name"] != "think"
        ]
        repeated += len({call["id"] for call, _ in asked}) < len(asked)
    assert repeated == 36


def test_nothing_of_the_answer_key(sample_runs: Path, tmp_path: Path) -> None:
    """No hidden instruction is in the written runs, and they come back as they were."""
    runs = _runs(sample_runs / FILE)
    write(tmp_path / "out.jsonl", runs)
    written = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    hidden = {entry["info"]["task"]["instruction"] for entry in _entries(sample_runs)}
    assert len(hidden) == 30
    assert not [text for text in hidden if text in written]
    reader = load_reader("amd")
    assert list(reader.read([tmp_path / "out.jsonl"], reader_options(reader, {}))) == runs
