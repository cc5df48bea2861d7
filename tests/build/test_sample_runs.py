"""A memory of real runs, where their folder is at hand: nobody's data is in it, and what happened is.

The runs are those of ``AMD_SAMPLE_RUNS`` (an airline's support desk, answered by GPT-4o).
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from amd.build import admit, build_memory
from amd.embedders import load_embedder
from amd.evidence import find_evidence
from amd.store import open_memory
from amd.traces import load_reader

SAMPLES = os.environ.get("AMD_SAMPLE_RUNS")
pytestmark = pytest.mark.skipif(not SAMPLES, reason="AMD_SAMPLE_RUNS is not set")
NAMES = {"first_name", "last_name"}


def people(value, found):
    """Collect what identifies a person anywhere below a JSON value."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key in NAMES and isinstance(member, str):
                found["name"].add(member)
            elif key in ("email", "dob", "payment_id", "user_id") and isinstance(member, str):
                found[key].add(member)
            elif key == "payment_methods" and isinstance(member, dict):
                found["payment_id"].update(member)
            people(member, found)
    elif isinstance(value, list):
        for member in value:
            people(member, found)


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    """The folder of a memory built from all runs."""
    out = tmp_path_factory.mktemp("airline") / "memory"
    reader = load_reader("openai-chat")
    items = list(reader.read([Path(SAMPLES)], reader.options()))
    report = build_memory(items, out, embedder=load_embedder("hash"))
    assert (report.read, report.admitted, dict(report.refused)) == (120, 18, {"failed": 84, "worse_trial": 18})
    return out, admit(items)


def test_nobody_is_in_any_file(memory):
    """No e-mail, birth date, payment id, user id or person's name that stands under a key of an admitted run."""
    out, gate = memory
    found = {kind: set() for kind in ("name", "email", "dob", "payment_id", "user_id")}
    for run in gate.admitted:
        for call in run.calls:
            people(dict(call.arguments), found)
            if call.observation.startswith(("{", "[")):
                people(json.loads(call.observation), found)
    assert min(len(values) for values in found.values()) > 10, "the check has nothing to look for"
    written = "\n".join(path.read_text("utf-8", "ignore") for path in out.rglob("*.json"))
    values = sorted(set().union(*found.values()))
    left = [value for value in values if re.search(rf"(?<!\w){re.escape(value)}(?!\w)", written)]
    assert left == []


def test_every_error_that_was_met_is_told(memory):
    """The workflow names the tool and the class of error; where a call repaired it, a pitfall has that call."""
    out, gate = memory
    met = repaired = 0
    with open_memory(out) as opened:
        records = {name: list(shelf.records()) for name, shelf in opened.shelves.items()}
    for run in gate.admitted:
        text = next(r.body["text"] for r in records["workflow"] if r.task.task_id == run.task.task_id)
        for repair in find_evidence(run).repairs:
            tool = run.calls[repair.failed - 1].name
            met += 1
            assert f"`{tool}` failed with “{repair.error_class}”" in text
            if repair.repaired is not None:
                repaired += 1
                assert any(
                    r.body["kind"] == "pitfall"
                    and r.tool == tool
                    and r.source.steps == (repair.failed, repair.repaired)
                    for r in records["function"]
                    if r.task.task_id == run.task.task_id
                )
    assert met > repaired > 0


def test_workflows_tell_runs_apart(memory):
    """Hardly two runs give the same strategy, and each names its tools in the order of first use."""
    out, gate = memory
    with open_memory(out) as opened:
        texts = {r.task.task_id: r.body["text"] for r in opened.shelves["workflow"].records()}
    assert len(set(texts.values())) >= 0.85 * len(texts)
    for run in gate.admitted:
        good = list(dict.fromkeys(call.name for call in run.calls if call.ok))
        order = texts[run.task.task_id].split(". Take")[0].split(". At the end")[0].split(". Avoid")[0]
        assert list(dict.fromkeys(re.findall(r"`(\w+)", order))) == good
