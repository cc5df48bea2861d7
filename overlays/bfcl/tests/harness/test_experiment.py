"""A small experiment through the real harness: four arms, four tasks, two seeds, and what a report makes of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif("AMD_PYTHON" not in os.environ, reason="AMD_PYTHON names no Python with the extra eval")

TASKS = 4
CONFIG = """
benchmark = "bfcl"
python = "{python}"
out = "{out}"
seeds = 2
[tasks]
limit = 4
threads = 4
[student.scripted]
model = "student"
base_url = "{url}"
[memory.oracle]
path = "{memory}"
[arm.none]
method = "none"
[arm.random]
method = "random"
memory = "oracle"
[arm.amd]
memory = "oracle"
[arm.in-sample]
protocol = "in-sample"
memory = "oracle"
"""


@pytest.fixture
def experiment(tmp_path, memory):
    """Start ``amd experiment`` with a server's address; each call begins the same one."""

    def begin(url, *words):
        path = tmp_path / "small.toml"
        path.write_text(CONFIG.format(python=sys.executable, out=tmp_path / "out", url=url, memory=memory), "utf-8")
        return subprocess.Popen(
            [os.environ["AMD_PYTHON"], "-m", "amd", "experiment", str(path), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    return begin


def ended(process):
    """Exit code, output and errors."""
    out, err = process.communicate(timeout=170)
    return process.returncode, out, err


def timeless(report):
    """A report without what depends on how fast a machine is, and on where it stands."""
    if isinstance(report, dict):
        of_time = ("seconds", "created_at", "path", "runs")
        return {key: timeless(value) for key, value in report.items() if key not in of_time}
    return [timeless(each) for each in report] if isinstance(report, list) else report


def test_four_arms_twice_killed_in_the_middle(experiment, served, tmp_path):
    """What was finished is kept; the report is that of an experiment that nobody stopped; each arm has its place."""
    with served() as server:
        process = experiment(server.url)
        for line in process.stderr:
            if line.startswith("[3/8]"):
                break
        os.killpg(process.pid, signal.SIGKILL)  # with the run that it had begun
        process.wait()
        process.stderr.close()
        process.stdout.close()
        before = json.loads((tmp_path / "out" / "experiment.json").read_text("utf-8"))
        assert sum(kept["done"] for name, kept in before.items() if name.startswith("scripted")) == 2
        code, out, err = ended(experiment(server.url))
        assert code == 0, err
        assert next(line for line in err.split("\n") if line.startswith("[")).startswith("[3/8] scripted-amd-0")
        first = json.loads((tmp_path / "out" / "report" / "scripted" / "report.json").read_text("utf-8"))
        asked = len(server.requests)
        assert {request.body["seed"] for request in server.requests if request.method == "POST"} == {0, 1}
        (tmp_path / "out").rename(tmp_path / "stopped")
        assert ended(experiment(server.url))[0] == 0
        assert len(server.requests) > asked
    whole = json.loads((tmp_path / "out" / "report" / "scripted" / "report.json").read_text("utf-8"))
    assert timeless(whole) == timeless(first)
    assert "IN-SAMPLE" in out
    assert _shown(tmp_path / "out", "random-0") != _shown(tmp_path / "out", "random-1")
    assert _shown(tmp_path / "out", "amd-0") == _shown(tmp_path / "out", "amd-1")
    arms = {arm["name"]: arm for arm in first["arms"]}
    assert len(arms) == 4
    for arm in arms.values():
        assert (arm["tasks"], arm["success"]["value"]) == (TASKS, 1.0)


def _shown(out, run):
    """The records that each task of a run was shown."""
    (path,) = (out / f"scripted-{run}").glob("result/*/*/*_result.json")
    lines = (json.loads(line) for line in path.read_bytes().splitlines())
    return {line["id"]: [each.get("record_ids", []) for each in line["amd"]["exposures"]] for line in lines}


def test_a_dead_server_ends_it_with_3_and_loses_nothing(experiment, served):
    """In one line that says which run; with the server back the same command goes on."""
    with served() as server:
        url = server.url
    code, _, err = ended(experiment(url))
    assert code == 3, err
    assert err.strip().split("\n")[-1].startswith("amd: scripted-none-0 ended with exit code 3: ")


def test_a_planted_leak_ends_it_with_4(experiment, served, tmp_path):
    """The report is written all the same, with its alarm; the same runs without it are the control."""
    with served() as server:
        code, _, err = ended(experiment(server.url))
        assert code == 0, err
        (path,) = (tmp_path / "out" / "scripted-amd-0").glob("result/*/*/*_result.json")
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        shown = next(line["amd"] for line in lines if any(each.get("families") for each in line["amd"]["exposures"]))
        exposure = next(each for each in shown["exposures"] if each.get("families"))
        exposure["families"] = [shown["family"]] * len(exposure["families"])
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        code, _, err = ended(experiment(server.url))
    assert code == 4, err
    assert "LEAK" in (tmp_path / "out" / "report" / "scripted" / "report.md").read_text("utf-8").upper()
