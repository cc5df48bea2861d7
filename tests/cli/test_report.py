"""``amd report``."""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import replace

import pytest

from amd.arms import Arm, RunLog, RunResults, TaskResult, write_results
from amd.cli import reporting as command
from amd.records import Exposure

FILES = {"report.html", "report.md", "report.json", "success.png", "differences.png", "exposures.png", "tokens.png"}


def task(arm, number, family, *, success):
    """A task that was shown one record of a family."""
    log = RunLog(
        method=arm.method,
        protocol=arm.protocol,
        mode=arm.mode,
        layout=arm.layout,
        memory=None if arm.method == "none" else "c" * 64,
        task_id=f"t{number}",
        family=f"f{number}",
        exposures=()
        if arm.method == "none"
        else (
            Exposure(
                *("workflow", "task", arm.protocol, f"t{number}", "0" * 64),
                record_ids=("r",),
                families=(family,),
                scores=(0.5,),
                supports=(1,),
                tokens=9,
            ),
        ),
        calls=1,
        failed_calls=0,
        hints=0,
        placeholders=0,
        system_changes=0,
    )
    return TaskResult(f"t{number}", f"f{number}", success, prompt_tokens=100, completion_tokens=10, log=log)


@pytest.fixture
def kept(tmp_path):
    """Writes a run of six tasks, each shown a record of a family, and gives its directory."""

    def keep(name, *, family="far", right=3, **values):
        arm = Arm.of({"memory": "memory", **values})
        results = RunResults(
            path=tmp_path / name,
            benchmark="garden",
            student="s",
            arm=arm,
            tasks=tuple(task(arm, number, family, success=number < right) for number in range(6)),
            memory_content=None if arm.method == "none" else "c" * 64,
            memory_from=() if arm.method == "none" else ("gpt (teacher)",),
        )
        write_results(results)
        return results

    return keep


def test_a_report_is_printed_and_written(amd, kept, tmp_path, monkeypatch):
    """One row an arm in the terminal, the files below --out; as wide as it needs to be where nobody watches."""
    monkeypatch.setenv("COLUMNS", "20")
    none, arm = kept("none", method="none", right=1), kept("arm", right=5)
    found = amd("report", none.path, arm.path, "--out", tmp_path / "out")
    assert (found.code, found.err) == (0, "")
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    rows = [line.split() for line in found.out.split("\n")[3:5]]
    assert found.out.startswith(
        "Benchmark garden, 6 tasks, 2 arms, 2 runs. Student: s. When the runs began is not known."
    )
    assert rows[0] == ["none", *["16.7", "%", "(3.0", "to", "56.4)", "baseline", "0"]]
    assert rows[1] == ["arm", *["83.3", "%", "(43.6", "to", "97.0)", "+66.7", "0.125", "may", "be", "chance", "9"]]
    assert "Differences from none in percentage points" in found.out
    assert (
        "believed alone: a difference may be chance unless its interval excludes 0 and p (Holm) is below 0.05"
        in found.out
    )
    assert f"written: {tmp_path / 'out' / 'report.html'}, " in found.out


@pytest.mark.parametrize(("columns", "own_line"), [(80, True), (110, False)])
def test_many_arms_fit_a_terminal(amd, kept, tmp_path, monkeypatch, columns, own_line):
    """No name is broken over lines and no row is wider; where both do not fit, the name has a line of its own."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")
    methods = ("none", "workflow", "subtask", "function", "amd")
    runs = [kept(f"qwen-small-{method}", method=method) for method in methods]
    runs.append(kept("qwen-small-amd-open", method="amd", protocol="in-sample"))
    found = amd("report", *(run.path for run in runs), "--out", tmp_path / "out")
    lines = re.sub("\x1b\\[[0-9;]*m", "", found.out).split("\n")
    table = lines[lines.index(next(line for line in lines if "success" in line)) : -3]
    assert max(map(len, table)) <= columns
    assert len(table) == 2 + len(runs) * (2 if own_line else 1)
    for arm in found_titles(tmp_path):
        assert (arm in table) is own_line
        assert sum(f"{arm} " in f"{line} " for line in table) == 1


def test_the_terminal_judges_as_the_page_does(amd, kept, tmp_path):
    """A large difference of few families is chance in both, no difference is nothing, a leak is not to be used."""
    runs = [kept("none", method="none", right=0), kept("arm", right=6), kept("same", method="workflow", right=0)]
    runs.append(kept("leaky", method="subtask", family="f2", right=6))
    found = amd("report", *(run.path for run in runs), "--out", tmp_path / "out")
    shown = {
        line.split()[0]: re.search(r"(?:\d\.\d{3})  +(.*?)  +\d+$", line) for line in found.out.split("\n") if line
    }
    assert {name: shown[name][1] for name in ("arm", "same")} == {"arm": "may be chance", "same": "nothing"}
    assert re.search(r"leaky \[LEAKED\].*not to be used", found.out)
    page = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert (
        "arm solved 100.0 %: +100.0 points on the same tasks, without an interval (too few families), which may be"
        in page
    )


def test_an_oracles_memory_is_told_in_the_terminal(amd, kept, tmp_path):
    """In one line, before the figures; of a teacher's nothing is said (the control)."""
    results = kept("arm")
    assert "ORACLE" not in amd("report", results.path, "--out", tmp_path / "out").out
    write_results(replace(results, memory_from=("key (oracle)",)))
    found = amd("report", results.path, "--out", tmp_path / "out")
    assert found.out.startswith("ORACLE: the memory of arm is made of the benchmark's own answer key")


def found_titles(folder):
    """What the arms of a written report are called."""
    return [arm["title"] for arm in json.loads((folder / "out" / "report.json").read_text(encoding="utf-8"))["arms"]]


def test_json_is_the_file(amd, kept, tmp_path):
    """One object, the one in report.json."""
    paths = kept("none", method="none").path, kept("arm").path
    found = amd("report", *paths, "--out", tmp_path / "out", "--json", "--seed", 3, "--resamples", 200)
    assert found.code == 0
    assert found.json == json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert (found.json["seed"], found.json["resamples"], found.json["baseline"]) == (3, 200, "none")


def test_a_planted_leak_ends_with_4(amd, kept, tmp_path):
    """The report is written with its alarm first; the same in an in-sample arm is none (the control)."""
    none = kept("none", method="none").path
    leaky = kept("leaky", family="f2").path
    found = amd("report", none, leaky, "--out", tmp_path / "out")
    assert found.code == 4
    assert found.out.startswith("LEAK: leaky")
    assert found.err.count("\n") == 1
    assert "do not use these scores" in found.err
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert "LEAK: leaky" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    open_arm = kept("open", family="f2", protocol="in-sample").path
    found = amd("report", none, open_arm, "--out", tmp_path / "out")
    assert (found.code, "IN-SAMPLE: open" in found.out, "LEAK" in found.out) == (0, True, False)


def test_missing_results_are_told(amd, kept, tmp_path):
    """As failures, or dropped if that is declared."""
    results = kept("none", method="none", right=6)
    gone = TaskResult("t0", "f0", success=None, fault="missing")
    write_results(replace(results, tasks=(gone, *results.tasks[1:])))
    found = amd("report", results.path, "--out", tmp_path / "out")
    assert "missing 1; counted as failed" in found.out
    found = amd("report", results.path, "--out", tmp_path / "out", "--missing", "drop", "--json")
    assert (found.json["arms"][0]["tasks"], found.json["arms"][0]["success"]["value"]) == (5, 1.0)


def test_prices_tell_when_a_memory_is_repaid(amd, kept, tmp_path):
    """Both options or none; what cannot be told is left out with its reason."""
    prices = tmp_path / "prices.toml"
    prices.write_text("[prices.gpt]\nprompt = 2\ncompletion = 8\n[prices.s]\nprompt = 0.1\ncompletion = 0.1\n")
    arguments = ("report", kept("arm").path, "--out", tmp_path / "out")
    found = amd(*arguments, "--prices", prices, "--teacher-tokens", 1000, 100, "--json")
    assert "not there any more" in found.json["arms"][0]["repayment"]["unknown"]
    assert amd(*arguments, "--json").json["arms"][0]["repayment"] is None
    for lacking, given in (("--teacher-tokens", ("--prices", prices)), ("--prices", ("--teacher-tokens", 1, 1))):
        found = amd(*arguments, *given)
        assert (found.code, f"{lacking} is not" in found.err) == (2, True)
    for wrong in (-1, "nan", "inf", 1e300):
        found = amd(*arguments, "--prices", prices, "--teacher-tokens", wrong, 1)
        assert (found.code, found.err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--baseline", "nobody"), "no arm is called 'nobody'"),
        (("--missing", "maybe"), "maybe"),
        (("--resamples", "1"), "--resamples"),
    ],
)
def test_a_wrong_option_is_a_usage_error(amd, kept, tmp_path, arguments, says):
    """One line, exit code 2."""
    found = amd("report", kept("none", method="none").path, "--out", tmp_path / "out", *arguments)
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert says in found.err


def test_a_report_never_goes_into_a_run(amd, kept, tmp_path, monkeypatch):
    """However its directory is written, and nothing is written; beside the run it may lie (the control)."""
    none, arm = kept("none", method="none").path, kept("arm").path
    before = sorted(path.name for path in arm.iterdir())
    monkeypatch.chdir(tmp_path)
    for out in (arm, "arm", "none/../arm/"):
        found = amd("report", none, arm, "--out", out)
        assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
        assert "name a directory of its own" in found.err
    assert sorted(path.name for path in arm.iterdir()) == before
    assert amd("report", none, arm, "--out", tmp_path).code == 0


def test_no_run_is_a_usage_error(amd, tmp_path):
    """It says who could have written one."""
    found = amd("report", tmp_path, "--out", tmp_path / "out")
    assert (found.code, "is no run that is known" in found.err) == (2, True)


def test_without_the_extra_it_names_it(amd, kept, tmp_path, monkeypatch):
    """An error, not half a report."""
    real = importlib.util.find_spec
    monkeypatch.setattr(command, "find_spec", lambda name: None if name == "matplotlib" else real(name))
    found = amd("report", kept("none", method="none").path, "--out", tmp_path / "out")
    assert (found.code, found.out) == (2, "")
    assert "needs matplotlib, and it is not installed; pip install 'agent-memory-distillation[eval]'" in found.err
