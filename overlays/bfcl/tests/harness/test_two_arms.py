"""Two arms in the real harness, scored by its own evaluator: what was sent, what was kept, what is reported."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from amd.traces import Trajectory, load_reader
from amd_bfcl.families import family
from amd_bfcl.slips import Slip

TASKS = ("multi_turn_base_0", "multi_turn_base_1", "multi_turn_base_5")
SLIPS = {
    TASKS[0]: [Slip("error"), Slip("raise")],
    TASKS[1]: [Slip("parallel")],
    TASKS[2]: [Slip("broken", turn=1)],
}


@pytest.fixture(scope="module", params=["fc", "prompting"])
def arms(request, cli, chats, memory, oracle, tmp_path_factory):
    """Both arms of one student over three tasks, evaluated: (folder, requests of each arm, calling)."""
    from amd.testing import LoopbackServer
    from amd_bfcl.player import Player

    folder, sent = tmp_path_factory.mktemp("arms"), {}
    for method in ("none", "amd"):
        with LoopbackServer(chat=Player(oracle(), SLIPS), models=("student",)) as server:
            done = cli(
                *("generate", "--out", folder / method, "--model", "student", "--base-url", server.url, "--json"),
                *("--method", method, "--memory", memory, "--calling", request.param, "--ids", ",".join(TASKS)),
            )
            sent[method] = chats(server)
        assert done.code == 0, done.err
        assert done.json["inference_errors"] == done.json["missing"] == []
        scored = cli("evaluate", folder / method, "--json")
        assert scored.code == 0, scored.err
        # The turn that broke off was never done; the other slips were repaired.
        assert scored.json["scores"] == {"multi_turn_base": {"correct": 2, "total": 3}}
    return folder, sent, request.param


def _said(messages):
    return json.dumps(messages, ensure_ascii=False)


def test_only_the_arm_with_memory_sends_any(arms):
    """The block stands in the system message before everything, and in no other arm."""
    _, sent, calling = arms
    assert "<memory" not in _said(sent["none"])
    firsts = [body["messages"][0] for body in sent["amd"]]
    shown = [message["content"] for message in firsts if message["content"].startswith("<memory>\n")]
    assert len(shown) > len(firsts) / 2
    assert ("tools" in sent["amd"][0]) is (calling == "fc")
    # Calls are shown as the student writes them.
    assert ('{"name": ' in shown[0]) is (calling == "fc")
    assert ("multi_turn" in _said(sent["amd"])) is False


def test_a_request_begins_with_the_whole_request_before_it(arms):
    """In the mode static the prefix of a task never changes, hints included."""
    _, sent, _ = arms
    pairs = [(a["messages"], b["messages"]) for a, b in pairwise(sent["amd"]) if len(b["messages"]) > 2]
    assert len(pairs) > 10
    for earlier, later in pairs:
        assert later[: len(earlier)] == earlier


def test_a_hint_is_on_the_wire_and_the_log_is_raw(arms, lines_of):
    """C16, D19: a hint for a returned error, for a raised one and for one of two parallel calls; the file has none."""
    folder, sent, _ = arms
    text = _said(sent["amd"])
    assert text.count("<memory_hint>") >= 3
    lines = lines_of(folder / "amd")
    assert "<memory" not in json.dumps([{**line, "amd": None} for line in lines.values()])
    logs = {task_id: line["amd"] for task_id, line in lines.items()}
    assert [(logs[task]["failed_calls"], logs[task]["hints"]) for task in TASKS] == [(2, 2), (1, 1), (0, 0)]
    observations = [
        entry["content"]
        for line in lines.values()
        for turn in line["inference_log"]
        if isinstance(turn, dict)
        for step in turn.values()
        for entry in step
        if entry.get("role") == "tool"
    ]
    assert any(each.startswith("Error during execution:") for each in observations)
    assert any(each.startswith('{"error"') for each in observations)
    # The shape of each error, with what stands behind it on the wire.
    for shape in ("Error during execution:", "error"):
        assert any(shape in piece[-400:] for piece in text.split("<memory_hint>")[:-1]), shape


def test_the_report_shows_both_arms(arms, cli):
    """Exposures beside the scores; the exit code says that nothing leaked."""
    folder, _, _ = arms
    done = cli("report", folder / "none", folder / "amd", "--json")
    assert done.code == 0, done.err
    none, amd = done.json["runs"]
    assert none["scores"] == amd["scores"] == {"multi_turn_base": {"correct": 2, "total": 3}}
    assert none["exposures"]["own_family"] == amd["exposures"]["own_family"] == 0
    assert none["exposures"]["failed_calls"] == amd["exposures"]["failed_calls"] == 3
    assert (none["exposures"]["hints"], amd["exposures"]["hints"]) == (0, 3)
    table = cli("report", folder / "none", folder / "amd")
    assert "self-excluded" in table.out
    assert "2 of 3" in table.out


def test_an_evaluated_run_is_read_back(arms):
    """A run without memory is a teacher's; what memory helped with is known as such."""
    folder, _, _ = arms
    reader = load_reader("bfcl")
    for method, assisted in (("none", {False}), ("amd", {True})):
        runs = [item for item in reader.read([folder / method], reader.options()) if isinstance(item, Trajectory)]
        assert {run.task.task_id: run.outcome.success for run in runs} == dict.fromkeys(TASKS[:2], True) | {
            TASKS[2]: False
        }
        assert {run.source.memory_assisted for run in runs} == assisted
        assert {run.task.family for run in runs} == {family(task) for task in TASKS}
        failed = [call for run in runs for call in run.calls if not call.ok]
        assert len(failed) == 3
        assert not any("<memory" in call.observation for call in failed)


def test_a_memory_is_built_from_an_evaluated_run(arms, tmp_path):
    """The whole circle: run, evaluate, build, check; runs that memory helped with are refused."""
    from amd.cli.app import run as amd_command

    folder, _, _ = arms
    assert amd_command(["build", "bfcl", str(folder / "none"), "--out", str(tmp_path / "memory")]) == 0
    assert amd_command(["check", str(tmp_path / "memory")]) == 0
    assert amd_command(["build", "bfcl", str(folder / "amd"), "--out", str(tmp_path / "other")]) == 1
