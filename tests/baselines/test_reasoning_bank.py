"""ReasoningBank as a tier: items of successes and of failures, and what a student reads of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amd.baselines.reasoning_bank import Item, Items, ReasoningBankTier, fault_in_items
from amd.build import Options, build_memory
from amd.errors import ConfigError
from amd.evidence import find_evidence
from amd.exclusion import deployed
from amd.session import Session
from amd.store import open_memory
from amd.testing import ScriptedWriter, StubEmbedder, run
from amd.tier import RULES
from amd.trajectory import Trajectory


def body_of(made: Trajectory, writer=RULES):
    """The body of the one record that a run gives."""
    (draft,) = ReasoningBankTier(failures=True).distill(made, find_evidence(made), writer)
    return draft.body


def test_a_success_and_a_failure_are_asked_for_in_words_of_their_own():
    """Each by its own prompt, and each says which it was."""
    writer = ScriptedWriter({
        "items": {"items": [{"title": "A", "description": "", "content": "Do."}]},
        "items_of_failure": {"items": [{"title": "B", "description": "", "content": "Avoid."}]},
    })  # fmt: skip
    good, bad = body_of(run(1), writer), body_of(run(1, success=False), writer)
    assert [(body["outcome"], body["items"][0]["title"]) for body in (good, bad)] == [
        ("success", "A"),
        ("failure", "B"),
    ]
    assert dict(writer.calls) == {"items": 1, "items_of_failure": 1}


def test_the_rules_tell_facts_only():
    """Order and check, origins, errors; an item without a fact is left out, and so for failures."""
    assert [item["title"] for item in body_of(run(1))["items"]] == ["The order of the calls"]
    failing = run(1, turns=1, observe=lambda turn, step: "Error: no" if step == 1 else "ok")
    assert [item["title"] for item in body_of(failing)["items"]] == ["The order of the calls", "Errors on the way"]
    lost = replace(failing, outcome=replace(failing.outcome, success=False))
    assert [item["title"] for item in body_of(lost)["items"]] == ["Calls that were not enough", "Errors that were met"]
    silent = [body_of(replace(made, turns=())) for made in (run(1), run(1, success=False))]
    assert [len(body["items"]) for body in silent] == [1, 1]


@pytest.mark.parametrize(
    ("items", "fault"),
    [
        ((), "0 items"),
        ((Item("a", "", "x"),) * 4, "4 items"),
        ((Item(" ", "", "x"),), "no title or no content"),
        ((Item("a", "", " "),), "no title or no content"),
        ((Item("a", "", "x"), Item("a", "", "y")), "the same title"),
        ((Item("a", "", "x" * 801),), "too long"),
        ((Item("a", "d", "x"), Item("b", "d", "y")), None),
    ],
)
def test_items_are_checked(items, fault):
    """From one to three, each with a title of its own and with content."""
    found = fault_in_items(Items(items))
    assert found is None if fault is None else fault in str(found)


def test_failures_are_learned_from_only_if_wanted(tmp_path):
    """By default a failed run is refused; included, it stands beside the success of its task and says what it is."""
    runs = [run(1), run(1, success=False), run(2, success=False)]
    plain = build_memory(runs, tmp_path / "plain", embedder=StubEmbedder(), options=Options(method="reasoning_bank"))
    assert (plain.records, plain.refused) == ({"reasoning_bank": 1}, {"failed": 2})
    options = Options(method="reasoning_bank-k3", include_failures=True, floors={"reasoning_bank": -1.0})
    both = build_memory(runs, tmp_path / "both", embedder=StubEmbedder(), options=options)
    assert (both.records, both.refused, both.notes["failure"]) == ({"reasoning_bank": 3}, {}, 2)
    with open_memory(tmp_path / "both", embedder=StubEmbedder()) as memory:
        assert memory.manifest.method == "reasoning_bank"
        text = Session(memory, viewer=deployed(), method="reasoning_bank-k3").before_task("move report_1.txt").text
    assert text.count("From a failed run: ") == 1  # two failures agree with each other, and with no success
    assert text.count("(Seen in 2 runs.)") == 1
    assert "Which tools solved the task" in text


def test_failures_of_a_method_that_learns_from_none_are_an_error(tmp_path):
    """Nothing is read for nothing, and nothing is published."""
    with pytest.raises(ConfigError, match="learns from failed runs"):
        build_memory([run(1)], tmp_path / "m", embedder=StubEmbedder(), options=Options(include_failures=True))
    assert not (tmp_path / "m").exists()
