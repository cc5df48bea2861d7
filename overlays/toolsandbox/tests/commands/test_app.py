"""``python -m amd_toolsandbox``: the help of its commands, their usage errors, and how they end."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest
from garden import BASES, row, summary

from amd.arms import RUN_SETTINGS, replace_text

COMMANDS = ("run", "report", "rescore", "play", "families")
MODELS = ("--agent-model", "m", "--agent-base-url", "http://127.0.0.1:9/v1", "--user-model", "u")
without_harness = pytest.mark.skipif(find_spec("tool_sandbox") is not None, reason="the harness is installed here")


@pytest.fixture
def refused(told):
    """Runs a command that must be refused: one line on standard error, nothing on standard output."""

    def call(code, *arguments):
        found, out, err = told(*arguments)
        assert (found, out) == (code, "")
        assert err.count("\n") == 1
        assert err.startswith("amd_toolsandbox: ")
        return err

    return call


def test_the_help_lists_every_command(told):
    """On standard output, with exit code 0; called with nothing it is the same, where that typer has it."""
    code, out, err = told("--help")
    assert (code, err) == (0, "")
    assert all(f"\n  {name} " in out for name in COMMANDS)
    code, out, err = told()
    assert (code, out) == (2, "") or (code, err) == (0, "")
    assert all(f"\n  {name} " in out + err for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_has_an_example(told, monkeypatch, command):
    """One line to copy, however narrow the terminal, and a word on each option."""
    monkeypatch.setenv("COLUMNS", "60")
    code, out, err = told(command, "--help")
    assert (code, err) == (0, "")
    examples = [line.strip() for line in out.split("\n") if line.strip().startswith("Example: ")]
    assert examples
    assert all(example.startswith(f"Example: python -m amd_toolsandbox {command}") for example in examples)
    options = out.partition("Options:")[2].strip("\n").split("\n")
    undescribed = [
        (line, after)
        for line, after in zip(options, [*options[1:], ""], strict=True)
        if line.startswith("  -") and len(line.split("  ")) < 3 and not after.startswith("      ")
    ]
    assert undescribed == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no-such-command",), "no-such-command"),
        (("run", *MODELS), "--out"),
        (("run", "--out", "x"), "--agent-model"),
        (("run", "--out", "x", *MODELS, "--processes", "0"), "processes"),
        (("run", "--out", "x", *MODELS, "--limit", "0"), "limit"),
        (("run", "--out", "x", *MODELS, "--timeout", "soon"), "timeout"),
        (("run", "--out", "x", *MODELS, "--no-such-option"), "--no-such-option"),
        (("run", "--out", "x", *MODELS, "elsewhere"), "elsewhere"),
        (("report",), "RUN"),
        (("report", "x", "--success-score", "1.1"), "success-score"),
        (("rescore",), "RUN"),
        (("play", "--port", "65536"), "port"),
        (("play", "elsewhere"), "elsewhere"),
    ],
)
def test_a_usage_error_is_one_line(refused, arguments, words):
    """Exit code 2, with the word that is wrong, or missing."""
    assert words in refused(2, *arguments)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--memory"),
        (("--method", "magic"), "magic"),
        (("--method", "none", "--mode", "sometimes"), "mode"),
        (("--method", "none", "--layout", "columns"), "layout"),
        (("--method", "none", "--protocol", "cross-split"), "--split"),
        (("--method", "none", "--split", "no-such.json"), "no-such.json"),
    ],
)
def test_a_wish_that_cannot_be_is_one_line(refused, tmp_path, options, words):
    """Before anything is written, asked or loaded: no directory is made."""
    assert words in refused(2, "run", "--out", tmp_path / "run", *MODELS, *options)
    assert not (tmp_path / "run").exists()


def test_a_memory_that_is_none_is_one_line(refused, tmp_path):
    """Exit code 1, as for every command that opens a memory."""
    line = refused(1, "run", "--out", tmp_path / "run", *MODELS, "--memory", tmp_path / "nowhere")
    assert str(tmp_path / "nowhere") in line


def test_a_split_of_another_benchmark_is_one_line(refused, tmp_path):
    """It would hold out nothing."""
    split = {"format": "amd-split/1", "benchmark": "toolsandbox", "train": ["multi_turn_0"], "test": ["wifi_off"]}
    (tmp_path / "split.json").write_text(json.dumps(split))
    options = ("--method", "none", "--split", tmp_path / "split.json")
    assert "'multi_turn_0'" in refused(2, "run", "--out", tmp_path / "run", *MODELS, *options)


@without_harness
def test_without_the_harness_one_line_says_what_to_run(refused, tmp_path):
    """Exit code 2; no directory is made."""
    line = refused(2, "run", "--out", tmp_path / "run", *MODELS, "--method", "none", "-s", "wifi_off")
    assert "'tool_sandbox'" in line
    assert "scripts/setup_toolsandbox.sh PATH_TO_CLONE" in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["report", "rescore"])
@pytest.mark.parametrize("there", [False, True])
def test_a_directory_that_is_no_run_is_one_line(refused, tmp_path, command, there):
    """Exit code 2; a missing directory is not made."""
    path = tmp_path / "run"
    if there:
        path.mkdir()
    assert f"{path} is no run" in refused(2, command, path)
    assert path.exists() == there
    assert not there or list(path.iterdir()) == []


@pytest.mark.parametrize("command", ["report", "rescore"])
def test_a_run_whose_settings_are_torn_is_one_line(refused, run_settings, tmp_path, command):
    """Exit code 2, and the file."""
    replace_text(tmp_path / RUN_SETTINGS, run_settings().model_dump_json()[:-9])
    assert str(tmp_path / RUN_SETTINGS) in refused(2, command, tmp_path)


def test_a_report_takes_another_least_similarity(told, made):
    """For people and for machines."""
    run = made(rows=[row(BASES[0], 0.7)])
    assert "success (similarity 0.7 or more)" in told("report", run.path, "--success-score", "0.7")[1]
    for least, successes in (("0.7", 1), ("0.71", 0)):
        out = told("report", run.path, "--json", "--success-score", least)[1]
        assert json.loads(out)["runs"][0]["success"] == successes


def test_a_run_of_which_everything_is_scored_has_nothing_to_rescore(told, made):
    """No harness is needed to say so."""
    run = made()
    assert told("rescore", run.path) == (0, f"0 scenarios scored again in {run.path}\n", "")
    assert json.loads(told("rescore", run.path, "--json")[1]) == {"run": str(run.path), "rescored": 0}


def test_a_folder_in_which_nothing_ended_is_scored_as_empty(told, made):
    """Its scenarios were begun, and are left."""
    run = made()
    summary(run, hour=9)
    assert told("rescore", run.path)[0] == 0
    assert told("report", run.path)[0] == 0


def test_the_real_process_ends_with_the_code_of_its_error(tmp_path):
    """What ``main`` returns is what a shell sees, without a traceback."""
    for arguments, code in ((["--help"], 0), (["report", str(tmp_path / "nowhere")], 2)):
        done = subprocess.run(
            [sys.executable, "-m", "amd_toolsandbox", *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == code
        assert "Traceback" not in done.stderr
        assert bool(done.stdout) == (code == 0)
