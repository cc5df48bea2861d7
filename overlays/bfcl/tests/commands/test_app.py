"""``python -m amd_bfcl``: the help of its commands, their usage errors, and how they end."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from amd.arms import RUN_SETTINGS, replace_text
from amd_bfcl.commands.app import main
from amd_bfcl.lines import replace_lines
from amd_bfcl.run import Run

COMMANDS = ("generate", "evaluate", "report", "retry", "record", "play")
STUDENT = ("--model", "student", "--method", "none")


@pytest.fixture
def told(capsys, monkeypatch):
    """Runs a command in this process: exit code and output. No endpoint, no key."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def refused(told):
    """Runs a command that must be refused: one line on standard error, nothing on standard output."""

    def call(code, *arguments):
        found, out, err = told(*arguments)
        assert (found, out) == (code, "")
        assert err.count("\n") == 1
        assert err.startswith("amd_bfcl: ")
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
    assert all(example.startswith(f"Example: python -m amd_bfcl {command}") for example in examples)
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
        (("record", "--category", "multi_turn_composite"), "multi_turn_composite"),
        (("record", "--category", "multi_turn_base,multi_turn_composite"), "multi_turn_composite"),
        (("record", "--category", ","), "multi_turn_base"),
        (("play", "--category", "multi_turn_base,multi_turn_miss_func"), "multi_turn_base,multi_turn_miss_func"),
        (("record", "--limit", "0"), "limit"),
        (("record", "--no-such-option"), "--no-such-option"),
        (("evaluate",), "RUN"),
        (("evaluate", "x", "--no-such-option"), "--no-such-option"),
        (("report",), "RUN"),
        (("report", "x", "--partial"), "--partial"),
        (("retry",), "RUN"),
        (("retry", "x", "--threads", "none"), "--threads"),
        (("play", "--port", "70000"), "--port"),
        (("generate", *STUDENT), "--out"),
        (("generate", "--out", "x", "--threads", "0"), "--threads"),
        (("generate", "--out", "x", "--timeout", "soon"), "--timeout"),
        (("generate", "--out", "x", "--limit"), "--limit"),
    ],
)
def test_a_usage_error_is_one_line(refused, arguments, words):
    """Exit code 2, with the word that is wrong, or missing."""
    assert words in refused(2, *arguments)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--method", "none"), "no model is named"),
        (("--model", "m"), "--memory"),
        (("--model", "m", "--method", "magic"), "magic"),
        ((*STUDENT, "--calling", "chat"), "calling"),
        ((*STUDENT, "--mode", "sometimes"), "mode"),
        ((*STUDENT, "--layout", "columns"), "layout"),
        ((*STUDENT, "--mode", "replace", "--layout", "turns"), "turns"),
        ((*STUDENT, "--protocol", "cross-split"), "--split"),
        ((*STUDENT, "--category", "multi_turn_base,multi_turn_composite"), "multi_turn_composite"),
        ((*STUDENT, "--category", ""), "multi_turn_long_context"),
        ((*STUDENT, "--ids", ","), "ids"),
        ((*STUDENT, "--limit", "0"), "limit"),
        ((*STUDENT, "--config", "no-such.toml"), "no-such.toml"),
        ((*STUDENT, "--run-ids"), "--run-ids"),
        ((*STUDENT, "-o"), "-o"),
        ((*STUDENT, "--result-dir=elsewhere"), "--result-dir=elsewhere"),
        ((*STUDENT, "--temperatur", "0.5"), "--temperatur"),
        ((*STUDENT, "--temperature", "warm"), "--temperature"),
        ((*STUDENT, "elsewhere"), "elsewhere"),
    ],
)
def test_a_wish_that_cannot_be_is_one_line(refused, tmp_path, options, words):
    """Before anything is written, asked or loaded: no directory is made."""
    assert words in refused(2, "generate", "--out", tmp_path / "run", *options)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--ids", "multi_turn_base_777"), "multi_turn_base_777"),
        (("--ids", "multi_turn_miss_func_7"), "multi_turn_miss_func_7"),
        (("--name", "my_run"), "my_run"),
        (("--name", "run", "--calling", "fc"), "FC"),
    ],
)
def test_a_wish_that_the_benchmark_cannot_grant_is_one_line(refused, package, tmp_path, options, words):
    """Ids that it has not, or not in these categories; names that it would read otherwise."""
    assert words in refused(2, "generate", "--out", tmp_path / "run", *STUDENT, *options)
    assert not (tmp_path / "run").exists()


def test_a_memory_that_is_none_is_one_line(refused, package, tmp_path):
    """Exit code 1, as for every command that opens a memory."""
    arguments = ("--model", "m", "--memory", tmp_path / "nowhere")
    assert str(tmp_path / "nowhere") in refused(1, "generate", "--out", tmp_path / "run", *arguments)


@pytest.mark.parametrize("command", ["evaluate", "report", "retry"])
@pytest.mark.parametrize("there", [False, True])
def test_a_directory_that_is_no_run_is_one_line(refused, package, tmp_path, command, there):
    """Exit code 2; a missing directory is not made."""
    path = tmp_path / "run"
    if there:
        path.mkdir()
    line = refused(2, command, path)
    assert f"{path} is no run" in line
    assert path.exists() == there
    assert not there or list(path.iterdir()) == []


@pytest.mark.parametrize("command", ["evaluate", "report", "retry"])
def test_a_run_whose_settings_are_torn_is_one_line(refused, package, run_settings, tmp_path, command):
    """Exit code 2, and the file."""
    replace_text(tmp_path / RUN_SETTINGS, run_settings().model_dump_json()[:-9])
    assert str(tmp_path / RUN_SETTINGS) in refused(2, command, tmp_path)


@pytest.fixture
def complete(package, run_settings, tmp_path):
    """Makes a run of two tasks that both have a line, and gives its directory."""

    def make(*results, calls=1):
        run, ids = Run(tmp_path / "run"), ("multi_turn_base_1", "multi_turn_base_2")
        run.begin(run_settings(ids=ids, tasks_sha256=package.sha256(["BFCL_v4_multi_turn_base.json"])))
        lines = zip(ids, results or ([["Done."]], [["Done."]]), strict=True)
        replace_lines(
            run.result_file("multi_turn_base"),
            [{"id": task_id, "result": result, "amd": {"calls": calls}} for task_id, result in lines],
        )
        return run.path

    return make


AGAIN = {
    "generate": lambda run: ("generate", "--out", run, *STUDENT, "--ids", "multi_turn_base_1,multi_turn_base_2"),
    "retry": lambda run: ("retry", run),
}


@pytest.mark.parametrize("command", AGAIN)
def test_a_run_with_nothing_left_to_do_says_so(told, complete, command):
    """In one line, with what comes next; without an endpoint, which nobody asks. For machines the object is as ever."""
    run = complete()
    assert told(*AGAIN[command](run)) == (
        0,
        f"nothing is left to run: all 2 tasks of {run} are answered\nnext: python -m amd_bfcl evaluate {run}\n",
        "",
    )
    code, out, err = told(*AGAIN[command](run), "--json")
    assert (code, err) == (0, "")
    said = json.loads(out)
    assert (said["run"], said["wanted"], said["missing"], said["inference_errors"]) == (str(run), 2, [], [])


def test_an_inference_error_is_told_again_by_the_same_command(told, complete):
    """The figures, and exit code 3 with what to do: it is nothing that generate redoes."""
    run = complete([["Done."]], "Error during inference: the context is too long")
    code, out, err = told(*AGAIN["generate"](run))
    assert (code, err.count("\n")) == (3, 1)
    rows = [[cell.strip() for cell in line.split("│")[1:3]] for line in out.split("\n") if "│" in line]
    assert rows[-3:] == [["answered", "1 of 2"], ["inference errors", "1"], ["missing", "0"]]
    assert "next:" not in out
    assert "1 of 2 tasks ended in an inference error, the first is multi_turn_base_2: the context is too long" in err
    assert f"python -m amd_bfcl retry {run}" in err
    assert "--count-errors" in err


def test_a_student_that_never_calls_is_told(told, complete):
    """On standard error, beside the figures: its server may give it no tools. One call is enough (the control)."""
    code, _, err = told("retry", complete(calls=0))
    assert (code, err) == (0, "no task made a call: does the server give the tools to the model?\n")
    assert told("retry", complete(calls=1))[2] == ""


def test_categories_are_named_in_the_help(told, monkeypatch):
    """All four, of each command that takes some."""
    monkeypatch.setenv("COLUMNS", "200")
    for command in ("generate", "record", "play"):
        out = told(command, "--help")[1]
        assert all(name in out for name in ("_base", "_miss_func", "_miss_param", "_long_context"))
        assert ("several by commas" in out) == (command != "play")


def test_the_real_process_ends_with_the_code_of_its_error(tmp_path):
    """What ``main`` returns is what a shell sees, without a traceback."""
    for arguments, code in ((["--help"], 0), (["report", str(tmp_path / "nowhere")], 2)):
        done = subprocess.run(
            [sys.executable, "-m", "amd_bfcl", *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == code
        assert "Traceback" not in done.stderr
        assert bool(done.stdout) == (code == 0)
