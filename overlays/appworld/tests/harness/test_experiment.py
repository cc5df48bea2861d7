"""The methods of others, and a small experiment: what was really shown, and what a report makes of it.

The runs beside the experiment are played while it works. No floor: of so few tasks none is near another.
"""

from __future__ import annotations

import json
import os
import sys

import pytest

from amd.arms import RunLog
from amd_appworld.exposures import ORACLE, exposures_file
from amd_appworld.tasks import family

OWN, TEST = "0a11ce1_2", "0f11e06_1"
"""A train task, whose scenario the memory holds; and one of a test set, of whose scenario no memory here has a run."""

TASKS = (OWN, TEST)
HEADINGS = {
    "reasoning_bank": "What was learned from similar tasks:",
    "memp": "How a similar task was done:",
    "sasm": "Experience with similar parts of earlier tasks:",
}
SUM = "reasoning_bank+memp+sasm"
BESIDE = {"memp": "by-memp", "sasm": "by-sasm", SUM: "by-sum"}
"""What is played beside the experiment, each method with its run's name."""

ARMS = ("none", "random", "amd", "in-sample", "reasoning_bank")
CONFIG = """
benchmark = "appworld"
python = "{python}"
out = "{out}"
[tasks]
tasks = {tasks}
temperature = 0.5
appworld_python = "{appworld}"
[student.scripted]
model = "{model}"
base_url = "{url}"
[memory.own]
path = "{memories}/own"
build = ["appworld", "{taught}", "--embedder", "hash", "--floor", "workflow=0", "--floor", "subtask=0"]
[memory.bank]
path = "{memories}/bank"
build = ["appworld", "{taught}", "--embedder", "hash", "--method", "reasoning_bank", "--floor", "reasoning_bank=0"]
[arm.none]
method = "none"
[arm.random]
method = "random"
memory = "own"
[arm.amd]
memory = "own"
[arm.in-sample]
protocol = "in-sample"
memory = "own"
[arm.reasoning_bank]
method = "reasoning_bank"
memory = "bank"
"""


@pytest.fixture(scope="module")
def experiment(none, root, start, served, without_progress, tmp_path_factory):
    """Starts the experiment; then gives what it printed, once it has ended well."""
    assert none.code == 0
    folder = tmp_path_factory.mktemp("experiment")

    def begin(server, *more):
        told = {"url": server.url, "model": ORACLE, "python": sys.executable, "memories": folder}
        places = {"out": root.experiment("any").parent, "taught": root.experiment("none")}
        appworld = os.environ["AMD_APPWORLD_PYTHON"]
        text = CONFIG.format(tasks=json.dumps(TASKS), appworld=appworld, **told, **places)
        (folder / "small.toml").write_text(text, "utf-8")
        return start("experiment", folder / "small.toml", *more, module="amd")

    def end(process):
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, without_progress(err)
        return out

    return begin, end


@pytest.fixture(scope="module")
def both(experiment, none, root, cli, served, words, asked_of, tmp_path_factory):
    """What the experiment printed, and what the runs beside it were sent, by their method."""
    begin, end = experiment
    folder = tmp_path_factory.mktemp("memories")
    sent = {}
    with served() as shared:
        with begin(shared) as process:
            for method, name in BESIDE.items():
                floors = [word for tier in method.split("+") if tier != "sasm" for word in ("--floor", f"{tier}=0")]
                build = ("build", "appworld", root.experiment("none"), "--out", folder / method, "--method", method)
                done = cli(*build, "--embedder", "hash", *floors, module="amd")
                assert done.code == 0, done.err
                protocol = "in-sample" if method == SUM else "self-excluded"
                options = ("--memory", folder / method, "--method", method, "--protocol", protocol)
                with served() as server:
                    done = cli(*words(server, name, *options, "--tasks", ",".join(TASKS)))
                    sent[method] = [json.dumps(messages) for messages in asked_of(server).values()]
                assert (done.code, done.err) == (0, "")
                assert done.json["success"] == dict.fromkeys(TASKS, True)
            printed = end(process)
        plan = json.loads(end(begin(shared, "--plan", "--json")))
        sent["experiment"] = [json.dumps(request.body) for request in shared.requests]
        asked = [request.body for request in shared.requests if request.method == "POST" and "seed" in request.body]
        assert {(body["seed"], body["temperature"]) for body in asked} == {(0, 0.5)}
    assert [run["done"] for run in plan["runs"]] == [True] * len(ARMS)
    return printed, sent


@pytest.fixture(scope="module")
def logs(both, root):
    """Arm of the experiment, or method of a run beside it -> the log of each task."""
    assert both
    runs = {arm: f"scripted-{arm}-0" for arm in ARMS} | BESIDE
    return {name: {task: log_of(root.experiment(run), task) for task in TASKS} for name, run in runs.items()}


def log_of(run, task):
    """What a run says that a task was shown."""
    return RunLog.read(json.loads(exposures_file(run, task).read_bytes())["amd"])


def shown(log):
    """The scenarios of all records that a task was shown, by tier."""
    found = {exposure.tier: [] for exposure in log.exposures}
    for exposure in log.exposures:
        found[exposure.tier] += exposure.families
    return found


def hidden(log):
    """How many records of the task's own scenario were hidden from it."""
    return sum(exposure.excluded.get("own_family", 0) for exposure in log.exposures)


@pytest.mark.parametrize("method", HEADINGS)
def test_another_method_shows_records_of_others_and_none_of_its_own_scenario(logs, method):
    """By its one tier; of the train task's own scenario there are records, and they are hidden."""
    for task, log in logs[method].items():
        assert (log.method, log.protocol) == (method, "self-excluded")
        assert shown(log).keys() == {method}
        assert shown(log)[method]
        assert family(task) not in shown(log)[method]
    assert hidden(logs[method][OWN]) > 0
    assert hidden(logs[method][TEST]) == 0


def test_in_sample_each_of_the_three_shows_the_own_scenario(logs):
    """The control, and a sum of them asked in one run; of a test task there is nothing to show in any protocol."""
    for task, own in ((OWN, True), (TEST, False)):
        log = logs[SUM][task]
        assert (log.protocol, hidden(log)) == ("in-sample", 0)
        assert {tier: family(task) in scenarios for tier, scenarios in shown(log).items()} == dict.fromkeys(
            HEADINGS, own
        )


def test_what_the_logs_tell_was_on_the_wire(both):
    """Each method's heading is in the requests of its own runs alone, and in all of them; the APIs as a cell writes."""
    _, sent = both
    for method, heading in HEADINGS.items():
        for other in BESIDE:
            assert {heading in text for text in sent[other]} == {method in other.split("+")}, (method, other)
    assert any(HEADINGS["reasoning_bank"] in body for body in sent["experiment"])
    assert not any(HEADINGS["memp"] in body or HEADINGS["sasm"] in body for body in sent["experiment"])
    assert all("`apis." in text.partition(HEADINGS["sasm"])[2] for text in sent["sasm"])


def test_random_shows_as_much_as_amd_and_other_records(logs):
    """Never of the own scenario, which is there to be drawn."""
    pairs = [(logs["random"][task], logs["amd"][task]) for task in TASKS]
    for drawn, found in pairs:
        assert [len(each.record_ids) for each in drawn.exposures] == [len(each.record_ids) for each in found.exposures]
        assert drawn.family not in [name for names in shown(drawn).values() for name in names]
    assert hidden(pairs[0][0]) > 0
    ids = [[each.record_ids for log in logs_of for each in log.exposures] for logs_of in zip(*pairs, strict=True)]
    assert any(ids[0])
    assert ids[0] != ids[1]


def test_the_report_has_each_arm_in_its_place(both, root):
    """Every task right in each of them; records in all but one; own-family hits in the labelled arm alone."""
    printed, _ = both
    path = root.experiment("report") / "scripted" / "report.json"
    arms = {
        arm["name"].removeprefix("scripted-").removesuffix("-0"): arm for arm in json.loads(path.read_text())["arms"]
    }
    assert set(arms) == set(ARMS)
    assert {(arm["tasks"], arm["success"]["value"]) for arm in arms.values()} == {(len(TASKS), 1.0)}
    own = {name: arm["exposures"]["own_family"] for name, arm in arms.items()}
    assert own.pop("in-sample") > 0
    assert set(own.values()) == {0}
    seen = {name for name, arm in arms.items() if sum(tier["shown"] for tier in arm["exposures"]["tiers"])}
    assert seen == {*ARMS[1:]}
    assert [name for name, arm in arms.items() if arm["label"] == "IN-SAMPLE"] == ["in-sample"]
    assert "IN-SAMPLE" in printed
