"""``python -m amd_bfcl``: what it prints, where, and with which exit code."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from amd.traces import load_reader
from amd_bfcl import command
from amd_bfcl.command import ORACLE, main


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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["record", "--category", "multi_turn_composite"], "multi_turn_composite"),
        (["record", "--limit", "0"], "limit"),
        (["record", "--no-such-option"], "--no-such-option"),
        (["no-such-command"], "no-such-command"),
        ([], "Missing command"),
    ],
)
def test_a_usage_error_is_one_line(arguments, words, capsys):
    """Exit code 2, nothing on standard output."""
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_help_is_no_error(capsys):
    """The control of the above."""
    assert main(["record", "--help"]) == 0
    assert "Example:" in capsys.readouterr().out


def test_a_place_that_cannot_be_written_is_one_line(package, tmp_path):
    """Exit code 1 of the real process, the path in the message, no traceback."""
    out = tmp_path / "missing" / "x.jsonl"
    command_line = [sys.executable, "-m", "amd_bfcl", "record", "--limit", "1", "--out", str(out)]
    done = subprocess.run(command_line, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert str(out) in done.stderr


def test_an_interrupt_is_one_line_and_keeps_the_old_file(package, tmp_path, monkeypatch, capsys):
    """Ctrl-C in the middle: exit code 130, what stood there still stands, nothing lies beside it."""
    out = tmp_path / "base.jsonl"
    out.write_text("before", encoding="utf-8")
    recording = command.record_category

    def interrupted(*arguments, **options):
        yield next(recording(*arguments, **options))
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "record_category", interrupted)
    assert main(["record", "--out", str(out)]) == 130
    assert capsys.readouterr().err.strip().count("\n") == 0
    assert out.read_text(encoding="utf-8") == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["base.jsonl"]
