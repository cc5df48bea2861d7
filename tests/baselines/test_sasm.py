"""SASM as a tier: parts by category, the gate of categories, and its moments."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amd.baselines.categories import CATEGORIES, categories_in, category_of
from amd.baselines.sasm import SasmTier, Subtask, Subtasks, fault_in_subtasks
from amd.build import Options, build_memory
from amd.evidence import find_evidence
from amd.exclusion import self_excluded
from amd.session import Session
from amd.store import open_memory
from amd.testing import StubEmbedder, run
from amd.tier import RULES, Question
from amd.trajectory import Step, ToolCall, ToolSpec, Turn


def bodies(made):
    """The bodies that the rules write of a run."""
    return [draft.body for draft in SasmTier().distill(made, find_evidence(made), RULES)]


@pytest.fixture
def memory(tmp_path):
    """A memory of four runs, each with parts that explore, execute and query."""
    build_memory([run(i) for i in range(4)], tmp_path / "m", embedder=StubEmbedder(), options=Options(method="sasm"))
    with open_memory(tmp_path / "m", embedder=StubEmbedder()) as opened:
        yield opened


def test_the_rules_divide_by_turn_and_category():
    """``cd`` explores, ``mv`` executes, ``wc`` queries; at most seven parts, neighbours joined."""
    assert [body["category"] for body in bodies(run(1, turns=2))] == ["explore", "execute", "query"] * 2
    many = SasmTier().distill(run(1), find_evidence(run(1)), RULES)
    assert len(many) == 7
    assert [many[0].steps[0], many[-1].steps[1]] == [1, 9]


def test_an_error_is_told_where_it_was_repaired():
    """The first try failed alone, and gives no part; the lesson stands where the tool went through."""
    tries = [
        ToolCall("read_soil", {"bed": 2}, "Error: asleep", ok=False),
        ToolCall("open_valve", {"bed": 2}, "ok", ok=True),
        ToolCall("read_soil", {"bed": 2, "valve": "V-21"}, "0.5", ok=True),
    ]
    made = replace(run(1), turns=(Turn("how wet is it", tuple(Step("", (call,)) for call in tries)),), tools=None)
    execute, query = bodies(made)
    assert (execute["category"], query["category"]) == ("execute", "query") or execute["tools"] == ["open_valve"]
    assert "Avoid: `read_soil` failed with “asleep” until `valve` changed." in query["experience"]


@pytest.mark.parametrize(
    ("name", "description", "category"),
    [
        ("user_login", "", "authenticate"),
        ("spotify.showSong", "", "query"),
        ("ls", "", "explore"),
        ("validate_card", "", "verify"),
        ("book_flight", "", "execute"),
        ("frobnicate", "List the frobs of a folder.", "explore"),
        ("frobnicate", "", "execute"),
    ],
)
def test_a_tools_category_is_read_off_its_name_then_its_words(name, description, category):
    """What nobody knows changes something."""
    assert category_of(name, ToolSpec(name, description)) == category


def test_a_question_asks_each_category_that_it_speaks_of():
    """With the words that do; one that speaks of none asks all."""
    asked = SasmTier().ask(Question("task", "x", labels=("find the bed", "send the invoice", "search again")))
    assert [(query.text, query.where["category"]) for query in asked] == [
        ("find the bed", "query"),
        ("send the invoice", "execute"),
    ]
    assert [query.where["category"] for query in SasmTier().ask(Question("turn", "Hm."))] == [*CATEGORIES]
    assert categories_in("log out and check it") == ("authenticate", "verify")


def test_the_gate_holds_in_a_memory(memory):
    """Only records of the categories asked for are shown, one of each; more words ask for more (the control)."""
    for text, wanted in (("Count the words", ["Query"]), ("Move it, then count the words", ["Execute", "Query"])):
        session = Session(memory, viewer=self_excluded(run(1).task), method="sasm")
        lines = session.before_task(text).text.split("\n")
        assert [line.split(":")[0] for line in lines if line.startswith(("Query:", "Execute:", "Explore:"))] == wanted


def test_static_and_dynamic(memory):
    """In the mode static it is asked before the task, in dynamic at each turn, and by labels where there are some."""
    task = run(1).task
    static = Session(memory, viewer=self_excluded(task), method="sasm", decompose=lambda *_: ["count words"])
    assert "Query: " in static.before_task(task.instruction).text
    assert not static.before_turn("move it", 1)
    dynamic = Session(memory, viewer=self_excluded(task), method="sasm", mode="dynamic")
    assert not dynamic.before_task(task.instruction)
    assert "Execute: " in dynamic.before_turn("move it", 1).text
    assert [exposure.place for exposure in dynamic.exposures] == [1]


PART = Subtask(1, 2, "query", "Find it.", ("Do look.",))


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ((), "0 parts"),
        ((PART,) * 8, "8 parts"),
        ((PART, PART), "where the last part ended at 2"),
        ((replace(PART, end_step=6),), "of a run of 5 calls"),
        ((replace(PART, category="ponder"),), "'ponder' is no category"),
        ((replace(PART, description=" "),), "a description is empty"),
        ((replace(PART, experience=()),), "0 sentences"),
        ((replace(PART, experience=("x" * 301,)),), "too long"),
        ((PART, replace(PART, start_step=4, end_step=5)), None),
    ],
)
def test_parts_are_checked(parts, fault):
    """They stand in order, share no call, and have words."""
    found = fault_in_subtasks(Subtasks(parts), 5)
    assert found is None if fault is None else fault in str(found)
