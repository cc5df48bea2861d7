"""The whole measurement against a student that keeps to rules: figures that are known, kills, refusals."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import bench_student
from amd.arms.run_directory import RunDirectory, RunSettings
from amd.cli.exits import run_app
from amd.errors import ConfigError
from amd.testing import Fault, LoopbackServer
from amd.traces import write
from next_call.items import draw

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
ARMS = ("none", "random", "block", "turns", "in-sample", "no-model")
CALL = re.compile(r'^\{"name": ".*\}$', re.MULTILINE)


def student(body: Mapping[str, Any]) -> str | dict[str, Any]:
    """Repeats the first call that stands in its prompt. Without one it waits; asked to lend, it never ends."""
    text = "\n".join(message["content"] for message in body["messages"])
    if found := CALL.search(text):
        return found[0]
    if "Lend" in body["messages"][-1]["content"]:
        return {"content": '{"name": "lend_book", "arguments": {"title": "aaaaaaaa', "finish_reason": "length"}
    return '{"name": "wait", "arguments": {}}'


@pytest.fixture(scope="session")
def runs(village, tmp_path_factory) -> Path:
    """The village as a file."""
    path = tmp_path_factory.mktemp("runs") / "village.jsonl"
    write(path, village)
    return path


def words_for(out: Path, runs: Path, url: str | None, *words: str) -> list[str]:
    """The options of a measurement of the whole village."""
    where = ["--base-url", url, "--model", "stub"] if url else []
    return ["--out", str(out), "--runs", str(runs), "--embedder", "hash", "--items", "12", *where, *words]


@pytest.fixture
def measure(capsys):
    """Measure in this process: exit code, output and errors."""

    def call(*arguments: Any) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run_app(bench_student.app, "bench_student.py", words_for(*arguments))
        return code, *capsys.readouterr()

    return call


def started(out: Path, runs: Path, url: str | None, *words: str, scripts: Path = SCRIPTS) -> subprocess.Popen[str]:
    """A measurement in a process of its own."""
    command = [sys.executable, str(scripts / "bench_student.py"), *words_for(out, runs, url, *words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def chats(server: LoopbackServer) -> list[Mapping[str, Any]]:
    """The requests that are about an item."""
    bodies = [request.body for request in server.requests if request.path.endswith("/chat/completions")]
    return [body for body in bodies if len(body["messages"]) > 1]


@pytest.fixture(scope="session")
def whole(runs, tmp_path_factory) -> tuple[Path, dict[str, Any], list[Mapping[str, Any]]]:
    """A measurement from end to end: its folder, its figures, its requests."""
    out = tmp_path_factory.mktemp("whole") / "bench"
    with LoopbackServer(chat=student) as server:
        printed, said = started(out, runs, server.url, "--json").communicate(timeout=60)
        assert said == ""
        return out, json.loads(printed), chats(server)


def test_the_figures_are_right(whole):
    """Twelve items, two of each kind of work; half of the calls have an argument, whose value is masked.

    Without memory the two that lend begin the right call and never end it; all others wait. The record of the other
    family is always found, so that its call is right in name and keys, and whole where it has no argument.
    """
    _, found, _ = whole
    assert {name: found[name] for name in ("model", "items", "families", "seed")} == {
        "model": "stub", "items": 12, "families": 6, "seed": 20,
    }  # fmt: skip
    none, random, *copies = (found["arms"][name] for name in ARMS)
    assert [round(none[name] * 12) for name in ("tool", "keys", "whole")] == [2, 0, 0]
    assert [none[name] for name in ("cut_off", "placeholders", "no_record", "differences")] == [2, 0, 12, None]
    for arm in copies:
        assert [arm[name] for name in ("tool", "keys", "whole")] == [1, 1, 0.5]
        assert [arm[name] for name in ("cut_off", "placeholders", "no_record", "helped", "harmed")] == [0, 6, 0, 10, 0]
        assert arm["differences"]["tool"]["mean"] == pytest.approx(10 / 12)
        # The two families of the library gain one half each, the other four gain one: no draw gains more than one.
        assert 0.5 <= arm["differences"]["tool"]["low"] < 10 / 12 < arm["differences"]["tool"]["high"] <= 1
        assert arm["differences"]["whole"]["mean"] == pytest.approx(0.5)
    assert random["no_record"] == 0
    assert random["tool"] < 0.5
    assert none["tokens"] < random["tokens"]
    assert copies[-1]["tokens"] == 0


def test_no_request_is_made_twice_and_all_arms_offer_the_same_tools(whole):
    """Five arms ask; the prompts of an item differ in the memory alone."""
    out, _, requests = whole
    lines = (out / "answers.jsonl").read_text(encoding="utf-8").split("\n")
    assert len(lines) == len(requests) + 1 == len({json.dumps(body) for body in requests}) + 1
    by_text: dict[str, set[str]] = {}
    for body in requests:
        text = body["messages"][-1]["content"].rpartition("</memory>\n\n")[2]
        by_text.setdefault(text, set()).add(json.dumps(body["response_format"]))
    assert len(by_text) == 9  # three kinds of work are said in the same words twice, and answered alike
    assert all(len(schemas) <= 2 for schemas in by_text.values())


def test_a_finished_measurement_asks_nothing_and_prints_a_table(whole, runs, measure):
    """The same figures from the answers alone; more arms ask for themselves only."""
    out, found, _ = whole
    with LoopbackServer(chat=student) as server:
        code, printed, said = measure(out, runs, server.url)
        assert (code, said, chats(server)) == (0, "", [])
        title, head, *lines = printed.rstrip("\n").split("\n")
        assert title == "stub, 12 items of 6 families, seed 20"
        assert head.split()[:4] == ["arm", "right", "tool", "key"]
        assert [line.split()[0] for line in lines[:6]] == list(ARMS)
        assert lines[2].split()[1:4] == ["1.000", "1.000", "0.500"]
        assert "IN-SAMPLE" in lines[-2]
        # No word of a run is printed: what is measured may be under a benchmark's terms.
        assert "Lend" not in printed
        code, printed, _ = measure(out, runs, server.url, "--json", "--over", "no-model")
        arms = json.loads(printed)["arms"]
        assert (arms["none"]["helped"], arms["none"]["harmed"], arms["no-model"]["differences"]) == (0, 10, None)
        assert arms["none"]["differences"]["tool"]["mean"] == pytest.approx(-10 / 12)
        assert chats(server) == []
        code, printed, _ = measure(out, runs, server.url, "--json", "--arms", "subtask,none")
        assert 0 < len(chats(server)) <= 12
        arms = json.loads(printed)["arms"]
        assert list(arms) == ["subtask", "none"]
        assert arms["none"] == found["arms"]["none"]


def test_fewer_items_are_the_first_ones(whole, runs, measure):
    """So that a measurement that is not finished can be looked at."""
    out, _, _ = whole
    with LoopbackServer(chat=student) as server:
        code, printed, _ = measure(out, runs, server.url, "--json", "--items", "6")
        assert (code, chats(server)) == (0, [])
    assert [json.loads(printed)[name] for name in ("items", "families")] == [6, 6]


def test_a_killed_measurement_goes_on(whole, runs, tmp_path, measure):
    """Killed twice: no finished answer is asked for again, and the figures are those of the whole one."""
    _, found, requests = whole
    out = tmp_path / "bench"
    with LoopbackServer(chat=student, latency=0.03) as server:
        for _ in range(2):
            before = len(chats(server))
            process = started(out, runs, server.url)
            while len(chats(server)) < before + 8 and process.poll() is None:
                time.sleep(0.01)
            process.kill()
            process.communicate(timeout=30)
            assert process.returncode == -signal.SIGKILL
        assert 0 < len((out / "answers.jsonl").read_bytes().split(b"\n")) < len(requests)
        code, printed, said = measure(out, runs, server.url, "--json")
        asked = [json.dumps(body) for body in chats(server)]
    assert (code, said) == (0, "")
    assert json.loads(printed) == found
    assert set(asked) == {json.dumps(body) for body in requests}
    assert len(asked) <= len(requests) + 2


def test_a_service_that_fails_keeps_what_was_answered(whole, runs, tmp_path, measure):
    """One line and exit 3; the next run asks for the rest alone."""
    _, found, requests = whole
    out = tmp_path / "bench"
    with LoopbackServer(
        chat=student, faults=lambda _: Fault(401, "no credit is left") if len(chats(server)) > 10 else None
    ) as server:
        code, printed, said = measure(out, runs, server.url)
    assert (code, printed, said.count("\n")) == (3, "", 1)
    assert "no credit is left" in said
    with LoopbackServer(chat=student) as server:
        assert json.loads(measure(out, runs, server.url, "--json")[1]) == found
        assert len(chats(server)) == len(requests) - 10


def test_two_measurements_do_not_share_a_folder(runs, tmp_path, measure):
    """The second one is told so at once."""
    directory = RunDirectory(tmp_path / "bench", RunSettings, "bench_student")
    with directory.locked(), LoopbackServer(chat=student) as server:
        code, _, said = measure(directory.path, runs, server.url)
    assert (code, said.count("\n")) == (2, 1)
    assert "another command is at work" in said


def test_without_a_file_the_benchmark_s_answer_key_is_replayed():
    """Its turns make items of sixty families; the tools of each are known."""
    try:
        runs = bench_student.read_runs(None)
    except ConfigError as error:
        pytest.skip(str(error))
    items = draw(runs, 60, 20)
    assert {run.source.kind for run in runs} == {"oracle"}
    assert len({item.task.family for item in items}) == 60
    assert all(item.right.name in {tool.name for tool in item.tools} for item in items)


def local(tmp_path: Path, program: str | None) -> Path:
    """A checkout's scripts, with this program as what serves the local model, if any."""
    scripts = shutil.copytree(SCRIPTS, tmp_path / "checkout" / "scripts")
    if program:
        python = tmp_path / "checkout" / ".venvs" / "local-llm" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\n{program}\n")
        python.chmod(stat.S_IRWXU)
    return scripts


def test_the_local_model_is_served_as_long_as_it_is_needed(runs, tmp_path):
    """Without an endpoint; it is stopped at the end."""
    with LoopbackServer(chat=student, models=["SmolLM2-135M"]) as server:
        program = f'echo $$ > "{tmp_path}/pid"\necho "SmolLM2-135M at {server.url}"\ncat'
        process = started(tmp_path / "bench", runs, None, "--items", "1", scripts=local(tmp_path, program))
        printed, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, "")
    assert printed.startswith("SmolLM2-135M, 1 items of 1 families")
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_local_model_that_cannot_be_served_is_an_error(runs, tmp_path):
    """Its own words, then ours; nothing else is asked in its place, whatever the environment names."""
    process = started(tmp_path / "bench", runs, None, scripts=local(tmp_path, "echo no room >&2\nexit 1"))
    printed, said = process.communicate(timeout=60)
    assert (process.returncode, printed) == (3, "")
    first, second = said.rstrip("\n").split("\n")
    assert first == "no room"
    assert second.startswith("scripts/bench_student.py: SmolLM2-135M could not be served; see what ")


def test_runs_that_cannot_be_read_are_told(runs, tmp_path, measure, whole):
    """The others are measured."""
    path = tmp_path / "runs.jsonl"
    path.write_bytes(runs.read_bytes() + b"no run\n")
    with LoopbackServer(chat=student) as server:
        code, printed, said = measure(tmp_path / "bench", path, server.url, "--json", "--arms", "none,no-model")
    assert (code, said.count("\n")) == (0, 1)
    assert "runs.jsonl:7: unreadable" in said
    assert json.loads(printed)["arms"]["none"] == whole[1]["arms"]["none"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--arms", "none,blocks"), "'blocks' is no arm; give some of: none, random, block, turns, "),
        (("--arms", "none,,block"), "'' is no arm"),
        (("--over", "none,block"), "'none,block' is no arm"),
        (("--model", "other"), "the model 'other' has no endpoint; give --base-url"),
        ((), "SmolLM2-135M is not installed here; run scripts/setup_local_llm.sh, or give --base-url"),
        (("--items", "0"), "--items"),
    ],
)
def test_what_cannot_be_measured_is_one_line(runs, tmp_path, words, message):
    """A usage error that says what to do."""
    process = started(tmp_path / "bench", runs, None, *words, scripts=local(tmp_path, None))
    printed, said = process.communicate(timeout=60)
    assert (process.returncode, printed, said.count("\n")) == (2, "", 1)
    assert message in said
