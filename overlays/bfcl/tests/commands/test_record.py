"""``record``: what it prints and writes, and what an interrupt leaves."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

from amd.traces import load_reader
from amd_bfcl.commands.app import main
from amd_bfcl.commands.record import ORACLE


def test_the_recording_is_read_back_by_the_library(package, tmp_path, capsys):
    """The whole way: 200 base tasks, one JSON object on standard output, and the file as amd reads it."""
    out = tmp_path / "base.jsonl"
    assert main(["record", "--out", str(out), "--json"]) == 0
    printed = capsys.readouterr()
    said = json.loads(printed.out)
    counts = {"tasks": 200, "turns": 734, "calls": 1142, "errors": 0}
    assert {key: said[key] for key in counts} == counts
    assert said["categories"] == {"multi_turn_base": counts}
    assert said["kind"] == "oracle"
    assert printed.err == ""
    reader = load_reader("amd")
    runs = list(reader.read([out], reader.options()))
    assert [run.task.task_id for run in runs] == [f"multi_turn_base_{index}" for index in range(200)]
    assert {run.source.kind for run in runs} == {"oracle"}


def test_two_categories_and_a_limit_as_text(package, tmp_path, capsys):
    """A line for each category, the sum, and the words that this is the answer key."""
    out = tmp_path / "some.jsonl"
    options = ["-c", "multi_turn_base", "-c", "multi_turn_miss_func", "-c", "multi_turn_base", "--limit", "3"]
    assert main(["record", *options, "--out", str(out)]) == 0
    printed = capsys.readouterr()
    lines = printed.out.rstrip("\n").split("\n")
    assert [line.split(":")[0] for line in lines[:2]] == ["multi_turn_base", "multi_turn_miss_func"]
    assert lines[2].startswith(f"6 runs in {out}")
    assert lines[3] == ORACLE
    assert printed.err == ""


def test_categories_by_commas_are_those_given_one_by_one(package, tmp_path, capsys):
    """In the order given, each once."""
    said = {}
    for name, options in {
        "commas": ["--category", "multi_turn_miss_func, multi_turn_base,multi_turn_miss_func"],
        "single": ["-c", "multi_turn_miss_func", "-c", "multi_turn_base"],
    }.items():
        out = tmp_path / f"{name}.jsonl"
        assert main(["record", *options, "--limit", "2", "--out", str(out), "--json"]) == 0
        said[name] = json.loads(capsys.readouterr().out)["categories"]
    assert list(said["commas"]) == ["multi_turn_miss_func", "multi_turn_base"]
    assert said["commas"] == said["single"]
    assert (tmp_path / "commas.jsonl").read_bytes() == (tmp_path / "single.jsonl").read_bytes()


def test_a_place_that_cannot_be_written_is_one_line(package, tmp_path):
    """Exit code 1 of the real process, the path in the message, no traceback."""
    out = tmp_path / "missing" / "x.jsonl"
    command_line = [sys.executable, "-m", "amd_bfcl", "record", "--limit", "1", "--out", str(out)]
    done = subprocess.run(command_line, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert str(out) in done.stderr


# Presses Ctrl-C once the first runs are in the file that will take the old one's place. The clock is the process's own,
# so that a busy machine cannot let it come too late.
INTERRUPTED = """
import signal, sys
from pathlib import Path
from amd_bfcl.commands.app import main

folder = Path(sys.argv[1])

def press(*_):
    if any(path.stat().st_size for path in folder.glob(".base.jsonl.*")):
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGVTALRM, press)
signal.setitimer(signal.ITIMER_VIRTUAL, 0.01, 0.01)
sys.exit(main(["record", "--out", str(folder / "base.jsonl")]))
"""


def test_an_interrupt_is_one_line_and_keeps_the_old_file(package, tmp_path):
    """Ctrl-C in the middle: exit code 130, what stood there still stands, nothing lies beside it."""
    out = tmp_path / "base.jsonl"
    out.write_text("before", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)], capture_output=True, text=True, check=False
    )
    # Interrupted inside the harness's eval, Python ends by the signal itself: to a shell both are 130.
    assert done.returncode in (130, -signal.SIGINT)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "interrupted" in done.stderr
    assert out.read_text(encoding="utf-8") == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["base.jsonl"]
