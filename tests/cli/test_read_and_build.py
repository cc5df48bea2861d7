"""``amd read`` and ``amd build``: figures for machines, one line for each error."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from amd.testing import run
from amd.traces import write


def test_read_writes_every_run_and_tells_what_a_build_would_take(amd, runs, fields, tmp_path):
    """Admitted + refused = read; the canonical file builds the same memory as the source."""
    out = tmp_path / "trajectories.jsonl"
    read = amd("read", "openai-chat", runs, *fields, "--out", out, "--json")
    assert read.code == 0
    assert {key: read.json[key] for key in ("read", "admitted", "refused", "written")} == {
        "read": 5,
        "admitted": 3,
        "refused": {"failed": 1, "unscored": 1},
        "written": 5,
    }
    source = amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "a", "--json").json
    canonical = amd("build", "amd", out, "--out", tmp_path / "b", "--json").json
    assert canonical["digest"] == source["digest"]
    assert canonical["refused"] == source["refused"]


def test_build_reports_everything(amd, runs, fields, tmp_path):
    """The documented members are there, and nothing but one JSON object is on standard output."""
    built = amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "m", "--json")
    assert built.code == 0
    assert built.json["records"] == {"workflow": 3, "subtask": 9, "function": 27}
    assert built.json["refused"] == {"failed": 1, "unscored": 1}
    assert set(built.json) >= {
        "read", "admitted", "refused", "notes", "records", "embedded", "model_calls", "generation", "digest", "seal",
    }  # fmt: skip
    assert built.err == ""


def test_building_again_changes_nothing(amd, runs, fields, memory):
    """The same seal, no new row."""
    seal = amd("check", memory, "--json").json["seal"]
    again = amd("build", "openai-chat", runs, *fields, "--out", memory, "--json").json
    assert (again["seal"], again["embedded"], again["changed"]) == (seal, 0, False)


def test_a_person_gets_a_table(amd, runs, fields, tmp_path):
    """Figures by name, the seal whole, so that it can be pinned."""
    built = amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "m")
    seal = amd("check", tmp_path / "m", "--json").json["seal"]
    assert "failed 1, unscored 1" in built.out
    assert seal in built.out


def test_what_may_be_done_with_a_memory_is_told(amd, tmp_path):
    """In the table and in the JSON; runs without any say nothing."""
    bound, free = tmp_path / "bound.jsonl", tmp_path / "free.jsonl"
    write(bound, [replace(run(1), source=replace(run(1).source, terms="Do not publish."))])
    write(free, [run(2)])
    hashed = ("--embedder", "hash")
    table = amd("build", "amd", free, "--out", tmp_path / "m", *hashed)
    assert "terms" not in table.out
    assert amd("build", "amd", free, "--out", tmp_path / "m", *hashed, "--json").json["terms"] is None
    told = [
        line for line in amd("build", "amd", bound, "--out", tmp_path / "m", *hashed).out.split("\n") if "terms" in line
    ]
    assert ["Do not publish." in line for line in told] == [True]
    assert amd("build", "amd", free, "--out", tmp_path / "m", *hashed, "--json").json["terms"] == "Do not publish."


def test_an_invalid_line_is_counted_or_fails_strictly(amd, runs, fields, tmp_path):
    """D22c: a torn line costs that line, and its place is said; with --strict nothing is written."""
    with runs.open("a", encoding="utf-8") as file:
        file.write('{"task_id": "multi_tu')
    strict = amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "m", "--strict")
    assert (strict.code, strict.out, len(strict.err.strip().split("\n"))) == (1, "", 1)
    assert "runs.jsonl:6" in strict.err
    assert not (tmp_path / "m").exists()
    lenient = amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "m", "--json")
    assert (lenient.code, lenient.json["refused"]["unreadable"]) == (0, 1)


def test_nothing_admitted_is_exit_1(amd, runs, fields, tmp_path):
    """The figures are printed all the same, and nothing is published."""
    line = runs.read_text(encoding="utf-8").split("\n")[4]
    runs.write_text(line + "\n", encoding="utf-8")
    built = amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "m", "--json")
    assert (built.code, built.json["refused"], built.json["generation"]) == (1, {"failed": 1}, 0)
    assert not (tmp_path / "m").exists()


def test_where_nothing_was_admitted_each_reason_is_told(amd, runs, fields, tmp_path):
    """One line on standard error for each, with its first example; where something was admitted, none (control)."""
    assert amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "m").err == ""
    lines = runs.read_text(encoding="utf-8").split("\n")
    runs.write_text("\n".join([lines[4], lines[3], "{", lines[3], ""]), encoding="utf-8")
    built = amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "none")
    assert built.code == 1
    assert "nothing admitted" in built.out
    told = [line.split(": ", 2) for line in built.err.rstrip("\n").split("\n")]
    assert [(reason, where) for reason, where, _ in told] == [
        ("unreadable", f"{runs}:3"),
        ("failed", f"{runs} (runs:1)"),
        ("unscored", f"{runs} (runs:2)"),
    ]
    assert all(detail for _, _, detail in told)


def test_a_foreign_folder_is_left_alone(amd, runs, fields, tmp_path):
    """Exit 1, one line that names what is in the way."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "thesis.tex").write_text("mine", encoding="utf-8")
    built = amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "m")
    assert (built.code, built.out) == (1, "")
    assert "thesis.tex" in built.err
    assert [path.name for path in (tmp_path / "m").iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("build", "nonsense", "x", "--out", "m"), 2, "openai-chat"),
        (("build", "openai-chat", "x"), 2, "--out"),
        (("build", "openai-chat", "no-such-file", "--out", "m"), 1, "no-such-file"),
        (("build", "openai-chat", "RUNS", "--out", "m", "--method", "magic"), 2, "workflow"),
        (("build", "openai-chat", "RUNS", "--out", "m", "--distiller", "gpt"), 2, "--base-url"),
        (("build", "openai-chat", "RUNS", "--out", "m", "--embedder", "onnx:nowhere"), 2, "onnx:DIR"),
        (("build", "openai-chat", "RUNS", "--out", "m", "--embedder", "nonsense"), 2, "minilm, hash"),
        (("build", "openai-chat", "RUNS", "--out", "m", "--floor", "workflow"), 2, "TIER=X"),
        (("build", "openai-chat", "RUNS", "--out", "m", "--floor", "magic=0.1"), 2, "magic"),
        (("build", "openai-chat", "RUNS", "--out", "m", "--split", "none.json"), 2, "none.json"),
        (("nonsense",), 2, "nonsense"),
    ],
)
def test_bad_requests_are_one_line(amd, runs, tmp_path, monkeypatch, arguments, code, says):
    """The exit code of the documentation, and a line that says what to do."""
    monkeypatch.chdir(tmp_path)
    found = amd(*(runs if argument == "RUNS" else argument for argument in arguments))
    assert (found.code, found.out) == (code, "")
    assert says in found.err
    assert len(found.err.strip().split("\n")) == 1
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("build",),
        ("read",),
        ("build", "openai-chat"),
        ("read", "amd"),
        ("check",),
        ("reindex",),
        ("show",),
        ("ask",),
    ],
)
def test_help_has_an_example(amd, arguments):
    """Each command explains itself with something to type."""
    found = amd(*arguments, "--help")
    assert found.code == 0
    assert "Example: amd" in found.out or len(arguments) < 2


def test_a_formats_help_shows_its_options(amd):
    """What a reader can be told stands in the help of its format."""
    found = amd("build", "openai-chat", "--help").out
    assert "--success-score" in found
    assert "--map" in found
    assert "--map" not in amd("build", "amd", "--help").out


def test_surrogates_are_noted(amd, tmp_path, runs, fields):
    """A broken character is replaced and counted, not lost with its run."""
    text = runs.read_text(encoding="utf-8").replace("Done with turn 0.", "Done \\ud83d with turn 0.")
    assert json.loads(text.split("\n")[0])
    runs.write_text(text, encoding="utf-8")
    built = amd("build", "openai-chat", runs, *fields, "--out", tmp_path / "m", "--json").json
    assert built["admitted"] == 3
    assert sum(count for note, count in built["notes"].items() if "surrogate" in note) == 5
