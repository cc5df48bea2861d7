"""The methods of others, and a small experiment: what was really shown, and what a report makes of it.

A run of the harness takes some ten seconds to begin, so the runs beside the experiment are played while it works.
"""

from __future__ import annotations

import json
import os
import sys

import pytest
from talks import bodies

from amd.arms import RunLog
from amd_toolsandbox.families import family
from amd_toolsandbox.oracle.player import AGENT, USER
from amd_toolsandbox.run import Run

PYTHON = "AMD_PYTHON"
pytestmark = pytest.mark.skipif(PYTHON not in os.environ, reason=f"{PYTHON} names no Python with the extra eval")

TALK = "send_message_with_contact_content_cellular_off_multiple_user_turn"
ALONE = "find_days_till_holiday_wifi_off_10_distraction_tools"
SCENARIOS = (TALK, ALONE)
NEXT_OF_KIN = "send_message_with_phone_number_and_content"
"""The family whose runs are nearest to the talk's, but for its own."""

HEADINGS = {
    "reasoning_bank": "What was learned from similar tasks:",
    "memp": "How a similar task was done:",
    "sasm": "Experience with similar parts of earlier tasks:",
}
SUM = "reasoning_bank+memp+sasm"
ARMS = ("none", "random", "amd", "in-sample", "reasoning_bank")
CONFIG = """
benchmark = "toolsandbox"
python = "{python}"
out = "{out}"
[tasks]
scenarios = {scenarios}
temperature = 0.5
[student.scripted]
agent_model = "{agent}"
user_model = "{user}"
agent_base_url = "{url}"
[memory.own]
path = "{out}-memory"
build = ["toolsandbox", "{taught}", "--embedder", "hash"]
[memory.bank]
path = "{out}-bank"
build = ["toolsandbox", "{taught}", "--embedder", "hash", "--method", "reasoning_bank"]
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
def both(none, start, cli, served, played, tmp_path_factory):
    """The experiment's folder, how it ended and what its agents were sent; and the runs beside it by their method."""
    folder = tmp_path_factory.mktemp("experiment")
    with served() as server:
        told = {"agent": AGENT, "user": USER, "url": server.url, "taught": none.run, "out": folder / "out"}
        text = CONFIG.format(python=sys.executable, scenarios=json.dumps(SCENARIOS), **told)
        (folder / "small.toml").write_text(text, "utf-8")
        words = ("experiment", folder / "small.toml")
        with start(*words, module="amd", python=os.environ[PYTHON]) as process:
            beside = {}
            for method, more in (("memp", ()), ("sasm", ("--mode", "dynamic")), (SUM, ("--protocol", "in-sample"))):
                memory = folder / method
                build = ("build", "toolsandbox", none.run, "--out", memory, "--method", method, "--embedder", "hash")
                assert cli(*build, module="amd").code == 0
                beside[method] = played("--memory", memory, "--method", method, *more, scenarios=SCENARIOS)
            out, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
        plan = start(*words, "--plan", "--json", module="amd", python=os.environ[PYTHON])
        assert [run["done"] for run in json.loads(plan.communicate(timeout=60)[0])["runs"]] == [True] * len(ARMS)
        sampling = {
            who: {(body.get("seed"), body.get("temperature")) for body in bodies(server, who)} for who in (AGENT, USER)
        }
        # The user has the seed of the run too, and whatever temperature its server has.
        assert sampling == {AGENT: {(0, 0.5)}, USER: {(0, None)}}
        return folder / "out", out, [json.dumps(body) for body in bodies(server, AGENT)], beside


@pytest.fixture(scope="module")
def logs(both):
    """Arm of the experiment, or method of a run beside it -> the log of each scenario."""
    out, _, _, beside = both
    runs = {arm: out / f"scripted-{arm}-0" for arm in ARMS} | {method: each.run for method, each in beside.items()}
    return {name: {scenario: log_of(run, scenario) for scenario in SCENARIOS} for name, run in runs.items()}


def log_of(run, scenario):
    """What a run directory says that a scenario was shown."""
    return RunLog.read(json.loads(Run(run).exposures_file(scenario).read_bytes())["amd"])


def shown(log):
    """The families of all records that a scenario was shown, by tier."""
    found = {exposure.tier: [] for exposure in log.exposures}
    for exposure in log.exposures:
        found[exposure.tier] += exposure.families
    return found


def hidden(log):
    """How many records of the scenario's own family were hidden from it."""
    return sum(exposure.excluded.get("own_family", 0) for exposure in log.exposures)


@pytest.mark.parametrize("method", HEADINGS)
def test_another_method_shows_records_of_others_and_none_of_its_own_family(logs, method):
    """By its one tier; what is hidden is there, and the next of kin is shown."""
    talk = logs[method][TALK]
    assert talk.method == method
    assert shown(talk).keys() == {method}
    assert NEXT_OF_KIN in shown(talk)[method]
    for scenario, log in logs[method].items():
        assert family(scenario) not in shown(log)[method]
        assert hidden(log) > 0


def test_in_sample_each_of_the_three_shows_the_own_family(logs):
    """The control, and a sum of them asked in one run: a guard that hides everything would pass the test before."""
    found = {tier: set() for tier in HEADINGS}
    for scenario, log in logs[SUM].items():
        assert (log.protocol, hidden(log)) == ("in-sample", 0)
        for tier, families in shown(log).items():
            found[tier] |= {scenario} if family(scenario) in families else set()
    assert found["reasoning_bank"] == found["memp"] == set(SCENARIOS)
    assert found["sasm"]


def test_what_the_logs_tell_was_on_the_wire(both):
    """Each method's heading is in the requests of its own runs alone; a sum has one block with all of them."""
    _, _, experiment, beside = both
    texts = {
        method: [text for talk in each.talks.values() for _, text in talk.injected] for method, each in beside.items()
    }
    for method, heading in HEADINGS.items():
        for other, said in texts.items():
            assert any(heading in text for text in said) is (method in other.split("+")), (method, other)
    assert any(all(heading in text for heading in HEADINGS.values()) for text in texts[SUM])
    assert any(HEADINGS["reasoning_bank"] in body for body in experiment)
    assert not any(HEADINGS["memp"] in body or HEADINGS["sasm"] in body for body in experiment)


def test_sasm_is_asked_turn_by_turn(logs):
    """In the mode dynamic: in a talk of two turns, at both of them."""
    assert {exposure.place for exposure in logs["sasm"][TALK].exposures if exposure.record_ids} == {0, 1}


def test_random_shows_no_more_than_amd_and_other_records(logs):
    """Never of the own family, which is there to be drawn. What is drawn follows from the day, and may be too long."""
    pairs = [(logs["random"][scenario], logs["amd"][scenario]) for scenario in SCENARIOS]
    for drawn, found in pairs:
        for one, other in zip(drawn.exposures, found.exposures, strict=True):
            assert len(one.record_ids) <= len(other.record_ids)
        assert drawn.family not in [name for names in shown(drawn).values() for name in names]
        assert hidden(drawn) > 0
    ids = [[each.record_ids for log in logs_of for each in log.exposures] for logs_of in zip(*pairs, strict=True)]
    assert any(ids[0])
    assert ids[0] != ids[1]


def test_the_report_has_each_arm_in_its_place(both):
    """Every scenario right in each of them; records in all but one; own-family hits in the labelled arm alone."""
    out, printed, _, _ = both
    report = json.loads((out / "report" / "scripted" / "report.json").read_text("utf-8"))
    arms = {arm["name"].removeprefix("scripted-").removesuffix("-0"): arm for arm in report["arms"]}
    assert set(arms) == set(ARMS)
    assert {(arm["tasks"], arm["success"]["value"]) for arm in arms.values()} == {(len(SCENARIOS), 1.0)}
    own = {name: arm["exposures"]["own_family"] for name, arm in arms.items()}
    assert own.pop("in-sample") > 0
    assert set(own.values()) == {0}
    assert {name for name, arm in arms.items() if sum(tier["shown"] for tier in arm["exposures"]["tiers"])} == {
        *ARMS[1:]
    }
    assert [name for name, arm in arms.items() if arm["label"] == "IN-SAMPLE"] == ["in-sample"]
    assert "IN-SAMPLE" in printed
